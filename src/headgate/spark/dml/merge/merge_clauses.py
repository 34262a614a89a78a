"""The clauses of a MERGE: what is done with rows that match, and with those that do not, in their order.

    0   WHEN MATCHED AND s.gone THEN DELETE
    1   WHEN MATCHED THEN UPDATE SET *
    2   WHEN NOT MATCHED THEN INSERT *

``first_true_clause`` gives a matched row 0 if ``s.gone`` is true of it, else 1. Were 1 before 0, 0 would
never decide: that is refused. The commit tells them as ``parameters``:

    "matchedPredicates":    [{"predicate":"s.gone","actionType":"delete"},{"actionType":"update"}]
    "notMatchedPredicates": [{"actionType":"insert"}]
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import msgspec
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.errors import InvalidRequest
from headgate.protocol.features import identity_columns
from headgate.protocol.metadata.stored_expressions import GENERATED
from headgate.protocol.schema.types import DataType, Field, Struct
from headgate.spark.calls import spark_messages
from headgate.spark.dml import assignments, dml_metrics
from headgate.spark.dml.assignments import Assignments
from headgate.spark.dml.edits import EditKind

Condition = Column | str | None
_UNRESOLVED = ("UNRESOLVED_COLUMN", "MISSING_ATTRIBUTES")


class When(Enum):
    """Which rows a clause is about; its name in the parameters of a commit."""

    MATCHED = "matchedPredicates"
    NOT_MATCHED = "notMatchedPredicates"
    NOT_MATCHED_BY_SOURCE = "notMatchedBySourcePredicates"


@dataclass(frozen=True, slots=True)
class MergeClause:
    """One WHEN … THEN …: the first whose condition is true decides about a row."""

    when: When
    kind: EditKind
    condition: Condition = None
    values: Assignments = field(default_factory=dict)
    star: bool = False
    """Whether every column gets the value of the source's column of that name."""

    @property
    def action(self) -> str:
        """What it does, in one word."""
        return {EditKind.INSERTED: "insert"}.get(
            self.kind,
            "update" if self.kind in (EditKind.UPDATED, EditKind.UPDATED_WITHOUT_SOURCE) else "delete",
        )


@dataclass(frozen=True, slots=True)
class Sides:
    """The columns of the two sides of a MERGE, and how they are called."""

    schema: Struct
    source: Struct
    target_alias: str
    source_column: Callable[[str], Column]
    """A column of the source, by its name."""
    number: str
    """The column that numbers new rows, where the table has identity columns."""


_MUST_HAVE_CONDITIONS = {
    When.MATCHED: ("WHEN MATCHED", "DELTA_NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION"),
    When.NOT_MATCHED: ("WHEN NOT MATCHED", "DELTA_NON_LAST_NOT_MATCHED_CLAUSE_OMIT_CONDITION"),
    When.NOT_MATCHED_BY_SOURCE: (
        "WHEN NOT MATCHED BY SOURCE",
        "DELTA_NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION",
    ),
}


def check_reachable(clauses: Sequence[MergeClause]) -> None:
    """Refuse clauses that can never decide about a row."""
    if not clauses:
        raise InvalidRequest(
            "a MERGE without clauses does nothing: say what to do with rows that match, or with those that "
            "do not",
            code="DELTA_MERGE_MISSING_WHEN",
        )
    for when, (name, code) in _MUST_HAVE_CONDITIONS.items():
        some = clauses_when(clauses, when)
        if any(clause.condition is None for clause in some[:-1]):
            raise InvalidRequest(
                f"a {name} clause without a condition decides about every row, so those after it never do: "
                "put it last, or give it a condition",
                code=code,
            )


def clauses_when(clauses: Sequence[MergeClause], when: When) -> list[MergeClause]:
    """The clauses about such rows, in order."""
    return [clause for clause in clauses if clause.when is when]


def allows_many_matches(clauses: Sequence[MergeClause]) -> bool:
    """Whether a row may match several rows of the source: if all it can do is go."""
    matched = clauses_when(clauses, When.MATCHED)
    return len(matched) == 1 and matched[0].kind is EditKind.DELETED and matched[0].condition is None


def check_without_source(rows: DataFrame, clauses: Sequence[MergeClause]) -> None:
    """Refuse NOT MATCHED BY SOURCE clauses that are about the source: of it there is no row, and no value."""
    alone = clauses_when(clauses, When.NOT_MATCHED_BY_SOURCE)
    given = [each for clause in alone for each in (clause.condition, *clause.values.values())]
    columns = [assignments.to_column(each) for each in given if each is not None]
    if not columns:
        return
    try:
        _ = rows.select(*(column.alias(f"c{number}") for number, column in enumerate(columns))).schema
    except AnalysisException as exc:
        if not spark_messages.error_condition(exc).startswith(_UNRESOLVED):
            raise
        raise InvalidRequest(
            "a WHEN NOT MATCHED BY SOURCE clause is about rows that no row of the source matches, "
            f"so it can name columns of the table only: {spark_messages.plain_message(exc)}",
            code="DELTA_MERGE_UNRESOLVED_EXPRESSION",
        ) from exc


def first_true_clause(clauses: Sequence[MergeClause], when: When) -> Column:
    """The number of the first clause about such rows whose condition is true; null if none is."""
    chosen: Column | None = None
    for number, clause in enumerate(clauses):
        if clause.when is not when:
            continue
        holds = F.lit(True) if clause.condition is None else assignments.to_column(clause.condition)  # noqa: FBT003
        chosen = F.when(holds, F.lit(number)) if chosen is None else chosen.when(holds, F.lit(number))
    return F.lit(None).cast("int") if chosen is None else chosen


def clause_columns(clause: MergeClause, sides: Sides, *, evolves: bool) -> Mapping[str, Column]:
    """The columns of a row after an UPDATE or INSERT clause."""
    schema, source, target_alias = sides.schema, sides.source, sides.target_alias
    given: Assignments = clause.values
    if clause.star:
        pairs = [(found, same) for found in schema.fields if (same := source.find(found.name)) is not None]
        given = {_quoted(found.name): sides.source_column(same.name) for found, same in pairs}
        if evolves and clause.kind is EditKind.UPDATED:
            given = {_quoted(found.name): _source_over_target(found, same, sides) for found, same in pairs}
        missing = [
            found.name
            for found in schema.fields
            if source.find(found.name) is None
            and GENERATED not in found.metadata
            and not identity_columns.is_identity(found)
        ]
        if missing and not evolves:
            raise InvalidRequest(
                f"the source has no column {', '.join(map(repr, missing))}, and {clause.action.upper()} * "
                "gives every column of the table a value: add it, name the columns to set, or use "
                "with_schema_evolution(), which leaves such columns alone",
                code="DELTA_MERGE_UNRESOLVED_EXPRESSION",
            )
    if clause.kind is EditKind.INSERTED:
        return assignments.inserted_columns(schema, given, alias=target_alias, number=sides.number)
    return assignments.updated_columns(schema, given, alias=target_alias)


def parameters(clauses: Sequence[MergeClause], condition: Column | str) -> dict[str, str]:
    """The clauses as a commit tells them."""
    told = {"predicate": dml_metrics.predicate_parameter(condition)}
    for when in When:
        told[when.value] = msgspec.json.encode(
            [
                {"actionType": clause.action}
                if clause.condition is None
                else {"predicate": dml_metrics.condition_text(clause.condition), "actionType": clause.action}
                for clause in clauses_when(clauses, when)
            ]
        ).decode()
    return told


def _source_over_target(mine: Field, theirs: Field, sides: Sides) -> Column:
    """A column of the source in place of the table's, which keeps the fields that only it has."""
    old, new = _column(sides.target_alias, mine.name), sides.source_column(theirs.name)
    return _overlay(old, mine.type, new, theirs.type)


def _overlay(old: Column, mine: DataType, new: Column, theirs: DataType) -> Column:
    match mine, theirs:
        case Struct(fields), Struct() if _has_more_fields(mine, theirs):
            found = ((field, old.getField(field.name), theirs.find(field.name)) for field in fields)
            parts = (
                part if same is None else _overlay(part, field.type, new.getField(same.name), same.type)
                for field, part, same in found
            )
            named = (part.alias(field.name) for part, field in zip(parts, fields, strict=True))
            return F.when(old.isNotNull() | new.isNotNull(), F.struct(*named))
        case _:
            return new


def _has_more_fields(mine: DataType, theirs: DataType) -> bool:
    match mine, theirs:
        case Struct(fields), Struct():
            found = ((field, theirs.find(field.name)) for field in fields)
            return any(same is None or _has_more_fields(field.type, same.type) for field, same in found)
        case _:
            return False


def _column(alias: str, name: str) -> Column:
    return F.col(f"{alias}.{_quoted(name)}")


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
