"""Where a table is, or is to be: what writing its files needs to know."""

from dataclasses import dataclass
from typing import Protocol

from headgate.catalog.owner import FindOwner
from headgate.clock import World
from headgate.storage.api import Store


class Place(Protocol):
    """The place of a table, which need not exist yet; an ``OpenedTable`` is one."""

    @property
    def location(self) -> str: ...

    @property
    def store(self) -> Store: ...

    @property
    def world(self) -> World: ...


@dataclass(frozen=True, slots=True)
class Site:
    """The place of a table that is to be made."""

    location: str
    store: Store
    world: World
    find: FindOwner | None = None
    """Where commit owners are found that the session's defaults may name; None if a catalog has the table."""
