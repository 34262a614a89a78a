"""What would a write do? Told before it is done: the columns compared, and what each option would allow."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from typing_extensions import override

from headgate.calls import summary
from headgate.calls.summary import Grid, Summary
from headgate.errors import UserError
from headgate.protocol.features import identity_columns
from headgate.protocol.metadata.implicit_changes import MetadataOutcome, WriteIntent
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema import merging
from headgate.protocol.schema.types import Field, Struct, describe_type
from headgate.spark.data_files import option_rows
from headgate.spark.data_files.write_options import WriteOptions
from headgate.spark.write import append_overwrite
from headgate.table.commit import prepared_write
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ColumnDiff:
    """One column, in the table and in the rows."""

    name: str
    table: str | None
    rows: str | None
    means: str


@dataclass(frozen=True, slots=True)
class WriteAlternative:
    """What the write would do with one choice of options."""

    name: str
    outcome: str
    allowed: bool


@dataclass(frozen=True, slots=True)
class WritePlan:
    """What a write would do; print it to read it."""

    columns: tuple[ColumnDiff, ...]
    options: tuple[WriteAlternative, ...]
    outcome: str
    allowed: bool
    """Whether the write as asked for would be carried out, as far as the columns go."""
    problem: str | None = None

    @property
    def allowed_by(self) -> tuple[str, ...]:
        """The options that would let the write through."""
        return tuple(option.name for option in self.options if option.allowed)

    @override
    def __str__(self) -> str:
        width = max([len(column.name) for column in self.columns] + [6])
        lines = [f"{'column':{width}}  table -> rows"]
        for column in self.columns:
            types = f"{column.table or '(none)'} -> {column.rows or '(none)'}"
            lines.append(f"{column.name:{width}}  {types}: {column.means}")
        lines += ["", f"as asked: {self.outcome}"]
        if self.problem is not None:
            lines.append(f"  {self.problem}")
        lines += [f"with {option.name}: {option.outcome}" for option in self.options]
        return "\n".join(lines)

    @override
    def __repr__(self) -> str:
        return summary.one_line("WritePlan", self.outcome, allowed=self.allowed)

    def _repr_html_(self) -> str:
        columns = tuple((diff.name, diff.table or "", diff.rows or "", diff.means) for diff in self.columns)
        options = tuple((option.name, option.outcome) for option in self.options)
        return summary.to_html(
            Summary(
                "WritePlan",
                (("as asked", self.outcome), ("problem", self.problem or "")),
                (
                    Grid("columns", ("name", "table", "rows", "what it means"), columns),
                    Grid("options", ("with", "outcome"), options),
                ),
            )
        )


def explain_write(table: OpenedTable, df: DataFrame, options: WriteOptions, *, overwrite: bool) -> WritePlan:
    """What a write of ``df`` to the table as it is now would do."""
    base = table.snapshot()
    wish = append_overwrite.write_intent(df, options, overwrite=overwrite)
    outcome, problem = _try_plan(table, base, wish)
    schema = schema_json.parse(base.state.metadata.schema_string)
    choices = _choices(wish, replaces_some=options.replaces_some or options.is_dynamic)
    tried = [(name, *_try_plan(table, base, choice)) for name, choice in choices]
    return WritePlan(
        tuple(_column_diffs(schema, wish.data)),
        tuple(
            WriteAlternative(name, _outcome_text(found), allowed=found is not None)
            for name, found, _ in tried
        ),
        _outcome_text(outcome),
        allowed=outcome is not None,
        problem=problem,
    )


def _choices(wish: WriteIntent, *, replaces_some: bool) -> Iterator[tuple[str, WriteIntent]]:
    yield "no option", replace(wish, can_merge=False, can_overwrite_schema=False)
    yield _asked("merge_schema"), replace(wish, can_merge=True, can_overwrite_schema=False)
    if wish.overwrite and not replaces_some:
        yield _asked("overwrite_schema"), replace(wish, can_overwrite_schema=True)
    yield _asked("implicit_casts"), replace(wish, casts=True)


def _asked(option: str) -> str:
    return option_rows.option_row(option).argument(value=True)


def _try_plan(
    table: OpenedTable, base: Snapshot, wish: WriteIntent
) -> tuple[MetadataOutcome | None, str | None]:
    try:
        found = prepared_write.plan_metadata_change(table.world, base, wish).planned
        identity_columns.check_explicit_inserts(wish.data, found.schema)
        return found.outcome, None
    except UserError as exc:
        return None, str(exc)


def _outcome_text(outcome: MetadataOutcome | None) -> str:
    return "refused" if outcome is None else outcome.value


def _column_diffs(table: Struct, rows: Struct) -> Iterator[ColumnDiff]:
    for column in table.fields:
        found = rows.find(column.name)
        shown = None if found is None else describe_type(found.type)
        yield ColumnDiff(column.name, describe_type(column.type), shown, _means(column, found))
    for column in rows.fields:
        if table.find(column.name) is None:
            yield ColumnDiff(
                column.name, None, describe_type(column.type), "new: added at the end by merge_schema"
            )


def _means(column: Field, found: Field | None) -> str:
    if found is None:
        return "absent: null, its default, or computed" if column.nullable else "absent, and NOT NULL"
    one, other = Struct((column,)), Struct((found,))
    if merging.incompatible_types(one, other):
        return "cannot be merged: cast the rows, or overwrite_schema"
    if new := list(merging.added_columns(one, other)):
        return f"new fields {', '.join(new)}: added by merge_schema"
    if merging.merge_schemas(one, other).fields[0].type != column.type:
        return "widened by merge_schema"
    return "the same" if found.name == column.name else f"the same, written as {column.name}"
