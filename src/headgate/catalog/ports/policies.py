"""What is a policy of commits asked, and what may it answer? The port for policies of one's own.

A policy sees the parsed actions, who proposes them, and the table as it is at that moment.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from headgate.catalog.ports.access import ForeignKey, Principal, Privilege
from headgate.catalog.ports.commits import Proposal, TableId, TableState
from headgate.errors import HeadgateError
from headgate.protocol.actions import Action, Commit
from headgate.protocol.log import strict_codec


class Facts(Protocol):
    """What is known of a table at the moment of the decision; asked for only if a policy wants it."""

    def before(self) -> TableState | None:
        """What the table is; None if the catalog does not know."""
        ...

    def privileges(self, principal: Principal) -> frozenset[Privilege]:
        """All that the principal may do with the table."""
        ...

    def terms(self) -> Mapping[str, str]:
        """The rules that were set for its commits."""
        ...

    def foreign_keys(self) -> tuple[ForeignKey, ...]:
        """The foreign keys to it, and from it."""
        ...

    def owns_application(self, principal: Principal, app_id: str) -> bool:
        """Whether the principal was the last to set the application's version, or nobody ever did."""
        ...


@dataclass(frozen=True, slots=True)
class Review:
    """A commit under review."""

    table_id: TableId
    principal: Principal
    commit: Commit
    """Its actions by kind, and the version it would be."""
    actions: tuple[Action, ...]
    """The same in the order of its lines."""
    size: int
    """Bytes of the commit."""
    facts: Facts = field(repr=False)

    @property
    def before(self) -> TableState | None:
        """What the table is before this commit; None if the catalog does not know."""
        return self.facts.before()

    def refuse(self, reason: str, action: Action | None = None) -> "Refusal":
        """A refusal for this reason, because of this action or of all of them."""
        line = next((n for n, each in enumerate(self.actions, 1) if each is action), 0)
        return Refusal(
            reason, line, strict_codec.ACTION_NAMES.get(type(action), "") if action is not None else ""
        )


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a commit is refused, and the line and kind of the action; line 0 means the commit as a whole."""

    reason: str
    line: int = 0
    action: str = ""


class CommitPolicy(Protocol):
    """Allows or refuses commits; called from many threads, and while the database waits: so be quick.

    It must decide from the review alone, and never call the catalog. A policy that raises refuses.
    """

    def review(self, review: Review) -> Refusal | None:
        """Why the commit is refused; None if, as far as this policy goes, it may be made."""
        ...


class CommitRehearsals(Protocol):
    """Tells what would become of commits, and makes none; on behalf of one principal."""

    def rules(self, table_id: TableId) -> Mapping[str, str]:
        """The rules that were set for a table's commits, with those of its schema and of the lake."""
        ...

    def rehearse(self, proposal: Proposal) -> HeadgateError | None:
        """Why the proposal would be refused as the next version; None if it would be ratified now.

        Nothing is changed and nobody is told. ``TableNotFound`` if there is no such table for whoever asks.
        """
        ...


@runtime_checkable
class RehearsesCommits(Protocol):
    """A catalog that tells what would become of a commit."""

    @property
    def rehearsals(self) -> CommitRehearsals: ...
