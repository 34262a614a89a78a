"""What a catalog offers to those who commit to a table and follow its versions: the port, and its values."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, NewType, Protocol, TypeVar

from headgate.protocol import actions
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.protocol.log import file_names

TableId = NewType("TableId", str)
Winner_co = TypeVar("Winner_co", covariant=True)


@dataclass(frozen=True, slots=True)
class InlineCommit:
    """A commit whose content travels in the proposal and is stored by the catalog."""

    content: bytes


@dataclass(frozen=True, slots=True)
class StagedCommit:
    """A commit whose content is the file of this name in ``_delta_log/_staged_commits``.

    Only tables of a coordinator may have another folder.
    """

    file_name: str
    folder: str = file_names.STAGED_FOLDER

    @property
    def path(self) -> str:
        """Where the file is, from the table's root."""
        return self.folder + self.file_name


@dataclass(frozen=True, slots=True)
class Proposal:
    """A commit that a client asks the catalog to ratify as version ``target``.

    A blind append may leave the version open: with ``any_version`` every version from the target
    on will do, as long as the commits since then did nothing but add and remove files. The
    catalog then assigns the next version and moves the in-commit timestamp after the latest one.
    """

    table_id: TableId
    target: Version
    txn_id: TxnId
    content: InlineCommit | StagedCommit
    any_version: bool = False


@dataclass(frozen=True, slots=True)
class RatifiedCommit:
    """A commit the catalog ratified.

    ``where`` is its content, or the name of its staged file, or None once it is published and
    the catalog no longer holds it.
    """

    version: Version
    txn_id: TxnId
    in_commit_timestamp: EpochMillis
    where: InlineCommit | StagedCommit | None
    sha256: str | None = field(default=None, compare=False)
    """The fingerprint of what was ratified, from a catalog that keeps it."""


@dataclass(frozen=True, slots=True)
class Ratified:
    """The transaction is version ``version``, now or since an earlier identical proposal."""

    version: Version


@dataclass(frozen=True, slots=True)
class Lost(Generic[Winner_co]):
    """Other commits hold the proposed version: all of them, contiguous, up to the latest."""

    winners: tuple[Winner_co, ...]


@dataclass(frozen=True, slots=True)
class Open:
    """The transaction is not ratified, and its version is not taken either."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """No answer: the proposal may or may not have been ratified, or may yet be."""

    reason: str


Outcome = Ratified | Lost[Winner_co] | Open | Unknown


@dataclass(frozen=True, slots=True)
class TableState:
    """What a table is at its latest version, by the catalog's word."""

    protocol: actions.Protocol
    metadata: actions.Metadata
    domains: Mapping[str, actions.DomainMetadata] | None = None
    """The live metadata domains; None from whoever cannot tell all of them, then the log does."""
    txns: Mapping[str, actions.AppTransaction] | None = None
    """The latest transaction of each application; None like the domains."""
    since: Version | None = field(default=None, compare=False)
    """The last version that did more than add and remove files, if that is known."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The latest version, how far the log is published, and the ratified commits beyond that."""

    latest: Version
    published: Version
    commits: tuple[RatifiedCommit, ...]
    description: TableState | None = field(default=None, compare=False)
    """What the log says too, if nothing else is wanted of it; None from a catalog that does not keep it."""
    latest_timestamp: EpochMillis | None = field(default=None, compare=False)
    """The in-commit timestamp of the latest version, from a catalog that tells it."""


class CommitCatalog(Protocol):
    """Ratifies the commits of tables; linearizable per table, safe to share between threads.

    Version v is ratified only after v - 1 and at most once. A method that cannot reach the
    catalog raises ``CatalogUnavailable`` if nothing can have changed.
    """

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        """Ratify the proposal if its version is the next one, or may be.

        Idempotent for ever by (table, txnId): a repeated proposal, whatever its target, gets
        ``Ratified`` with the version of the first. A proposal beyond the next version or of
        malformed content raises ``InvalidRequest`` and changes nothing.
        """
        ...

    def outcome_of(
        self, table_id: TableId, txn_id: TxnId, target: Version, *, any_version: bool = False
    ) -> Outcome[RatifiedCommit]:
        """What became of a proposal whose answer was lost.

        ``Open`` if it could still be ratified, should it be on its way; ``Lost`` proves that it never will.
        """
        ...

    def tail(self, table_id: TableId) -> Tail:
        """The latest version, always, and every ratified commit that is not yet published.

        If it also tells what the table is, then as of that latest version.
        """
        ...

    def mark_published(self, table_id: TableId, version: Version) -> None:
        """Record that versions up to ``version`` are published, once the catalog has seen that they are.

        Monotone and idempotent; their content may be forgotten from here on.
        """
        ...


def txn_id_from_file_name(file_name: str) -> TxnId:
    """The transaction of a staged file that does not say which it is: the UUID in its name."""
    return TxnId(file_name.removesuffix(".json").rpartition(".")[2])


def fingerprint(content: bytes) -> str:
    """By what a commit's content is known again."""
    return hashlib.sha256(content).hexdigest()
