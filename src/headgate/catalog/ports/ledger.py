"""Where does a coordinator write down what it decided? The port, and what passes through it.

A table that names a coordinator in its properties is in no directory: the ledger knows it by the id that the
coordinator gave it, and by its place. Whatever keeps a ledger decides by one conditional write.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from headgate.catalog.ports.commits import RatifiedCommit
from headgate.protocol.actions import TxnId, Version

SCHEMA_VERSION = 1
"""How records are to be understood; one written by a later release may mean something else."""
REMEMBERED_COMMITS = 100
"""How many published versions a coordinator remembers, for whoever asks again what became of a commit.

Whoever asks later finds the commit in the log, by its txnId.
"""


@dataclass(frozen=True, slots=True)
class Registration:
    """One registration of a table; only the one that the table's own log names ever gets commits."""

    table_id: str
    location: str
    metadata_id: str
    first: Version
    """The first version it may ratify."""
    next: Version
    published: Version
    accepting: bool
    schema_version: int = SCHEMA_VERSION

    @property
    def latest(self) -> Version | None:
        """The latest ratified version, None if there is none."""
        return Version(self.next - 1) if self.next > self.first else None

    @property
    def is_active(self) -> bool:
        """Whether the table is certainly this coordinator's."""
        return self.accepting and self.latest is not None


def last_forgettable_version(published: Version) -> Version:
    """The last version that a coordinator need not remember once so much is published."""
    return Version(published - REMEMBERED_COMMITS)


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A registration, and the commit that a transaction asked about already is."""

    record: Registration
    ratified: RatifiedCommit | None = None


class Ledger(Protocol):
    """Records and commits, durable as the implementation says; equal ledgers are the same one."""

    def records(self, location: str) -> tuple[Registration, ...]:
        """Every registration at a place."""
        ...

    def open(self, record: Registration, *, abandoned: Iterable[str] = ()) -> None:
        """Write a registration down, and forget those of these ids, if they ratified nothing.

        One of the same id that is there stays as it is.
        """
        ...

    def find(self, table_id: str, txn_id: TxnId | None = None) -> LedgerEntry | None:
        """A registration, and what it ratified for ``txn_id``."""
        ...

    def write(self, table_id: str, commit: RatifiedCommit, *, accepting: bool) -> bool:
        """Write the commit down if its version is the next one and commits are accepted; whether it was.

        In the same moment ``accepting`` says whether more may come. ``CommitUnknown`` if nobody can tell.
        """
        ...

    def commits(self, table_id: str, start: Version) -> tuple[RatifiedCommit, ...]:
        """Every commit from this version on that is not forgotten, published ones too, ascending."""
        ...

    def publish(self, table_id: str, version: Version) -> None:
        """Record that everything up to this version is published; a lower version changes nothing.

        Of the published commits only the last ``REMEMBERED_COMMITS`` are kept; a version that was never
        ratified changes nothing either.
        """
        ...
