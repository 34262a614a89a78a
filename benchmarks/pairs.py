"""Two sides in turns: the median of the ratios of neighbours, and beside it what two equal sides differ by.

A machine is now slow and now fast, for both sides alike; so a time is compared with the one right
beside it only. The peer runs twice in a round: how its two times differ is what nobody can tell
from noise.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from benchmarks.report import Measure, Result

Action = Callable[[], object]
_FEW = 4


@dataclass(frozen=True, slots=True)
class Paired:
    """Seconds of each round: ours, the peer's, and the peer's once more."""

    ours: Sequence[float]
    peer: Sequence[float]
    again: Sequence[float] = ()

    @property
    def ratios(self) -> list[float]:
        """For each round the peer's time as a multiple of ours."""
        return [theirs / mine for mine, theirs in zip(self.ours, self.peer, strict=True)]

    @property
    def noise(self) -> list[float]:
        """The same for two runs of the peer."""
        return [twice / once for once, twice in zip(self.peer, self.again, strict=False)]

    def result(self, name: str, *notes: str, peer_name: str = "spark") -> Result:
        """One line, and how sure it is."""
        ours, peer = median(self.ours), median(self.peer)
        sure = f"ours {millis(ours)}, theirs {millis(peer)}; ratios {spread(self.ratios)}"
        if self.again:
            sure += f"; two equal peers {spread(self.noise)}"
        return Result(
            name, Measure(1 / ours), Measure(1 / peer), (sure, *notes), peer_name, median(self.ratios)
        )


def compare(ours: Action, peer: Action, rounds: int, *, warm_up: int = 0, control: bool = True) -> Paired:
    """Run the sides in turns, each round beginning with another one."""
    sides = [ours, peer, peer] if control else [ours, peer]
    seconds: list[list[float]] = [[] for _ in sides]
    for number in range(-warm_up, rounds):
        for place in range(len(sides)):
            side = (place + number) % len(sides)
            took = timed(sides[side])
            if number >= 0:
                seconds[side].append(took)
    return Paired(*seconds)


def timed(side: Action) -> float:
    """How many seconds it takes."""
    began = time.perf_counter()
    side()
    return time.perf_counter() - began


def spread(ratios: Sequence[float]) -> str:
    """The median, and between which values the middle half lies; of few values, all of them."""
    if len(ratios) < _FEW:
        low, high = min(ratios), max(ratios)
    else:
        low, _, high = quantiles(ratios, n=4, method="inclusive")
    return f"{median(ratios):.2f} ({low:.2f}–{high:.2f})"


def millis(seconds: float) -> str:
    """For people."""
    return f"{1000 * seconds:,.0f} ms"
