"""What do UPDATE, DELETE, TRUNCATE and MERGE do?"""

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame

from headgate.errors import InvalidRequest
from headgate.lake.table import Table
from headgate.protocol.schema import column_path
from headgate.protocol.schema.types import Struct
from headgate.spark.commands import operation_frames
from headgate.spark.dml.merge.merge import Merge
from headgate.sql.parse.tokens import tokenize_statement
from headgate.sql.run import qualified_names, result_frames, table_columns
from headgate.sql.run.commands.queries import not_supported
from headgate.sql.run.statement_context import StatementContext
from headgate.sql.statements.dml import (
    ColumnAssignment,
    DeleteFrom,
    MatchKind,
    MergeBranch,
    MergeDelete,
    MergeInsert,
    MergeInsertAll,
    MergeInto,
    MergeUpdate,
    MergeUpdateAll,
    TruncateTable,
    UpdateTable,
)
from headgate.sql.statements.sql_text import SqlText

_RANDOM = frozenset(
    {"rand", "random", "randn", "randstr", "uniform", "uuid", "shuffle", "monotonically_increasing_id"}
)
_UNNAMED_SOURCE = "__headgate_source"


def delete_from(context: StatementContext, command: DeleteFrom) -> DataFrame:
    """DELETE FROM."""
    table = context.table(command.table)
    _refuse_ctes(command.ctes, "DELETE")
    where = _condition(context, table, command.condition, command.alias)
    done = table.delete(where, spark=context.spark)
    return _affected(context, done.metrics.get("numDeletedRows"))


def update_table(context: StatementContext, command: UpdateTable) -> DataFrame:
    """UPDATE … SET."""
    table = context.table(command.table)
    _refuse_ctes(command.ctes, "UPDATE")
    schema, names = table_columns.schema_of(table), (command.alias, _own_name(table))
    assigned = _assignments(context, command.assignments, schema, names)
    values = {name: qualified_names.without_qualifiers(text, *names) for name, text in assigned.items()}
    done = table.update(
        values, _condition(context, table, command.condition, command.alias), spark=context.spark
    )
    return _affected(context, done.metrics.get("numUpdatedRows"))


def truncate_table(context: StatementContext, command: TruncateTable) -> DataFrame:
    """TRUNCATE TABLE: all rows go."""
    if command.partition:
        raise not_supported("TRUNCATE TABLE … PARTITION", "say DELETE FROM … WHERE")
    context.table(command.table).delete(spark=context.spark)
    return result_frames.nothing(context.spark)


def merge_into(context: StatementContext, command: MergeInto) -> DataFrame:
    """MERGE INTO."""
    table = context.table(command.table)
    schema = table_columns.schema_of(table)
    target = command.alias or _own_name(table)
    source = _source(context, command)
    alias = command.source_alias or _source_name(command.source) or _UNNAMED_SOURCE
    merge = table.merge(
        source, context.expression(command.condition), target_alias=target, source_alias=alias
    )
    if command.with_schema_evolution:
        merge = merge.with_schema_evolution()
    for branch in command.branches:
        merge = _with_branch(context, merge, branch, schema, (target, alias, source.columns))
    return operation_frames.merge_frame(context.spark, merge.execute().metrics)


def _source(context: StatementContext, command: MergeInto) -> DataFrame:
    parts: list[SqlText | str] = [] if command.ctes is None else [command.ctes]
    rows = context.query(*parts, "SELECT * FROM", command.source)
    return rows.toDF(*command.source_columns) if command.source_columns else rows


def _source_name(source: SqlText) -> str | None:
    """What columns of the source may be qualified with, if it is a name without an alias."""
    tokens, at = tokenize_statement(source.text), 0
    if not tokens.is_name(0):
        return None
    while tokens.sign(at + 1) == "." and tokens.is_name(at + 2):
        at += 2
    return None if tokens.sign(at + 1) == "(" else tokens[at].name


_Names = tuple[str, str, Sequence[str]]
"""What the target and the source are called, and the columns of the source."""


def _with_branch(
    context: StatementContext, merge: Merge, branch: MergeBranch, schema: Struct, names: _Names
) -> Merge:
    condition = context.optional_expression(branch.condition)
    target, source, columns = names
    match branch.kind, branch.action:
        case MatchKind.MATCHED, MergeUpdate(assigned):
            return merge.when_matched_update(condition, _assignments(context, assigned, schema, (target,)))
        case MatchKind.MATCHED, MergeUpdateAll(()):
            return merge.when_matched_update_all(condition)
        case MatchKind.MATCHED, MergeUpdateAll(excluded):
            return merge.when_matched_update(condition, _all_but(excluded, columns, source))
        case MatchKind.MATCHED, MergeDelete():
            return merge.when_matched_delete(condition)
        case MatchKind.NOT_MATCHED, MergeInsert() as insert:
            return merge.when_not_matched_insert(condition, _inserted(context, insert, schema, target))
        case MatchKind.NOT_MATCHED, MergeInsertAll(()):
            return merge.when_not_matched_insert_all(condition)
        case MatchKind.NOT_MATCHED, MergeInsertAll(excluded):
            return merge.when_not_matched_insert(condition, _all_but(excluded, columns, source))
        case MatchKind.NOT_MATCHED_BY_SOURCE, MergeUpdate(assigned):
            values = _assignments(context, assigned, schema, (target,))
            return merge.when_not_matched_by_source_update(condition, values)
        case MatchKind.NOT_MATCHED_BY_SOURCE, MergeDelete():
            return merge.when_not_matched_by_source_delete(condition)
        case _:
            pass
    raise InvalidRequest(
        f"{branch.kind.value} cannot do that: rows that match are updated or deleted, rows of the source "
        "alone are inserted",
        code="PARSE_SYNTAX_ERROR",
    )


def _inserted(
    context: StatementContext, insert: MergeInsert, schema: Struct, target: str
) -> Mapping[str, str]:
    columns = insert.columns or tuple((field.name,) for field in schema.fields)
    if len(columns) != len(insert.values):
        raise InvalidRequest(
            f"INSERT names {len(columns)} columns and has {len(insert.values)} values: give one for each",
            code="MERGE_INSERT_VALUE_COUNT_MISMATCH",
        )
    pairs = zip(columns, insert.values, strict=True)
    assigned = [ColumnAssignment(path, value) for path, value in pairs]
    computed = {field.name.lower() for field in schema.fields if table_columns.is_computed(field)}
    kept = [each for each in assigned if not (each.is_default and each.path[-1].lower() in computed)]
    return _assignments(context, kept, schema, (target,))


def _all_but(excluded: Sequence[str], columns: Sequence[str], source: str) -> Mapping[str, str]:
    without = {name.lower() for name in excluded}
    return {
        table_columns.quoted(name): f"{table_columns.quoted(source)}.{table_columns.quoted(name)}"
        for name in columns
        if name.lower() not in without
    }


def _assignments(
    context: StatementContext,
    given: Sequence[ColumnAssignment],
    schema: Struct,
    names: Sequence[str | None],
) -> Mapping[str, str]:
    """Columns and what they become, DEFAULT being what the column is by default."""
    found: dict[str, str] = {}
    for each in given:
        path = _without_table(each.path, schema, names)
        field = table_columns.field_at(schema, path)
        name = column_path.format_path(path)
        if name in found:
            raise InvalidRequest(f"column {name} is set twice: set it once", code="DELTA_CONFLICT_SET_COLUMN")
        text = table_columns.default_text(field) if each.is_default else context.assigned_value(each.value)
        found[name] = _deterministic(text)
    return found


def _without_table(path: tuple[str, ...], schema: Struct, names: Sequence[str | None]) -> tuple[str, ...]:
    """The path of a column, which may begin with the name of the table, in parts."""
    known = {name.lower() for name in names if name}
    for at in range(1, len(path)):
        if path[at - 1].lower() in known and schema.find(path[at]) is not None:
            return path[at:]
    return path


def _condition(
    context: StatementContext, table: Table, condition: SqlText | None, alias: str | None
) -> str | None:
    text = context.optional_expression(condition)
    if text is None:
        return None
    return qualified_names.without_qualifiers(_deterministic(text), alias, _own_name(table))


def _deterministic(text: str) -> str:
    """The expression, refused if it is another each time that it is computed: rows are looked at twice."""
    tokens = tokenize_statement(text)
    for at, token in enumerate(tokens.tokens):
        if token.word in _RANDOM and tokens.sign(at + 1) == "(":
            raise InvalidRequest(
                f"{token.text}() gives another value each time, so it cannot say what changes, nor to what: "
                "put the values into the source of a MERGE",
                code="INVALID_NON_DETERMINISTIC_EXPRESSIONS",
            )
    return text


def _own_name(table: Table) -> str:
    """The name without its schema; of a path there is none that could be used."""
    return "table" if "`" in table.name else table.name.rpartition(".")[2]


def _affected(context: StatementContext, count: int | None) -> DataFrame:
    return result_frames.frame(context.spark, result_frames.AFFECTED, [[-1 if count is None else count]])


def _refuse_ctes(ctes: SqlText | None, statement: str) -> None:
    if ctes is not None:
        raise not_supported(f"WITH before {statement}", "put the query into the source of a MERGE")
