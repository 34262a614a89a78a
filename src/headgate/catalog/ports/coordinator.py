"""What a coordinator offers: the port, and the values that pass through it.

A coordinator decides the versions of tables that name it in their properties. The content of a
commit is always a file; the coordinator only says which file is which version.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from headgate.catalog.ports.commits import Lost, RatifiedCommit, StagedCommit, TableState, Unknown
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.storage.store import Store


@dataclass(frozen=True, slots=True)
class CoordinatedTable:
    """A table as its coordinator is told of it: where it is, and what was said when it was taken over."""

    location: str
    conf: Mapping[str, str]
    store: Store = field(compare=False, repr=False)
    """The table's files, for a coordinator that publishes."""


@dataclass(frozen=True, slots=True)
class CoordinatedProposal:
    """A staged commit that its coordinator is asked to make version ``version``."""

    version: Version
    txn_id: TxnId
    timestamp: EpochMillis
    staged: StagedCommit
    before: TableState
    after: TableState
    """What the table is before and after; without a coordinator after it, the commit releases the table."""


@dataclass(frozen=True, slots=True)
class GetCommitsResponse:
    """Ratified commits that are not published, ascending, and the latest version ever ratified.

    ``latest`` is None until the coordinator has ratified something: the table is then as long as its log.
    That there are no commits says nothing of where the table ends.
    """

    commits: tuple[RatifiedCommit, ...]
    latest: Version | None


@dataclass(frozen=True, slots=True)
class CoordinatedActions:
    """A commit that its coordinator is asked to write, and to make version ``version``."""

    version: Version
    txn_id: TxnId
    timestamp: EpochMillis
    content: bytes
    """The actions, a line of JSON each: what the file must hold, byte for byte."""
    folder: str
    """Where the table's un-backfilled commit files are."""
    before: TableState
    after: TableState

    @property
    def actions(self) -> Iterator[str]:
        """Each action, as JSON."""
        return iter(self.content.decode().splitlines())


class CommitCoordinator(Protocol):
    """Decides the commits of tables; linearizable per table, safe to share between threads.

    Coordinators that reach the same place are equal. What can be tried again raises an error that says so,
    or is answered by ``Unknown``; any other error is final, and nothing was ratified.
    """

    def register(self, location: str, current: Version | None, told: TableState) -> Mapping[str, str]:
        """Promise to own the table from version ``current`` + 2 on; what to tell it at every call.

        ``current`` is None for a table that is about to be created. The promise counts once the commit
        after ``current``, which is not the coordinator's, names the coordinator and what it answered; from
        then on the coordinator may not refuse the table. It means nothing if that commit is never made, so
        a table may be registered again. ``NotAllowed`` while it is owned, ``InvalidRequest`` for a version
        older than another registration's.
        """
        ...

    def commit(
        self, table: CoordinatedTable, proposal: CoordinatedProposal
    ) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
        """Ratify the next version, at most once; ``where`` is None in the answer if it is published too.

        Idempotent by txnId. ``Lost`` if the version is taken, with as many of the winners as the coordinator
        still knows. Raises ``InvalidRequest`` for a version that is neither taken nor the next, or for
        another table's place, and ``NotAllowed`` if the table was released. A commit that releases the
        table is the last one ratified, and everything is published with it.
        """
        ...

    def get_commits(
        self, table: CoordinatedTable, *, start: Version | None = None, end: Version | None = None
    ) -> GetCommitsResponse:
        """The unpublished commits within these versions, contiguous; the latest version in any case."""
        ...

    def backfill_to(self, table: CoordinatedTable, version: Version) -> None:
        """Publish every ratified version up to this one, in order; ``InvalidRequest`` beyond the latest."""
        ...


@runtime_checkable
class WritesCommits(Protocol):
    """A coordinator that is handed the actions themselves, and writes the commit file of its choice.

    Clients ask it so, and stage nothing; all that ``CommitCoordinator`` says holds.
    """

    def commit_actions(
        self, table: CoordinatedTable, proposal: CoordinatedActions
    ) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
        """Ratify the next version, at most once, as ``CommitCoordinator.commit`` does.

        Either the content becomes an un-backfilled file, and the coordinator records in one step that it is
        the version; or, if the previous version is published, a published one that is created only if there
        is none: then it is ratified as soon as it is there, whoever hears of it.
        """
        ...


@runtime_checkable
class SettlesTakeOver(Protocol):
    """A coordinator that decides itself who creates a table or takes it over, where the store cannot.

    Only those who ask it are settled: it cannot keep others from writing the same file.
    """

    def settle(self, table: CoordinatedTable, version: Version, staged: StagedCommit) -> bool:
        """Make this file the version that names it, unless it settled on another; whether it did.

        ``table.conf`` is what ``register`` answered. Whatever it settled on is published when this returns,
        so that whoever crashed after asking has the table all the same. Repeating it is harmless.
        """
        ...


CoordinatorBuilder = Callable[[Mapping[str, str]], CommitCoordinator]
"""From the conf in a table's properties to the coordinator it means."""

FindCoordinator = Callable[[str, Mapping[str, str]], CommitCoordinator | None]
"""The coordinator of that name and conf, None if nobody registered the name."""
