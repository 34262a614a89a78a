"""Which part of a long list is on a page, and where are the others? By offset where all names are at hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ListPage(Generic[Item]):
    """Some of many, with the numbers of the pages beside this one."""

    items: tuple[Item, ...]
    number: int
    pages: int
    total: int

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.number < self.pages else None


def list_page(items: Sequence[Item], number: int, length: int) -> ListPage[Item]:
    """That page of a list; beyond its end the last one."""
    pages = max(1, -(-len(items) // length))
    number = min(max(1, number), pages)
    start = (number - 1) * length
    return ListPage(tuple(items[start : start + length]), number, pages, len(items))
