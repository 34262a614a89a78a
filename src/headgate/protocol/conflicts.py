"""May a transaction still commit after a concurrent one won? The rules, as rows.

Rows are tried in order, for each winner in ascending version; the first that objects decides.
Predicates of reads are not tracked: what is not a blind append counts as having read the whole
table, which refuses more than needed and never too little.
"""

from collections.abc import Callable
from dataclasses import dataclass

from headgate.errors import (
    ConcurrentAppend,
    ConcurrentDeleteDelete,
    ConcurrentDeleteRead,
    ConcurrentTransaction,
    ConflictError,
    DomainConflict,
    MetadataChanged,
    ProtocolChanged,
)
from headgate.protocol.actions import Commit


@dataclass(frozen=True, slots=True)
class Reads:
    """What a transaction looked at before deciding what to write."""

    whole_table: bool = False
    app_ids: frozenset[str] = frozenset()


BLIND = Reads()


@dataclass(frozen=True, slots=True)
class Ours:
    """The losing side of a race: what it read and what it would write."""

    reads: Reads
    writes: Commit

    @property
    def is_blind_append(self) -> bool:
        return not self.reads.whole_table and not self.writes.removes


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: an objection, and the error that states it."""

    name: str
    objection: Callable[[Ours, Commit], str | None]
    error: type[ConflictError]


def _both_changed_the_protocol(ours: Ours, winner: Commit) -> str | None:
    if winner.protocol is not None and ours.writes.protocol is not None:
        return "both transactions change the protocol"
    return None


def _winner_changed_the_protocol(_: Ours, winner: Commit) -> str | None:
    if winner.protocol is not None:
        return "the protocol was changed after this transaction began"
    return None


def _winner_changed_the_metadata(_: Ours, winner: Commit) -> str | None:
    if winner.metadata is not None:
        return "the schema or the properties were changed after this transaction began"
    return None


def _both_wrote_a_domain(ours: Ours, winner: Commit) -> str | None:
    shared = {action.domain for action in ours.writes.domains} & {action.domain for action in winner.domains}
    if shared:
        return f"both transactions write the metadata domain {', '.join(sorted(shared))}"
    return None


def _winner_moved_an_application(ours: Ours, winner: Commit) -> str | None:
    written = {txn.app_id: txn.version for txn in ours.writes.txns}
    for txn in winner.txns:
        if txn.app_id in ours.reads.app_ids or txn.version >= written.get(txn.app_id, txn.version + 1):
            return f"application {txn.app_id!r} committed its transaction {txn.version} meanwhile"
    return None


def _winner_added_rows_we_would_have_read(ours: Ours, winner: Commit) -> str | None:
    if ours.is_blind_append or not winner.adds:
        return None
    return f"{winner.adds[0].path} was added to the rows this transaction read"


def _winner_removed_rows_we_read(ours: Ours, winner: Commit) -> str | None:
    if ours.reads.whole_table and winner.removes:
        return f"{winner.removes[0].path} was removed after this transaction read it"
    return None


def _both_removed_a_file(ours: Ours, winner: Commit) -> str | None:
    shared = {file.path for file in ours.writes.removes} & {file.path for file in winner.removes}
    if shared:
        return f"{min(shared)} was removed by both transactions"
    return None


RULES: tuple[Rule, ...] = (
    Rule("protocol-vs-protocol", _both_changed_the_protocol, ProtocolChanged),
    Rule("protocol-changed", _winner_changed_the_protocol, ProtocolChanged),
    Rule("metadata-changed", _winner_changed_the_metadata, MetadataChanged),
    Rule("domain-vs-domain", _both_wrote_a_domain, DomainConflict),
    Rule("application-transaction", _winner_moved_an_application, ConcurrentTransaction),
    Rule("append-vs-read", _winner_added_rows_we_would_have_read, ConcurrentAppend),
    Rule("delete-vs-read", _winner_removed_rows_we_read, ConcurrentDeleteRead),
    Rule("delete-vs-delete", _both_removed_a_file, ConcurrentDeleteDelete),
)


def check(ours: Ours, winner: Commit) -> None:
    """Raise the error of the first rule that objects to committing after ``winner``."""
    for rule in RULES:
        if reason := rule.objection(ours, winner):
            operation = winner.info.operation if winner.info and winner.info.operation else "an operation"
            raise rule.error(
                f"{reason} by {operation} in version {winner.version}; nothing was committed, "
                "run the operation again on the new version",
                rule=rule.name, winner=winner.version,
            )  # fmt: skip
