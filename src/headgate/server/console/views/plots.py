"""What is drawn? Numbers with their labels; the same numbers stand in a table for those who cannot see it."""

from collections.abc import Iterable
from dataclasses import dataclass

NOTHING = "There is nothing to draw yet."


@dataclass(frozen=True, slots=True)
class Plot:
    """Bars, one for each label."""

    title: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    unit: str = "count"
    """How values are written: ``count`` or ``bytes``."""
    empty: str = NOTHING
    """What is said where all of it is nothing."""

    @property
    def rows(self) -> tuple[tuple[str, float], ...]:
        """Each label with its value."""
        return tuple(zip(self.labels, self.values, strict=True))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw but a grid."""
        return not any(self.values)


def make_plot(
    title: str, rows: Iterable[tuple[str, float]], unit: str = "count", empty: str = NOTHING
) -> Plot:
    """A plot of these bars."""
    found = tuple(rows)
    return Plot(title, tuple(label for label, _ in found), tuple(value for _, value in found), unit, empty)
