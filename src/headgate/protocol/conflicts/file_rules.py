"""May a transaction follow a winner that added or removed files? The rules, as rows.

What a transaction read is compared with what the winner added by partition, in the columns the
table was partitioned by when it was read; whatever cannot be told apart so overlaps.

A transaction on a table partitioned by ``p`` read version 7 ``WHERE p = 1 AND id > 5``. Of that only ``p =
1`` counts against what the winner of version 8 added:

    {"add":{"path":"w.parquet","partitionValues":{"p":"2"},…}}   it follows, as version 9
    {"add":{"path":"w.parquet","partitionValues":{"p":"1"},…}}   ConcurrentAppend: w.parquet in p=1 was added,
                                                                 and this transaction read rows where p = 1
"""

from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from headgate.errors import ConcurrentAppend, ConcurrentDeleteDelete, ConcurrentDeleteRead, CorruptLog
from headgate.protocol.actions import AddFile, Metadata, RemoveFile
from headgate.protocol.conflicts.race import ConflictRule, Race
from headgate.protocol.file_key import canonical_path
from headgate.protocol.predicates import to_text, tree
from headgate.protocol.predicates.tree import Always, And, Never, Opaque, Or, Predicate
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.protocol.stats import data_skipping
from headgate.protocol.stats.file_bounds import FileBounds
from headgate.protocol.transaction.attempt import (
    ROW_ID_BACKFILL,
    ROW_ID_UNBACKFILL,
    ReadSet,
    is_row_id_backfill,
)
from headgate.protocol.transaction.isolation import IsolationLevel

_PAIRS = pa.map_(pa.string(), pa.string())


def _winner_added_rows_we_would_have_read(race: Race) -> str | None:
    ours, winner = race.ours, race.winner
    if not winner.adds or ours.is_blind_append or ours.isolation is IsolationLevel.SNAPSHOT:
        return None
    if ours.operation in (ROW_ID_BACKFILL, ROW_ID_UNBACKFILL) or is_row_id_backfill(winner.info):
        return None  # files that had their rows before
    if _may_serialize_before(race):
        return None
    read, adds = ours.read.metadata, _undecided_adds(race)
    if not adds:
        return None
    if ours.reads.whole_table:
        return f"{_shown(adds[0])} was added, and this transaction read the whole table"
    if not read.partition_columns:
        objection = f"{_shown(adds[0])} was added, and the table has no partitions that would tell it apart"
        return objection if _may_have_been_read(race, adds) else None
    overlap = _overlap(ours.reads, adds, read)
    return overlap if overlap is not None and _may_have_been_read(race, adds) else None


def _undecided_adds(race: Race) -> tuple[AddFile, ...]:
    """The added files that may have rows which were not there before, for all that was judged row by row."""
    work = race.ours.rows
    if work is None:
        return race.winner.adds
    # Of a file that we remove too, a later rule speaks.
    others = {remove.path for remove in race.winner.removes} & {
        remove.path for remove in race.ours.writes.removes
    }
    return tuple(add for add in race.winner.adds if add.path not in work.settled | others)


def _may_have_been_read(race: Race, adds: tuple[AddFile, ...]) -> bool:
    """Whether we would have read a row of these files, for all we know."""
    return race.ours.rows is None or race.ours.rows.access.selects(adds)


def _may_serialize_before(race: Race) -> bool:
    """Whether our commit may count as having run before a blind append, although its version is later."""
    relaxed = race.ours.isolation is IsolationLevel.WRITE_SERIALIZABLE and race.ours.writes.metadata is None
    return relaxed and race.winner.is_blind_append


def _winner_removed_a_file_we_read(race: Race) -> str | None:
    reads = race.ours.reads
    if reads.whole_table and race.winner.removes:
        return f"{_shown(race.winner.removes[0])} was removed, and this transaction read the whole table"
    read = set(map(canonical_path, reads.files)) if race.winner.removes else ()
    for remove in race.winner.removes:
        if canonical_path(remove.path) in read and not _is_decided_by_row(race, remove.path):
            return f"{_shown(remove)} was removed after this transaction read it"
    return None


def _both_removed_a_file(race: Race) -> str | None:
    if not race.winner.removes or not race.ours.writes.removes:
        return None
    ours = {canonical_path(remove.path) for remove in race.ours.writes.removes}
    shared = [
        remove
        for remove in race.winner.removes
        if canonical_path(remove.path) in ours and not _is_decided_by_row(race, remove.path)
    ]
    return f"{_shown(shared[0])} was removed by both transactions" if shared else None


def _is_decided_by_row(race: Race, path: str) -> bool:
    return race.ours.rows is not None and path in race.ours.rows.settled


FILE_RULES: tuple[ConflictRule, ...] = (
    ConflictRule("append-vs-read", _winner_added_rows_we_would_have_read, ConcurrentAppend),
    ConflictRule("delete-vs-read", _winner_removed_a_file_we_read, ConcurrentDeleteRead),
    ConflictRule("delete-vs-delete", _both_removed_a_file, ConcurrentDeleteDelete),
)


def _shown(file: AddFile | RemoveFile) -> str:
    if not file.partition_values:  # removes of some writers have none (P22)
        return file.path
    return f"{file.path} in {', '.join(f'{key}={value}' for key, value in file.partition_values.items())}"


def _overlap(reads: ReadSet, adds: tuple[AddFile, ...], read: Metadata) -> str | None:
    partitioned = frozenset(name.lower() for name in read.partition_columns)
    for predicate in reads.predicates:
        part = partition_predicate(predicate, partitioned)
        if (found := _first_match(part, adds, read)) is not None:
            wanted = "every partition" if isinstance(part, Always) else f"rows where {to_text.render(part)}"
            return f"{_shown(found)} was added, and this transaction read {wanted}"
    return None


def partition_predicate(predicate: Predicate, partitioned: frozenset[str]) -> Predicate:
    """What a predicate says of partitions alone: true wherever some row of one could satisfy it."""
    match predicate:
        case And(parts):
            return tree.all_of(partition_predicate(part, partitioned) for part in parts)
        case Or(parts):
            return tree.any_of(partition_predicate(part, partitioned) for part in parts)
        case Always() | Never():
            return predicate
        case Opaque():
            return Always()
        case _:
            path = predicate.column.path
            return predicate if len(path) == 1 and path[0].lower() in partitioned else Always()


def _first_match(part: Predicate, adds: tuple[AddFile, ...], read: Metadata) -> AddFile | None:
    match part:
        case Always():
            return adds[0]
        case Never():
            return None
        case _:
            kept = _may_match(part, adds, read)
            return next((add for add, keeps in zip(adds, kept, strict=True) if keeps), None)


def _may_match(part: Predicate, adds: tuple[AddFile, ...], read: Metadata) -> list[bool]:
    schema, mode = schema_json.parse(read.schema_string), column_mapping.mapping_mode(read)
    paths = column_mapping.physical_paths(schema, mode)
    files = pa.table(
        {"partition_values": pa.array([list(add.partition_values.items()) for add in adds], _PAIRS)}
    )
    bounds = FileBounds(files, partition_columns=read.partition_columns, physical=paths)
    try:
        told = data_skipping.keep_mask(bounds, part)
    except (CorruptLog, pa.ArrowInvalid):  # a value that cannot be read may be any
        return [True] * len(adds)
    names = {paths.get(column.path, column.path)[-1] for column in tree.referenced_columns(part)}
    silent = [pa.array([name not in add.partition_values for add in adds], pa.bool_()) for name in names]
    kept: list[bool] = reduce(pc.or_, silent, told).to_pylist()
    return kept
