"""How does a table come into a catalog, and leave it? The two ports, and how far a table on its way has come.

In both directions one version of the table's log decides, created as a file by whoever asked for it. Whatever
happens afterwards, the log says what is true, and ``settle`` makes the catalog agree.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.protocol.actions import EpochMillis, TxnId, Version


class TransferPhase(Enum):
    """How far a table has come."""

    CLAIMED = "claimed"
    """Coming: the version after the base is the next step."""
    FROZEN = "frozen"
    """Leaving: nothing is ratified, what is ratified gets published."""
    LEAVING = "leaving"
    """Leaving: all is published, and the version after the base may appear in the log at any moment."""
    GONE = "gone"
    """Given back."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """A table on its way."""

    table_id: TableId
    phase: TransferPhase
    name: TableName
    location: str
    """As the catalog writes it down; of a table that is gone, where it is."""
    base: Version
    txn_id: TxnId
    """Of the commit that is version ``base + 1`` if the table changes hands."""
    proposer: str
    expires_ms: EpochMillis

    @property
    def target(self) -> Version:
        """The version with which the table changes hands."""
        return Version(self.base + 1)


class AdoptionStatus(Enum):
    """What became of a claim."""

    OPEN = "open"
    """Nothing yet."""
    ADOPTED = "adopted"
    ABANDONED = "abandoned"
    """The version with which the table would have come went to somebody else."""


class ReleaseStatus(Enum):
    """What became of a release."""

    OPEN = "open"
    """Nothing yet."""
    RELEASED = "released"
    STAYED = "stayed"
    """The table takes commits again."""


class TableAdoptions(Protocol):
    """Tables on their way into one catalog; safe to share between threads and processes."""

    def claim(self, name: TableName, place: str, base: Version, proposer: str) -> Transfer:
        """Promise to own the table at ``place``, in the one spelling, should version ``base + 1`` say so.

        Refused for a place that overlaps with that of another table, and while somebody else has the
        promise. Whoever has it gets the same again, with more time.
        """
        ...

    def check(self, name: TableName, place: str, proposer: str) -> None:
        """Refuse what ``claim`` would refuse, while there is no table yet; nothing is promised."""
        ...

    def find(self, name: TableName, place: str, table_id: str | None, proposer: str) -> TableEntry | None:
        """The table at ``place`` whose log names ``table_id``, if it is or becomes one of this catalog.

        One that came in under no name, because its own was given away by then, gets this one, if the
        ``proposer`` may give it.
        """
        ...

    def find_adopted(self, claim: Transfer) -> TableEntry | None:
        """The table that was claimed, if it came in."""
        ...

    def under_way(self) -> tuple[Transfer, ...]:
        """Every table that is on its way in, or out."""
        ...

    def settle(self, table_id: TableId) -> AdoptionStatus:
        """Make the catalog agree with what the log says of a claim."""
        ...


class TableReleases(Protocol):
    """Tables on their way out of one catalog; safe to share between threads and processes."""

    def freeze(self, table_id: TableId, proposer: str) -> Transfer:
        """Ratify nothing of the table from now on; its latest version is the transfer's base.

        Whoever froze it gets the same again, with more time; anybody else is refused meanwhile.
        """
        ...

    def begin_release(self, transfer: Transfer) -> None:
        """Agree that the table leaves with version ``base + 1``; all before it must be published."""
        ...

    def stay(self, transfer: Transfer) -> ReleaseStatus:
        """Give up on a release, unless the table has left."""
        ...

    def find_departure(self, table_id: TableId) -> Transfer | None:
        """How a table left, if it has."""
        ...

    def settle(self, table_id: TableId) -> ReleaseStatus:
        """Make the catalog agree with what the log says of a table that leaves."""
        ...
