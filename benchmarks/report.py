"""What a benchmark says: one line, and notes below it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measure:
    """Commits or loads a second, and how many of those asked for were done."""

    per_second: float
    landed: float | None = None

    def __str__(self) -> str:
        rate = f"{self.per_second:,.0f}/s" if self.per_second >= 10 else f"{self.per_second:.2g}/s"
        return rate if self.landed is None else f"{rate} {self.landed:.0%} landed"


@dataclass(frozen=True, slots=True)
class Result:
    """One comparison; a ratio above 1 is in favour of Headgate."""

    name: str
    ours: Measure
    peer: Measure
    notes: tuple[str, ...] = ()
    peer_name: str = "deltalake"
    paired: float | None = None
    """The ratio, where it was measured by itself and does not follow from the two."""

    @property
    def ratio(self) -> float:
        if self.paired is not None:
            return self.paired
        return self.ours.per_second / self.peer.per_second if self.peer.per_second else float("inf")

    def __str__(self) -> str:
        ours, peer = f"headgate {self.ours}", f"{self.peer_name} {self.peer}"
        ratio = f"{self.ratio:,.1f}" if self.ratio >= 10 else f"{self.ratio:.2f}"
        line = f"{self.name:<31} {ours:<30}{peer:<30}{ratio}×"
        return "\n".join((line, *(f"    {note}" for note in self.notes)))


def latencies(seconds: list[float]) -> str:
    """Median, 99th percentile and maximum, in milliseconds."""
    ordered = [1000 * second for second in sorted(seconds)]
    middle, high = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    return f"p50 {middle:.2f} ms · p99 {high:.1f} ms · max {ordered[-1]:.0f} ms"
