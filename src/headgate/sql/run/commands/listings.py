"""What do SHOW TABLES, SCHEMAS, COLUMNS, TBLPROPERTIES, PARTITIONS and DOMAINS list?"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headgate.catalog.ports.directory import TableEntry
from headgate.errors import InvalidRequest, SchemaNotFound
from headgate.lake.lake import Lake
from headgate.lake.table import Table
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.spark.parquet import logical_columns
from headgate.spark.session import local_frame
from headgate.sql.run import result_frames, spark_methods, table_columns
from headgate.sql.run.commands.queries import not_supported
from headgate.sql.run.statement_context import StatementContext
from headgate.sql.statements.describe import (
    ShowCatalogs,
    ShowColumns,
    ShowDomains,
    ShowPartitions,
    ShowSchemas,
    ShowTableProperties,
    ShowTables,
    ShowViews,
)


def show_tables(context: StatementContext, command: ShowTables) -> DataFrame:
    """SHOW TABLES of a schema, or of the whole lake; SHOW TABLES DROPPED, what UNDROP can bring back."""
    if command.is_extended:
        raise not_supported("SHOW TABLE EXTENDED", "say SHOW TABLES, and DESCRIBE TABLE EXTENDED of each")
    lake, schema = _listed_schema(context, command.schema)
    if command.is_dropped:
        gone = _chosen_tables(lake.dropped(schema), command.pattern)
        rows = [_dropped_row(context.scope.name_of(lake), entry) for entry in gone]
        return result_frames.frame(context.spark, result_frames.DROPPED_TABLES, rows)
    found = table_rows(lake, schema, command.pattern)
    views = [
        ("", each.name, True)
        for each in context.spark.catalog.listTables()
        if each.isTemporary and _matches(each.name, command.pattern)
    ]
    return result_frames.frame(context.spark, result_frames.TABLES, [*found, *views])


def show_views(context: StatementContext, command: ShowViews) -> DataFrame:
    """SHOW VIEWS of a schema of a lake, which has none."""
    _listed_schema(context, command.schema)
    columns = (
        ("namespace", result_frames.TEXT),
        ("viewName", result_frames.TEXT),
        ("isTemporary", result_frames.FLAG),
    )
    return result_frames.frame(context.spark, columns, [])


def show_schemas(context: StatementContext, command: ShowSchemas) -> DataFrame:
    """SHOW SCHEMAS of a lake; of a session those of Spark and of its lakes."""
    scope = context.scope
    if command.catalog is None and not scope.is_of_lake:
        theirs = [row[0] for row in context.run_on_spark().collect()]
        lakes: Iterable[Lake] = scope.lakes.values()
    else:
        theirs, lakes = [], [scope.lake_or_only(command.catalog or ())]
    ours = [name for lake in lakes for name in lake.schemas() if _matches(name, command.pattern)]
    rows = [[name] for name in dict.fromkeys([*theirs, *ours])]
    return result_frames.frame(context.spark, result_frames.SCHEMAS, rows)


def show_catalogs(context: StatementContext, command: ShowCatalogs) -> DataFrame:
    """SHOW CATALOGS: those of Spark, and lakes by their names."""
    theirs = [row[0] for row in spark_methods.spark_sql(context.spark, "SHOW CATALOGS", None, {}).collect()]
    names = [name for name in (*theirs, *context.scope.lakes) if _matches(name, command.pattern)]
    return result_frames.frame(
        context.spark, result_frames.CATALOGS, [[name] for name in dict.fromkeys(names)]
    )


def show_columns(context: StatementContext, command: ShowColumns) -> DataFrame:
    """SHOW COLUMNS."""
    rows = column_rows(context.table(command.table))
    return result_frames.frame(context.spark, result_frames.COLUMN_NAMES, rows)


def show_properties(context: StatementContext, command: ShowTableProperties) -> DataFrame:
    """SHOW TBLPROPERTIES, all or one."""
    rows = property_rows(context.table(command.table), command.key)
    return result_frames.frame(context.spark, result_frames.PROPERTIES, rows)


def show_partitions(context: StatementContext, command: ShowPartitions) -> DataFrame:
    """SHOW PARTITIONS: a column for each that the table is partitioned by, from the log alone."""
    snapshot = context.table(command.table).log.snapshot()
    metadata = snapshot.state.metadata
    names = metadata.partition_columns
    if not names:
        raise InvalidRequest(
            "the table is not partitioned, so it has no partitions to show",
            code="DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE",
        )
    schema, mode = schema_json.parse(metadata.schema_string), column_mapping.mapping_mode(metadata)
    fields = [field for field in schema.find_all(names) if field is not None]
    stored = [column_mapping.physical_name(field, mode) for field in fields]
    values = [dict(each) for each in snapshot.files.without_stats["partition_values"].to_pylist()]
    rows = dict.fromkeys(tuple(each.get(name) for name in stored) for each in values)
    texts = pa.table({field.name: [row[at] for row in rows] for at, field in enumerate(fields)},
                     pa.schema([(field.name, pa.string()) for field in fields]))  # fmt: skip
    columns = [
        F.col(table_columns.quoted(field.name)).cast(logical_columns.spark_type(field.type)).alias(field.name)
        for field in fields
    ]
    shown = local_frame.local_frame(context.spark, texts).select(*columns)
    for name, text in command.partition:
        if text is not None:
            shown = shown.where(f"{table_columns.quoted(name)} = {text}")
    return shown.orderBy(*[table_columns.quoted(field.name) for field in fields])


def show_domains(context: StatementContext, command: ShowDomains) -> DataFrame:
    """SHOW DOMAINS of a table."""
    rows = domain_rows(context.table(command.table), command.pattern)
    return result_frames.frame(context.spark, result_frames.DOMAINS, rows)


def table_rows(lake: Lake, schema: str | None, pattern: str | None) -> list[tuple[str, str, bool]]:
    """The tables of a lake or of a schema of it, as SHOW TABLES lists them."""
    chosen = _chosen_tables(lake.tables(schema), pattern)
    return [(entry.name.schema, entry.name.table, False) for entry in chosen]


def schema_rows(lake: Lake, pattern: str | None) -> list[tuple[str]]:
    """The schemas of a lake, as SHOW SCHEMAS lists them."""
    return [(name,) for name in lake.schemas() if _matches(name, pattern)]


def column_rows(table: Table) -> list[tuple[str]]:
    """The columns of a table, as SHOW COLUMNS lists them."""
    return [(field.name,) for field in table_columns.schema_of(table).fields]


def property_rows(table: Table, key: str | None) -> list[tuple[str, str]]:
    """The properties of a table, or one of them, as SHOW TBLPROPERTIES lists them."""
    found = dict(sorted(table.properties().items()))
    if key is not None:
        found = {key: found.get(key, f"Table {table.name} does not have property: {key}")}
    return list(found.items())


def domain_rows(table: Table, pattern: str | None) -> list[tuple[str, str]]:
    """The metadata domains of a table, as SHOW DOMAINS lists them."""
    return [(name, text) for name, text in sorted(table.domains().items()) if _matches(name, pattern)]


def _listed_schema(context: StatementContext, name: Sequence[str] | None) -> tuple[Lake, str | None]:
    """Whose tables are listed: those of the schema that is named, of the one in use, or of the lake."""
    scope = context.scope
    if name is None:
        used = scope.in_use
        return (scope.lake_or_only(), None) if used is None or not used[1] else used
    if len(name) == 1 and scope.schema(name) is None and name[0].lower() in scope.lakes:
        return scope.lakes[name[0].lower()], None
    found = scope.schema_home(name)
    if found is None or found[1] not in {each.lower() for each in found[0].schemas()}:
        raise SchemaNotFound(f"there is no schema {'.'.join(name)}: SHOW SCHEMAS lists what there is")
    return found


def _chosen_tables(entries: Iterable[TableEntry], pattern: str | None) -> list[TableEntry]:
    return [entry for entry in entries if _matches(entry.name.table, pattern)]


def _dropped_row(lake: str, entry: TableEntry) -> tuple[object, ...]:
    gone = None if entry.dropped_ms is None else datetime.fromtimestamp(entry.dropped_ms / 1000, UTC)
    return lake, entry.name.schema, entry.name.table, entry.table_id, gone


def _matches(name: str, pattern: str | None) -> bool:
    """As Spark matches: ``*`` is anything, ``|`` is or, and case does not count."""
    if pattern is None:
        return True
    choices = (re.escape(each).replace(r"\*", ".*") for each in pattern.split("|"))
    return any(re.fullmatch(each, name, re.IGNORECASE) for each in choices)
