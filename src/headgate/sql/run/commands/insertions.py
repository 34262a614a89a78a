"""What does INSERT do with the rows of a query: by position or by name, added or in place of others?"""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from headgate.errors import InvalidRequest
from headgate.lake.table import Table
from headgate.protocol.schema.types import Primitive, Struct
from headgate.spark.data_files import option_rows
from headgate.spark.data_files.option_rows import WriteKind
from headgate.spark.data_files.write_options import WriteOptions
from headgate.spark.parquet import logical_columns
from headgate.sql.run import default_values, qualified_names, result_frames, table_columns
from headgate.sql.run.commands.queries import not_supported
from headgate.sql.run.statement_context import StatementContext
from headgate.sql.statements.dml import InsertInto, InsertMode, PartitionValue

_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"
_TEXTS = frozenset({"string", "binary", "variant"})
_TABLE, _ROWS = "t", "s"
"""What ``replace_on`` calls the rows of the table, and the new ones."""


def insert_into(context: StatementContext, command: InsertInto) -> DataFrame:
    """INSERT INTO and INSERT OVERWRITE."""
    table = context.table(command.table)
    if command.if_not_exists:
        raise not_supported("INSERT … IF NOT EXISTS", "leave it out, or say MERGE")
    schema = table_columns.schema_of(table)
    _check_partitions(command, table_columns.partition_columns(table))
    rows = _named_rows(context, command, schema)
    asked = option_rows.parse(dict(command.options), WriteKind.APPEND, WriteKind.OVERWRITE)
    options: dict[str, Any] = {"implicit_casts": True, **asked}
    if command.with_schema_evolution:
        options["merge_schema"] = True
    match command.mode:
        case InsertMode.INTO:
            table.append(rows, **options)
        case InsertMode.OVERWRITE:
            table.overwrite(rows, **options, **_overwritten(context, table, command))
        case InsertMode.REPLACE_WHERE:
            table.overwrite(rows, **options, replace_where=_condition(context, table, command))
        case InsertMode.REPLACE_USING:
            table.overwrite(rows, **options, replace_using=command.using)
        case InsertMode.REPLACE_ON:
            table.overwrite(rows, **options, replace_on=_match(context, table, command))
    return result_frames.nothing(context.spark)


def insert_by_position(table: Table, rows: DataFrame, *, overwrite: bool, options: dict[str, Any]) -> None:
    """The rows of ``df.write.insertInto``: column by column, whatever they are called."""
    named = _by_position(rows, [field.name for field in table_columns.schema_of(table).fields])
    if not overwrite:
        table.append(named, implicit_casts=True, **options)
        return
    if "partition_overwrite" not in options and _is_dynamic(rows.sparkSession.conf.get(_OVERWRITE_MODE)):
        options = {
            **options,
            **({"partition_overwrite": "dynamic"} if table_columns.partition_columns(table) else {}),
        }
    table.overwrite(named, implicit_casts=True, **options)


def _named_rows(context: StatementContext, command: InsertInto, schema: Struct) -> DataFrame:
    """The rows of the query under the names of the table's columns."""
    static = [each for each in command.partition if each.value is not None]
    fixed = {each.column.lower() for each in static}
    names = list(
        command.columns or (field.name for field in schema.fields if field.name.lower() not in fixed)
    )
    _check_columns(schema, [*names, *(each.column for each in static)])
    query, left_out = default_values.with_defaults(command.query, names, schema)
    rows = context.query(query)
    if command.by_name:
        named = rows
    elif command.columns is None and (
        command.with_schema_evolution or WriteOptions().can_merge(context.spark)
    ):
        named = _by_position_or_new(rows, names)
    else:
        named = _by_position(rows, names)
    if left_out:
        named = named.drop(*left_out)
    return _with_partition_values(context, _with_parsed_texts(named, schema), static)


def _with_parsed_texts(rows: DataFrame, schema: Struct) -> DataFrame:
    """Texts as values of columns that are none, as an INSERT of Delta reads them; other casts come later."""
    parsed = {}
    for given in rows.schema.fields:
        field = schema.find(given.name)
        if (
            field is None
            or not isinstance(field.type, Primitive)
            or not isinstance(given.dataType, StringType)
        ):
            continue
        if field.type.name not in _TEXTS and not field.type.name.startswith("interval"):
            column = F.col(table_columns.quoted(given.name))
            parsed[given.name] = column.cast(logical_columns.spark_type(field.type))
    return rows.withColumns(parsed) if parsed else rows


def _by_position(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    given = rows.columns
    if len(given) != len(names):
        few = len(given) < len(names)
        found = "1 column" if len(given) == 1 else f"{len(given)} columns"
        raise InvalidRequest(
            f"the rows have {found}, and the table wants {len(names)} ({', '.join(names)}): "
            + ("give the others too, or name the columns that you give" if few else "leave some out"),
            code="DELTA_INSERT_COLUMN_ARITY_MISMATCH" if few else "DELTA_METADATA_MISMATCH",
        )
    return rows.toDF(*names)


def _by_position_or_new(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """Columns behind those of the table are new ones, by their own names."""
    if len(rows.columns) <= len(names):
        return _by_position(rows, names)
    return rows.toDF(*names, *rows.columns[len(names) :])


def _with_partition_values(
    context: StatementContext, rows: DataFrame, static: Sequence[PartitionValue]
) -> DataFrame:
    values = {
        each.column: F.expr(context.expression(each.value)) for each in static if each.value is not None
    }
    return rows.withColumns(values) if values else rows


def _overwritten(context: StatementContext, table: Table, command: InsertInto) -> dict[str, Any]:
    """Which rows INSERT OVERWRITE replaces: a partition, those that get rows, or all."""
    partitioned = table_columns.partition_columns(table)
    dynamic = _is_dynamic(context.spark.conf.get(_OVERWRITE_MODE))
    static = [each for each in command.partition if each.value is not None]
    if dynamic and partitioned and len(static) < len(partitioned):
        return {"partition_overwrite": "dynamic"}
    if not static:
        return {}
    texts = (
        f"{table_columns.quoted(each.column)} <=> {context.expression(each.value)}"
        for each in static
        if each.value is not None
    )
    return {"replace_where": " AND ".join(texts)}


def _condition(context: StatementContext, table: Table, command: InsertInto) -> str:
    text = context.optional_expression(command.condition) or "true"
    return qualified_names.without_qualifiers(text, command.alias, table.name.rpartition(".")[2])


def _match(context: StatementContext, table: Table, command: InsertInto) -> str:
    text = context.optional_expression(command.condition) or "true"
    names = {command.alias or table.name.rpartition(".")[2]: _TABLE}
    if command.source_alias:
        names[command.source_alias] = _ROWS
    return qualified_names.with_qualifiers(text, names)


def _check_columns(schema: Struct, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if schema.find(name) is None:
            raise InvalidRequest(
                f"the table has no column {name!r}: it has {', '.join(each.name for each in schema.fields)}",
                code="DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
            )
        if name.lower() in seen:
            raise InvalidRequest(f"column {name!r} is named twice", code="DELTA_DUPLICATE_COLUMNS_FOUND")
        seen.add(name.lower())


def _check_partitions(command: InsertInto, partitioned: Sequence[str]) -> None:
    known = {name.lower() for name in partitioned}
    for each in command.partition:
        if each.column.lower() not in known:
            raise InvalidRequest(
                f"the table is not partitioned by {each.column!r}: leave it out of PARTITION",
                code="NON_PARTITION_COLUMN",
            )


def _is_dynamic(mode: str | None) -> bool:
    return (mode or "").lower() == "dynamic"
