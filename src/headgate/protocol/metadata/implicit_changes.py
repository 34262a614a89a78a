"""What a write does to a table's metadata: create it, overwrite the schema, merge it, keep it, or refuse.

Whether it is a batch write, a MERGE or a stream: the decision depends on a handful of facts, and on
nothing else. One row per outcome; the first whose condition holds is it. Types that do not go together
are refused before any option is asked, unless the schema is overwritten.

Rows of ``id INT, at DATE`` come to a table of ``id INT``:

    append                                        REFUSE: column 'at' is not in the table
    append, mergeSchema                           MERGE: the table has id and at
    overwrite of all rows, overwriteSchema        OVERWRITE: the same, by other means
    append of ``ID SMALLINT`` alone               KEEP: the column is found ignoring case, and is wide enough
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

import msgspec

from headgate.errors import InvalidRequest, SchemaMismatch
from headgate.protocol import property_values
from headgate.protocol.actions import Metadata
from headgate.protocol.metadata import alter_properties, char_varchar
from headgate.protocol.schema import column_ids, enforcement, expression_columns, merging
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.merging import MergeOptions
from headgate.protocol.schema.types import Array, DataType, Map, Primitive, Struct, describe_type
from headgate.spelling import did_you_mean

CONSTRAINT_PREFIX = "delta.constraints."
GENERATION_EXPRESSION = "delta.generationExpression"


class MetadataOutcome(Enum):
    """What becomes of the metadata."""

    CREATE = "the table is made with the columns of the rows"
    OVERWRITE = "columns and partitioning become those of the write"
    MERGE = "the new columns are added, types are widened"
    REFUSE = "nothing is written: DELTA_METADATA_MISMATCH"
    KEEP = "the metadata stays as it is"


@dataclass(frozen=True, slots=True)
class WriteIntent:
    """What a write brings, and what it may do."""

    data: Struct
    partition_by: tuple[str, ...] = ()
    overwrite: bool = False
    """Whether rows are replaced."""
    can_merge: bool = False
    """The option ``mergeSchema``."""
    can_overwrite_schema: bool = False
    """The option ``overwriteSchema``, which counts only where all rows are replaced."""
    keeps_rows: bool = False
    """The option ``dataChange=false``."""
    casts: bool = False
    """Whether values are cast to the table's types, as streams and INSERT do."""


@dataclass(frozen=True, slots=True)
class WriteFacts:
    """All that the decision depends on."""

    exists: bool
    overwrite: bool
    can_merge: bool
    can_overwrite_schema: bool
    new_schema: bool
    new_partitioning: bool
    """Whether a partitioning is given that is not the table's."""
    partitioning_changed: bool
    """The same, but none given counts as none wanted."""


@dataclass(frozen=True, slots=True)
class MetadataDecision:
    """One row: when, and what then."""

    when: str
    holds: Callable[[WriteFacts], bool]
    outcome: MetadataOutcome
    rearranging: str = ""
    """What a write that only rearranges rows must not do, in words; nothing if it may."""


def _creates(facts: WriteFacts) -> bool:
    return not facts.exists


def _overwrites(facts: WriteFacts) -> bool:
    wanted = facts.overwrite and facts.can_overwrite_schema
    return wanted and (facts.new_schema or facts.partitioning_changed)


def _merges(facts: WriteFacts) -> bool:
    return facts.new_schema and facts.can_merge and not facts.new_partitioning


def _mismatches(facts: WriteFacts) -> bool:
    return facts.new_schema or facts.new_partitioning


def _fits(_: WriteFacts) -> bool:
    return True


DECISIONS: tuple[MetadataDecision, ...] = (
    MetadataDecision("the table does not exist", _creates, MetadataOutcome.CREATE, "create a Delta table"),
    MetadataDecision("all rows are replaced, overwriteSchema is on, and columns or partitioning differ",
             _overwrites, MetadataOutcome.OVERWRITE, "overwrite schema or change partition schema"),
    MetadataDecision("mergeSchema is on, columns differ, and no other partitioning is given",
             _merges, MetadataOutcome.MERGE, "change the schema"),
    MetadataDecision("columns differ, or another partitioning is given", _mismatches, MetadataOutcome.REFUSE),
    MetadataDecision("otherwise", _fits, MetadataOutcome.KEEP),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MetadataPlan:
    """The decision, and what the table's columns and partitioning are then."""

    outcome: MetadataOutcome
    schema: Struct
    partition_columns: tuple[str, ...]
    metadata: Metadata | None = field(default=None)
    """The metadata to commit; None if it stays, or if there is no table yet."""


def decide_outcome(facts: WriteFacts) -> MetadataDecision:
    """The row that applies."""
    return next(row for row in DECISIONS if row.holds(facts))


def plan_metadata(
    existing: Metadata | None,
    wish: WriteIntent,
    *,
    uuid: Callable[[], str],
    preview_version: int | None = None,
) -> MetadataPlan:
    """What a write does to the metadata of a table, None if there is no table; raises if it cannot be.

    ``uuid`` names new columns of tables that map theirs. ``preview_version`` is the version to be, for
    tables with the preview of type widening.
    """
    data = enforcement.check_row_schema(column_ids.without_column_ids(wish.data))
    allowed = MergeOptions(existing is not None and _widens(existing, wish), wish.casts, preview_version)
    after = _columns_after(existing, wish, data, allowed)
    partition_by = normalize_partition_columns(wish.partition_by, data)
    facts = _facts(existing, wish, after, partition_by)
    decision = decide_outcome(facts)
    if wish.keeps_rows and decision.rearranging:
        raise InvalidRequest(
            f"with dataChange=false a write only puts rows elsewhere, and this one would "
            f"{decision.rearranging}: leave dataChange out",
            code="DELTA_DATA_CHANGE_FALSE",
        )
    if decision.outcome is MetadataOutcome.REFUSE and existing is not None:
        raise _mismatch(existing, wish, facts, after, partition_by)
    columns = (
        partition_by
        if facts.partitioning_changed and decision.outcome in _FREE
        else _partition_columns(existing)
    )
    check_partitioning(columns, after)
    planned = MetadataPlan(decision.outcome, after, columns)
    if existing is None or decision.outcome is MetadataOutcome.KEEP:
        return planned
    changed = msgspec.structs.replace(
        existing, schema_string=schema_json.render(after), partition_columns=columns
    )
    alter_properties.check_against_columns(changed)
    return MetadataPlan(planned.outcome, after, columns, column_ids.assign_column_ids(changed, uuid))


_FREE = (MetadataOutcome.CREATE, MetadataOutcome.OVERWRITE)
"""Where the partitioning may become another (P28)."""


def normalize_partition_columns(names: Iterable[str], schema: Struct) -> tuple[str, ...]:
    """Partition columns in the spelling of the rows, each of which must have just one such column."""
    return tuple(_normalize_partition_column(name, schema) for name in names)


def check_partitioning(names: Collection[str], schema: Struct) -> None:
    """Refuse a partitioning that no table can have."""
    lower = Counter(name.lower() for name in names)
    if twice := sorted(name for name, count in lower.items() if count > 1):
        raise InvalidRequest(
            f"the table cannot be partitioned twice by {', '.join(twice)}: name each column once",
            code="DELTA_DUPLICATE_COLUMNS_FOUND",
        )
    for name in names:
        found = schema.find(name)
        if found is None or not isinstance(found.type, Primitive) or found.type.name in _NO_PARTITIONS:
            told = "a column that is not there" if found is None else describe_type(found.type)
            raise InvalidRequest(
                f"the table cannot be partitioned by {name!r}, which is {told}: choose a column of numbers, "
                "text, dates or the like",
                code="DELTA_INVALID_PARTITION_COLUMN_TYPE",
            )
    stored = [column for column in schema.fields if column.name.lower() not in lower]
    if names and not stored:
        raise InvalidRequest(
            "the table cannot be partitioned by all of its columns: leave one out",
            code="DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION",
        )
    if names and all(column.type == Primitive("void") for column in stored):
        raise InvalidRequest(
            "the data files of the table would have no columns: those that it is not partitioned by are "
            "all void; cast one to a type",
            code="DELTA_NON_PARTITION_COLUMN_ABSENT",
        )


_NO_PARTITIONS = ("void", "variant")


def _widens(existing: Metadata, wish: WriteIntent) -> bool:
    return wish.can_merge and property_values.flag(existing, property_values.TYPE_WIDENING)


def _columns_after(
    existing: Metadata | None, wish: WriteIntent, data: Struct, allowed: MergeOptions
) -> Struct:
    if existing is None:
        return data
    present = schema_json.parse(existing.schema_string)
    if wish.overwrite and wish.can_overwrite_schema:
        after = column_ids.keep_column_ids(data, present)
        _check_constraint_columns_left(existing.configuration, after)
        return after
    after = char_varchar.with_new_parts(present, merging.merge_schemas(present, data, allowed))
    _check_types_kept(existing.configuration, present, after)
    return after


def _facts(
    existing: Metadata | None, wish: WriteIntent, after: Struct, partition_by: tuple[str, ...]
) -> WriteFacts:
    return WriteFacts(
        exists=existing is not None,
        overwrite=wish.overwrite,
        can_merge=wish.can_merge,
        can_overwrite_schema=wish.can_overwrite_schema,
        new_schema=existing is not None and schema_json.parse(existing.schema_string) != after,
        new_partitioning=bool(partition_by) and partition_by != _partition_columns(existing),
        partitioning_changed=partition_by != _partition_columns(existing),
    )


def _partition_columns(existing: Metadata | None) -> tuple[str, ...]:
    return () if existing is None else tuple(existing.partition_columns)


def _normalize_partition_column(name: str, schema: Struct) -> str:
    found = [column.name for column in schema.fields if column.name.lower() == name.lower()]
    if len(found) == 1:
        return found[0]
    names = [column.name for column in schema.fields]
    raise InvalidRequest(
        f"the rows have {'no' if not found else 'more than one'} column {name!r} to partition by:"
        f"{did_you_mean(name, names)} they have {', '.join(names)}",
        code="DELTA_AMBIGUOUS_PARTITION_COLUMN" if found else "DELTA_PARTITION_COLUMN_NOT_FOUND",
    )


def _check_constraint_columns_left(configuration: Mapping[str, str], after: Struct) -> None:
    """That the columns which constraints are about are still there."""
    for name, expression in _constraints(configuration):
        missing = sorted(
            column
            for column in expression_columns.top_level_columns(expression) or ()
            if after.find(column) is None
        )
        if missing:
            raise InvalidRequest(
                f"the CHECK constraint {name!r}, {expression}, is about {', '.join(missing)}, which the rows "
                "do not have: drop the constraint first",
                code="DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE",
            )


def _check_types_kept(configuration: Mapping[str, str], present: Struct, after: Struct) -> None:
    """That no type changes that a constraint or a generated column depends on."""
    changed = {
        column.name.lower(): (column.type, found.type)
        for column in present.fields
        if (found := after.find(column.name)) is not None and _leaves_differ(column.type, found.type)
    }
    if not changed:
        return
    for name, expression in _constraints(configuration):
        _refuse_change(
            changed, expression, f"the CHECK constraint {name!r}", "DELTA_CONSTRAINT_DATA_TYPE_MISMATCH"
        )
    for column in present.fields:
        if GENERATION_EXPRESSION in column.metadata:
            told = f"the generated column {column.name!r}"
            code = "DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH"
            _refuse_change(changed, str(column.metadata[GENERATION_EXPRESSION]), told, code)


def _refuse_change(
    changed: Mapping[str, tuple[DataType, DataType]], expression: str, what: str, code: str
) -> None:
    named = expression_columns.top_level_columns(expression)
    for column in sorted(changed if named is None else changed.keys() & named):
        before, after = changed[column]
        raise SchemaMismatch(
            f"column {column!r} would change from {describe_type(before)} to {describe_type(after)}, and "
            f"{what}, {expression}, depends on it: cast the rows to the table's type",
            code=code,
        )


def _constraints(configuration: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    return (
        (key[len(CONSTRAINT_PREFIX) :], value)
        for key, value in sorted(configuration.items())
        if key.startswith(CONSTRAINT_PREFIX)
    )


def _leaves_differ(before: DataType, after: DataType, *, voids: bool = False) -> bool:
    """Whether a value that was there has another type, as opposed to a struct with one more field.

    With ``voids`` also whether there can be values from now on, of which there were none.
    """
    match before, after:
        case Struct(fields), Struct():
            return any(
                (found := after.find(part.name)) is not None
                and _leaves_differ(part.type, found.type, voids=voids)
                for part in fields
            )
        case Array(one, _), Array(other, _):
            return _leaves_differ(one, other, voids=voids)
        case Map(key, value, _), Map(other_key, other_value, _):
            return _leaves_differ(key, other_key, voids=voids) or _leaves_differ(
                value, other_value, voids=voids
            )
        case Primitive("void"), _ if not voids:
            return False
        case _:
            return before != after


def _mismatch(
    existing: Metadata, wish: WriteIntent, facts: WriteFacts, after: Struct, partition_by: tuple[str, ...]
) -> SchemaMismatch:
    present = schema_json.parse(existing.schema_string)
    problems = []
    if facts.new_schema:
        problems.append(_schema_problem(present, wish.data, after))
    if facts.new_partitioning:
        problems.append(
            f"the write says partition by {', '.join(partition_by)}, and the table is partitioned by "
            f"{', '.join(existing.partition_columns) or 'nothing'}, which only an overwrite with "
            "overwriteSchema (overwrite_schema=True) can change: leave the partitioning out"
        )
    if wish.overwrite:
        problems.append(
            "to make the table's columns those of the rows, overwrite all rows with the option "
            "overwriteSchema (overwrite_schema=True)"
        )
    return SchemaMismatch(
        "the rows do not fit the table: " + "; ".join(problems),
        expected=present,
        found=wish.data,
        table_id=existing.id,
    )


def _schema_problem(present: Struct, data: Struct, after: Struct) -> str:
    new = list(merging.added_columns(present, data))
    told = []
    if new:
        names = ", ".join(map(repr, new))
        told.append(
            f"column{'s' if len(new) > 1 else ''} {names} {'are' if len(new) > 1 else 'is'} not in the table"
        )
    told += [
        f"column {column.name!r} would become {describe_type(found.type)} from {describe_type(column.type)}"
        for column in present.fields
        if (found := after.find(column.name)) is not None
        and _leaves_differ(column.type, found.type, voids=True)
    ]
    return (
        "; ".join(told)
        + ": drop or cast what differs, or to have the table follow write with the option mergeSchema "
        "(merge_schema=True)"
    )
