r"""Several changes of one table as one: what a transaction did to it, in a single commit.

A file that was added and removed again never was; the last word counts of metadata, of each domain
and of each application; what was read is united. What would tell readers something untrue if it
were one commit is refused.

In a transaction on a table of the files a and b, an append adds c, and a DELETE then removes c and a and
adds d. The one commit of both is

    {"commitInfo":{"operation":"TRANSACTION","operationParameters":{"operations":"[\"WRITE\",\"DELETE\"]"},…}}
    {"remove":{"path":"a",…}}
    {"add":{"path":"d",…}}

and of c there is no trace.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headgate.errors import UnsupportedFeature
from headgate.protocol import file_key, property_values
from headgate.protocol.actions import (
    Action,
    AddCdcFile,
    AddFile,
    AppTransaction,
    DeletionVector,
    DomainMetadata,
    Metadata,
    RemoveFile,
    Version,
)
from headgate.protocol.domains.rules import ROW_TRACKING_DOMAIN
from headgate.protocol.features import row_tracking
from headgate.protocol.file_key import FileKey
from headgate.protocol.schema import type_widening
from headgate.protocol.transaction.attempt import CLONE, ROW_ID_BACKFILL, ROW_ID_UNBACKFILL, ReadSet
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation, Transaction

TRANSACTION_OPERATION = "TRANSACTION"
_NOT_COMBINABLE = (ROW_ID_BACKFILL, ROW_ID_UNBACKFILL, "REPLACE TABLE", "CREATE OR REPLACE TABLE", CLONE)


def combine_changes(base: Snapshot, collected: Sequence[Transaction], reads: ReadSet) -> Change:
    """All that was collected since ``base`` as one change of it; ``reads`` are the scans beside."""
    changes = [txn.change for txn in collected]
    check_combinable(collected)
    united = reduce(ReadSet.union, (change.reads for change in changes), reads)
    actions = _actions(base, collected)
    if len(changes) == 1:
        # Only what the change itself read can be judged row by row.
        rows = changes[0].rows if reads == ReadSet() else None
        return replace(changes[0], actions=actions, reads=united, rows=rows)
    return Change(
        operation=_operation(changes),
        actions=actions,
        reads=united,
        user_metadata=next((said for each in reversed(changes) if (said := each.user_metadata)), None),
        skip_if_empty=all(change.skip_if_empty for change in changes),
        once=any(change.once for change in changes),
    )


def _actions(base: Snapshot, collected: Sequence[Transaction]) -> tuple[Action, ...]:
    """One after another, as if they had been commits, with only the outcome left."""
    touched = _added_and_removed(collected) if len(collected) > 1 else frozenset()
    live = _live(base, touched) if touched else {}
    files: dict[FileKey, AddFile | RemoveFile] = {}
    others: dict[tuple[type[Action], str], Action] = {}
    for txn in collected:
        for action in txn.attempt.actions:
            match action:
                case AddFile():
                    key = file_key.file_key(action)
                    was_removed = isinstance(files.pop(key, None), RemoveFile)
                    if not (was_removed and key[1] in live.get(action.path, ())):
                        files[key] = _without_row_ids(action, base.version)
                case RemoveFile():
                    key = file_key.file_key(action)
                    was_added = isinstance(files.pop(key, None), AddFile)
                    if not was_added or key[1] in live.get(action.path, ()):
                        files[key] = action
                case DomainMetadata(domain=name) if name == ROW_TRACKING_DOMAIN and not action.removed:
                    pass  # which ids were given is said again when they are
                case Metadata():
                    dated = type_widening.renumber_type_changes(action, txn.target, Version(base.version + 1))
                    others[Metadata, ""] = dated
                case _:
                    others[type(action), _name(action)] = action
    removes = [action for action in files.values() if isinstance(action, RemoveFile)]
    adds = [action for action in files.values() if isinstance(action, AddFile)]
    return (*(action for action in others.values() if not _undoes_nothing(base, action)), *removes, *adds)


def _added_and_removed(collected: Sequence[Transaction]) -> frozenset[str]:
    """The files, as they are spelled, that were both added and removed: of others the base need not tell."""
    added, removed = (
        {
            action.path: file_key.canonical_path(action.path)
            for txn in collected
            for action in txn.attempt.actions
            if isinstance(action, kind)
        }
        for kind in (AddFile, RemoveFile)
    )
    both = {*added.values()} & {*removed.values()}
    return frozenset(path for path, same in (added | removed).items() if same in both)


def _name(action: Action) -> str:
    """Of what, among actions of its kind, it has the last word."""
    match action:
        case DomainMetadata(domain=name):
            return name
        case AppTransaction(app_id=name):
            return name
        case AddCdcFile(path=path):
            return path
        case _:
            return ""


def _undoes_nothing(base: Snapshot, action: Action) -> bool:
    """Whether it removes a domain that nobody but this transaction ever had."""
    return isinstance(action, DomainMetadata) and action.removed and action.domain not in base.state.domains


def _without_row_ids(add: AddFile, base: Version) -> AddFile:
    """Without the row ids of a provisional version: they are given when the one commit is prepared."""
    version = add.default_row_commit_version
    if version is None or version <= base:
        return add
    return msgspec.structs.replace(add, base_row_id=None, default_row_commit_version=None)


def _live(base: Snapshot, paths: Iterable[str]) -> dict[str, set[str | None]]:
    """Those of the paths that are live in ``base``, and with which deletion vectors."""
    files = base.files.without_stats.select(["path", "deletion_vector"])
    found: dict[str, set[str | None]] = {}
    for row in files.filter(pc.is_in(files["path"], pa.array(paths, pa.string()))).to_pylist():
        vector = row["deletion_vector"]
        key = file_key.deletion_vector_id(None if vector is None else DeletionVector(**vector))
        found.setdefault(row["path"], set()).add(key)
    return found


def check_combinable(collected: Sequence[Transaction]) -> None:
    """Refuse what cannot be one version."""
    if len(collected) < 2:
        return
    operations = [txn.change.operation.name for txn in collected]
    if alone := next((name for name in operations if name in _NOT_COMBINABLE), None):
        raise _not_combinable_error(f"{alone} must be the only change of a table in a transaction")
    has_cdc = [any(isinstance(action, AddCdcFile) for action in txn.attempt.actions) for txn in collected]
    if any(has_cdc) and sum(map(_changes_data, collected)) > 1:
        raise _not_combinable_error(
            "the table records its changes (delta.enableChangeDataFeed), and several operations would have "
            "to be told apart in one version"
        )
    if any(map(_tracks_rows, collected)) and _rewrites_its_own(collected):
        raise _not_combinable_error(
            "the table tracks its rows (delta.enableRowTracking), and rows that this transaction wrote "
            "were written again by it, before they had ids"
        )
    if _rearranges_its_own(collected):
        raise _not_combinable_error(
            "files that this transaction wrote were laid out anew by it (OPTIMIZE, REORG), and no stream or "
            "change feed would be told of their rows"
        )


def _changes_data(txn: Transaction) -> bool:
    writes = txn.attempt.writes
    return any(add.data_change for add in writes.adds) or any(each.data_change for each in writes.removes)


def _tracks_rows(txn: Transaction) -> bool:
    enabled = property_values.flag(txn.attempt.metadata, property_values.ROW_TRACKING)
    return enabled and row_tracking.is_supported(txn.attempt.protocol)


def _rewrites_its_own(collected: Sequence[Transaction]) -> bool:
    added: set[str] = set()
    for txn in collected:
        writes = txn.attempt.writes
        if writes.adds and any(remove.path in added for remove in writes.removes):
            return True
        removed = {remove.path for remove in writes.removes}
        added |= {add.path for add in writes.adds} - removed
    return False


def _rearranges_its_own(collected: Sequence[Transaction]) -> bool:
    added: set[str] = set()
    for txn in collected:
        writes = txn.attempt.writes
        if any(not remove.data_change and remove.path in added for remove in writes.removes):
            return True
        added |= {add.path for add in writes.adds if add.data_change}
    return False


def _not_combinable_error(why: str) -> UnsupportedFeature:
    return UnsupportedFeature(
        f"the changes of a transaction to one table become one version, and these cannot: {why}; use a "
        "transaction for each",
        code="HEADGATE_CHANGES_CANNOT_BE_COMBINED",
    )


def _operation(changes: Sequence[Change]) -> Operation:
    operations = [change.operation for change in changes]
    metrics: dict[str, str] = {}
    for operation in operations:
        for key, value in operation.metrics.items():
            metrics[key] = _sum(metrics.get(key), value)
    names = [operation.name for operation in operations]
    changes_data = any(operation.changes_data for operation in operations)
    if all(
        (each.name, each.parameters) == (operations[0].name, operations[0].parameters) for each in operations
    ):
        return Operation(names[0], operations[0].parameters, metrics, changes_data=changes_data)
    parameters = {"operations": msgspec.json.encode(names).decode()}
    return Operation(TRANSACTION_OPERATION, parameters, metrics, changes_data=changes_data)


def _sum(before: str | None, more: str) -> str:
    if before is None:
        return more
    try:
        return str(int(before) + int(more))
    except ValueError:
        return more
