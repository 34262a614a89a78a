"""How a table's commits become versions: the port its routes implement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from headgate.catalog.api import Outcome, RatifiedCommit
from headgate.protocol.actions import Commit, Version
from headgate.protocol.names import LogFile
from headgate.table.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Frontier:
    """How far a table reaches, and which of its commits only the catalog has.

    ``managed`` tables have a catalog whose latest version is a bound on everything else.
    """

    latest: Version
    held: Mapping[Version, RatifiedCommit]
    managed: bool
    listing: Sequence[LogFile] | None = None
    """What was listed to find this out, from some checkpoint on, so that nobody lists it again."""


class Committer(Protocol):
    """Commits to one table by one route; safe to share between threads."""

    def frontier(self, *, known: Version | None = None) -> Frontier:
        """The latest version, asking whoever decides it; ``known`` is one that certainly exists."""
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

    def publish(self) -> Version:
        """Make every ratified version a published one, in order; the latest of them."""
        ...
