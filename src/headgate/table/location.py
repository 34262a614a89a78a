"""Where a table is, or is to be: what writing its files needs to know."""

from dataclasses import dataclass, field
from typing import Protocol

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.coordinator import FindCoordinator
from headgate.clock import World
from headgate.protocol.actions import TxnId
from headgate.protocol.transaction import fresh_file_names
from headgate.storage.store import Store
from headgate.table.event_follower import EventFollower


@dataclass(frozen=True, slots=True)
class NewFolder:
    """A folder for new files, which nobody else knows."""

    name: str
    txn_id: TxnId | None = None
    """The transaction by which a catalog knows that the files in it are new to the table."""


class TableLocation(Protocol):
    """The place of a table, which need not exist yet; an ``OpenedTable`` is one."""

    @property
    def location(self) -> str: ...

    @property
    def store(self) -> Store: ...

    @property
    def world(self) -> World: ...

    def new_folder(self) -> NewFolder:
        """Where the files of one transaction are to be written."""
        ...


@dataclass(frozen=True, slots=True)
class NewTableLocation:
    """The place of a table that is to be made."""

    location: str
    store: Store
    world: World
    find: FindCoordinator | None = None
    """Where coordinators are found that the session's defaults may name; None if a catalog has the table."""

    def new_folder(self) -> NewFolder:
        return NewFolder(self.world.uuid())


@dataclass(frozen=True, slots=True)
class CatalogIdentity:
    """A table as its catalog knows it, for which folders are named."""

    table_id: TableId
    txn_id: TxnId | None = None
    """The transaction of which everything is a part that is written here; else each has its own."""
    events: EventFollower | None = field(default=None, compare=False, repr=False)
    """Follows the events of its catalog, if something does."""

    def new_folder(self, world: World) -> NewFolder:
        """A folder whose name proves that what is in it is new, to whoever commits it as this transaction."""
        txn_id = self.txn_id or TxnId(world.uuid())
        return NewFolder(
            f"{fresh_file_names.transaction_prefix(self.table_id, txn_id)}-{world.uuid()}", txn_id
        )
