"""How a table's commits become versions: the port its routes implement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from headgate.catalog.ports.commits import Outcome, RatifiedCommit, TableState
from headgate.catalog.ports.serving import ChecksumContent, LogHints
from headgate.protocol.actions import Commit, EpochMillis, Metadata, Version
from headgate.protocol.actions import Protocol as TableProtocol
from headgate.protocol.log.file_names import LogFile
from headgate.table.authority import Decider
from headgate.table.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Frontier:
    """How far a table reaches, and which of its commits only the catalog has.

    ``managed`` tables have a catalog whose latest version is a bound on everything else.
    """

    latest: Version
    unpublished: Mapping[Version, RatifiedCommit]
    managed: bool
    listing: Sequence[LogFile] | None = None
    """What was listed to find this out, from some checkpoint on, so that nobody lists it again."""
    expected: Sequence[LogFile] | None = None
    """What should be in the log for the latest version, so that nobody lists it; it need not be true."""
    version_at: Callable[[EpochMillis], Version | None] | None = field(default=None, compare=False)
    """Tells which version a moment means, if something can; None from it if that is not known."""
    checksum: ChecksumContent | None = field(default=None, compare=False)
    """The newest checksum that the catalog has a copy of, so that nobody reads its file."""
    description: TableState | None = None
    """What the catalog says the table is at the latest version, if it says so."""
    latest_timestamp: EpochMillis | None = field(default=None, compare=False)
    """The in-commit timestamp of the latest version, if the catalog tells it."""
    unanswered: str | None = None
    """Why whoever decides could not be asked, so that later versions may exist; None if they were."""

    @property
    def bound(self) -> Version | None:
        """The latest version if no listing can tell it: a catalog decides, or commits are not published."""
        return self.latest if self.managed or self.unpublished else None


class Committer(Protocol):
    """Commits to one table by one route; safe to share between threads."""

    def frontier(self, *, known: Version | None = None) -> Frontier:
        """The latest version, asking whoever decides it; ``known`` is one that certainly exists."""
        ...

    def follow(self, version: Version, metadata: Metadata) -> bool:
        """Learn what the table is at the latest version known.

        Whether somebody else turns out to decide its commits, who may know of later versions: the
        frontier is then to be asked for again.
        """
        ...

    def decider(self, protocol: TableProtocol, metadata: Metadata) -> Decider:
        """Who decides the commits of the table, if this is what it is at its latest version."""
        ...

    def propose(self, txn: Transaction) -> Outcome[Commit]:
        """Try to make the transaction version ``txn.target``.

        Repeating it for the same target is harmless; on a catalog-managed table repeating it for
        any target is. ``Lost`` carries every winner from the target on.
        Raises only when nothing was, or will be, ratified.
        """
        ...

    def outcome_of(self, txn: Transaction) -> Outcome[Commit]:
        """What became of a proposal that was not answered."""
        ...

    def publish(self, told: Frontier | None = None) -> Version:
        """Make every ratified version a published one, in order; the latest of them.

        Or only those up to a frontier that was ``told`` a moment ago, so that nobody is asked again.
        """
        ...


@runtime_checkable
class AcceptsLogHints(Protocol):
    """A committer who passes on which checkpoints and checksums were written, to spare others a look."""

    def note_log(self, heard: LogHints) -> None:
        """Hear of a file of the log."""
        ...
