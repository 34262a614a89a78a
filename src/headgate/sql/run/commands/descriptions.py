"""What do DESCRIBE TABLE, DETAIL and HISTORY tell, and SHOW CREATE TABLE?"""

from collections.abc import Iterator, Sequence

import msgspec
from pyspark.sql import DataFrame

from headgate.errors import InvalidRequest
from headgate.lake.table import Table
from headgate.protocol.actions import Metadata
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import clustering, identity_columns
from headgate.protocol.metadata import char_varchar, type_ddl
from headgate.protocol.metadata.stored_expressions import DEFAULT, GENERATED
from headgate.protocol.schema import column_path
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Field, Map, Struct
from headgate.spark.parquet import logical_columns
from headgate.sql.run import result_frames, sql_literals, table_columns
from headgate.sql.run.commands.queries import not_supported
from headgate.sql.run.statement_context import StatementContext
from headgate.sql.statements.describe import DescribeDetail, DescribeHistory, DescribeTable, ShowCreateTable
from headgate.sql.statements.sql_text import AsOf, SqlParameter
from headgate.table.read.snapshot import Snapshot

_Row = tuple[str, str, str | None]
_HEADING: _Row = ("# col_name", "data_type", "comment")
_COMMENT, _CONSTRAINT = "comment", "delta.constraints."


def describe_table(context: StatementContext, command: DescribeTable) -> DataFrame:
    """DESCRIBE TABLE, now or as of a version."""
    table = context.table(command.table)
    if command.partition is not None:
        raise not_supported("DESCRIBE TABLE … PARTITION", "say SHOW PARTITIONS")
    snapshot = _snapshot(context, table, command.as_of or AsOf())
    if command.as_json:
        return _as_json(context, table, snapshot)
    if command.column is not None:
        return _column(context, snapshot, command.column)
    rows = described_rows(table, snapshot, is_extended=command.is_extended)
    return result_frames.frame(context.spark, result_frames.DESCRIBED, rows)


def describe_detail(context: StatementContext, command: DescribeDetail) -> DataFrame:
    """DESCRIBE DETAIL."""
    return context.table(command.table).detail(spark=context.spark)


def describe_history(context: StatementContext, command: DescribeHistory) -> DataFrame:
    """DESCRIBE HISTORY."""
    limit = context.argument(command.limit) if isinstance(command.limit, SqlParameter) else command.limit
    return context.table(command.table).history(limit=limit, spark=context.spark)


def show_create_table(context: StatementContext, command: ShowCreateTable) -> DataFrame:
    """SHOW CREATE TABLE: a statement that makes a table like this one."""
    text = create_statement(context.table(command.table))
    return result_frames.frame(context.spark, result_frames.CREATE_STATEMENT, [[text]])


def described_rows(table: Table, snapshot: Snapshot, *, is_extended: bool) -> list[_Row]:
    """What DESCRIBE TABLE tells of a table."""
    return [*_columns(snapshot), *(_details(table, snapshot) if is_extended else ())]


def create_statement(table: Table) -> str:
    """A statement that makes a table like this one."""
    snapshot = table.log.snapshot()
    metadata = snapshot.state.metadata
    columns = ",\n  ".join(map(_definition, schema_json.parse(metadata.schema_string).fields))
    lines = [f"CREATE TABLE {table.name} (\n  {columns})", "USING delta"]
    if metadata.partition_columns:
        lines.append(f"PARTITIONED BY ({', '.join(map(column_path.sql_name, metadata.partition_columns))})")
    if clustered := _clustered_by(snapshot):
        lines.append(f"CLUSTER BY ({', '.join(clustered)})")
    if metadata.description is not None:
        lines.append(f"COMMENT {sql_literals.text_literal(metadata.description)}")
    if metadata.configuration:
        pairs = (
            f"{sql_literals.text_literal(key)} = {sql_literals.text_literal(value)}"
            for key, value in sorted(metadata.configuration.items())
        )
        lines.append("TBLPROPERTIES (\n  " + ",\n  ".join(pairs) + ")")
    return "\n".join(lines) + "\n"


def type_text(field: Field) -> str:
    """The type of a column as Spark writes it in small letters."""
    declared = char_varchar.declared_type(field)
    if declared is None:
        return logical_columns.spark_type(field.type).simpleString()
    return type_ddl.type_text(declared)


def _snapshot(context: StatementContext, table: Table, as_of: AsOf) -> Snapshot:
    version, moment = context.version(as_of), context.timestamp(as_of)
    millis = None if moment is None else int(moment.timestamp() * 1000)
    return table.log.snapshot(version=version, timestamp=millis)  # type: ignore[arg-type]  # a number of those


def _columns(snapshot: Snapshot) -> Iterator[_Row]:
    metadata = snapshot.state.metadata
    fields = schema_json.parse(metadata.schema_string)
    yield from map(_row, fields.fields)
    if metadata.partition_columns:
        yield ("# Partition Information", "", "")
        yield _HEADING
        yield from (_row(field) for field in fields.find_all(metadata.partition_columns) if field)


def _details(table: Table, snapshot: Snapshot) -> Iterator[_Row]:
    metadata = snapshot.state.metadata
    yield from _clustering(snapshot)
    yield ("", "", "")
    yield ("# Detailed Table Information", "", "")
    yield ("Name", table.name, "")
    yield ("Type", "EXTERNAL" if "`" in table.name else "MANAGED", "")
    if metadata.description is not None:
        yield ("Comment", metadata.description, "")
    yield ("Location", table.location, "")
    yield ("Provider", "delta", "")
    yield ("Table Properties", _properties(metadata), "")
    constraints = {
        key.removeprefix(_CONSTRAINT): value
        for key, value in metadata.configuration.items()
        if key.startswith(_CONSTRAINT)
    }
    if constraints:
        yield ("", "", "")
        yield ("# Constraints", "", "")
        yield from ((name, f"CHECK ({text})", "") for name, text in sorted(constraints.items()))


def _clustering(snapshot: Snapshot) -> Iterator[_Row]:
    fields, clustered = schema_json.parse(snapshot.state.metadata.schema_string), _clustered_by(snapshot)
    if clustered:
        yield ("# Clustering Information", "", "")
        yield _HEADING
    for name in clustered:
        field = table_columns.field_at(fields, column_path.parse_path(name))
        yield (name, "" if field is None else type_text(field), None if field is None else _comment(field))


def _column(context: StatementContext, snapshot: Snapshot, path: Sequence[str]) -> DataFrame:
    schema = schema_json.parse(snapshot.state.metadata.schema_string)
    field = table_columns.field_at(schema, path)
    if field is None:
        raise InvalidRequest(
            f"the table has no column {'.'.join(path)}: correct the name",
            code="DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
        )
    rows = [("col_name", field.name), ("data_type", type_text(field)), ("comment", _comment(field) or "NULL")]
    return result_frames.frame(context.spark, result_frames.DESCRIBED_COLUMN, rows)


def _as_json(context: StatementContext, table: Table, snapshot: Snapshot) -> DataFrame:
    metadata = snapshot.state.metadata
    schema: Struct = schema_json.parse(metadata.schema_string)
    described = {
        "table_name": table.name.rpartition(".")[2],
        "namespace": [table.name.rpartition(".")[0]],
        "columns": [
            {"name": field.name, "type": {"name": type_text(field)}, "nullable": field.nullable}
            for field in schema.fields
        ],
        "location": table.location,
        "provider": "delta",
        "partition_columns": list(metadata.partition_columns),
        "table_properties": dict(metadata.configuration),
    }
    text = msgspec.json.encode(described).decode()
    return result_frames.frame(context.spark, (("json_metadata", result_frames.TEXT),), [[text]])


def _definition(field: Field) -> str:
    parts = [column_path.sql_name(field.name)]
    stored = _sql_type(char_varchar.declared_type(field) or field.type)
    parts.append(stored.upper() if "<" not in stored else stored)
    if not field.nullable:
        parts.append("NOT NULL")
    if DEFAULT in field.metadata:
        parts.append(f"DEFAULT {field.metadata[DEFAULT]}")
    if GENERATED in field.metadata:
        parts.append(f"GENERATED ALWAYS AS ({field.metadata[GENERATED]})")
    if identity_columns.is_identity(field):
        spec = identity_columns.identity_spec(field)
        how = "BY DEFAULT" if spec.allows_explicit else "ALWAYS"
        parts.append(f"GENERATED {how} AS IDENTITY (START WITH {spec.start} INCREMENT BY {spec.step})")
    if _comment(field) is not None:
        parts.append(f"COMMENT {sql_literals.text_literal(_comment(field) or '')}")
    return " ".join(parts)


def _sql_type(data_type: DataType) -> str:
    """A type as SQL takes it: the names in it may be any."""
    match data_type:
        case Struct(fields):
            inside = (f"{column_path.sql_name(field.name)}:{_sql_type(field.type)}" for field in fields)
            return f"struct<{','.join(inside)}>"
        case Array(element, _):
            return f"array<{_sql_type(element)}>"
        case Map(key, value, _):
            return f"map<{_sql_type(key)},{_sql_type(value)}>"
        case _ if char_varchar.sized_text(data_type) is not None:
            return type_ddl.type_text(data_type)
        case _:
            return logical_columns.spark_type(data_type).simpleString()


def _clustered_by(snapshot: Snapshot) -> Sequence[str]:
    columns = lifecycle.clustering_columns(snapshot.state.domains)
    return tuple(clustering.logical_names(columns, snapshot.state.metadata))


def _properties(metadata: Metadata) -> str:
    return "[" + ",".join(f"{key}={value}" for key, value in sorted(metadata.configuration.items())) + "]"


def _row(field: Field) -> _Row:
    return field.name, type_text(field), _comment(field)


def _comment(field: Field) -> str | None:
    found = field.metadata.get(_COMMENT)
    return None if found is None else str(found)
