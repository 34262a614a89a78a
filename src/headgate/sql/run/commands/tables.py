"""What do CREATE, REPLACE, CLONE, DROP and UNDROP TABLE do?"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame

from headgate.errors import InvalidRequest, SchemaNotFound, TableExists, TableNotFound
from headgate.lake.path_table import at_path
from headgate.lake.table import Table
from headgate.registration.registered_lakes import LakeTable
from headgate.sql.run import generated_columns, result_frames, saved_rows
from headgate.sql.run.commands.queries import not_supported
from headgate.sql.run.name_scope import Found, PathTable, table_or_view_not_found
from headgate.sql.run.saved_rows import NewRows
from headgate.sql.run.statement_context import StatementContext
from headgate.sql.run.tables_alike import TableShape, shape_of_frame, shape_of_table
from headgate.sql.statements.create import (
    CloneTable,
    CreateMode,
    CreateTable,
    CreateTableLike,
    DropTable,
    TableClauses,
    UndropTable,
)
from headgate.sql.statements.sql_text import AsOf, TableRef

_FORMATS = ("delta", "headgate")
_OTHERS = ("avro", "binaryfile", "csv", "hive", "iceberg", "jdbc", "json", "orc", "parquet", "text", "xml")
_REPLACES = (CreateMode.REPLACE, CreateMode.CREATE_OR_REPLACE)


def create_table(context: StatementContext, command: CreateTable) -> DataFrame:
    """CREATE or REPLACE TABLE, with columns or with the rows of a query."""
    found = _home(context, command.table)
    _check_clauses(found, command.clauses, is_external=command.is_external)
    if command.mode is CreateMode.IF_NOT_EXISTS and context.scope.exists(found):
        return result_frames.nothing(context.spark)
    if command.query is not None:
        if command.columns is not None:
            raise InvalidRequest(
                "the columns are those of the query: leave the list of columns out", code="PARSE_SYNTAX_ERROR"
            )
        _create_with_rows(context, found, command, context.query(command.query))
    else:
        generated_columns.check_generated_columns(context.spark, command.columns or "")
        shape = TableShape(command.columns or "", command.clauses.partitioned_by, command.clauses.cluster_by)
        _create(context, found, command.mode, shape, command.clauses)
    return result_frames.nothing(context.spark)


def create_like(context: StatementContext, command: CreateTableLike) -> DataFrame:
    """CREATE TABLE … LIKE another, of a lake or of Spark."""
    found = context.require(command.table)
    _check_clauses(found, command.clauses, is_external=False)
    if command.mode is CreateMode.IF_NOT_EXISTS and context.scope.exists(found):
        return result_frames.nothing(context.spark)
    if context.find_table(command.source) is None:
        name = ".".join(f"`{part}`" for part in context.name_parts(command.source))
        shape = shape_of_frame(context.spark.table(name))
    else:
        shape = shape_of_table(context.table(command.source))
    _create(context, found, command.mode, shape, command.clauses)
    return result_frames.nothing(context.spark)


def clone_table(context: StatementContext, command: CloneTable) -> DataFrame:
    """CREATE TABLE … CLONE another."""
    found = _of_lake(_home(context, command.table), "CLONE to a path")
    if command.location is not None:
        raise not_supported(
            "CLONE … LOCATION", "a lake's tables are where its catalog puts them: leave it out"
        )
    if command.mode is CreateMode.IF_NOT_EXISTS and context.scope.exists(found):
        return result_frames.frame(context.spark, result_frames.CLONED, [])
    cloned = _clone(context, found, command)
    entry = next(iter(cloned.log.history(limit=1)), None)
    metrics = {} if entry is None else _numbers(entry.info.operation_metrics)
    named = zip(result_frames.CLONED, _CLONE_METRICS, strict=True)
    counts = {name: metrics.get(metric, 0) for (name, _), metric in named}
    return result_frames.counts(context.spark, result_frames.CLONED, counts)


def drop_table(context: StatementContext, command: DropTable) -> DataFrame:
    """DROP TABLE, which UNDROP brings back unless it says PURGE."""
    found = _of_lake(context.require(command.table), "DROP TABLE of a path")
    name, transaction = str(found.name), context.scope.transaction(found.lake)
    try:
        if transaction is None:
            found.lake.drop_table(name)
        else:
            transaction.drop_table(name)
    except (TableNotFound, SchemaNotFound) as exc:
        if not command.if_exists:
            raise table_or_view_not_found(name) from exc
        return result_frames.nothing(context.spark)
    if command.is_purged:
        saved_rows.refuse_transaction(context.scope, found, "DROP TABLE … PURGE")
        found.lake.purge(name, files=True)
    return result_frames.nothing(context.spark)


def undrop_table(context: StatementContext, command: UndropTable) -> DataFrame:
    """UNDROP TABLE, by its name or by its id."""
    if command.table is None:
        lake = context.scope.lake_or_only()
        entry = next((each for each in lake.dropped() if each.table_id == command.table_id), None)
        if entry is None:
            raise table_or_view_not_found(
                f"with the id {command.table_id}", "SHOW TABLES DROPPED lists what can be had back"
            )
        lake.undrop(str(entry.name), table_id=command.table_id)
        return result_frames.nothing(context.spark)
    found = _of_lake(context.require(command.table), "UNDROP TABLE of a path")
    saved_rows.refuse_transaction(context.scope, found, "UNDROP TABLE")
    found.lake.undrop(str(found.name), table_id=command.table_id)
    return result_frames.nothing(context.spark)


def is_created_here(context: StatementContext, command: CreateTable) -> bool:
    """Whether a new table is a lake's; one of Delta that is nobody's cannot be Spark's either."""
    if context.find_table(command.table) is not None:
        return True
    parts = context.name_parts(command.table)
    is_delta = (command.clauses.provider or "").lower() in _FORMATS
    return is_delta and len(parts) == 2 and not context.spark.catalog.databaseExists(parts[0])


def _home(context: StatementContext, ref: TableRef) -> Found:
    found = context.find_table(ref)
    if found is None:
        name = ".".join(context.name_parts(ref))
        raise SchemaNotFound(f"{name} is in no schema of a lake: SHOW SCHEMAS lists what there is", name=name)
    return found


def _create(
    context: StatementContext, found: Found, mode: CreateMode, shape: TableShape, clauses: TableClauses
) -> None:
    asked: dict[str, Any] = {
        "properties": {**shape.properties, **dict(clauses.properties)},
        "partition_by": clauses.partitioned_by or shape.partition_by,
        "cluster_by": clauses.cluster_by or shape.cluster_by,
    }
    comment = clauses.comment if clauses.comment is not None else shape.comment
    try:
        if isinstance(found, PathTable):
            _create_at_path(context, found, mode, shape, asked)
        elif mode in _REPLACES:
            saved_rows.refuse_transaction(context.scope, found, "REPLACE TABLE")
            or_create = mode is CreateMode.CREATE_OR_REPLACE
            found.lake.replace_table(
                str(found.name), shape.columns, or_create=or_create, comment=comment, **asked
            )
        else:
            maker = context.scope.transaction(found.lake) or found.lake
            maker.create_table(str(found.name), shape.columns, comment=comment, **asked)
    except TableExists as exc:
        if mode is not CreateMode.IF_NOT_EXISTS:  # somebody made it meanwhile
            raise saved_rows.already_exists(found) from exc
    except TableNotFound as exc:
        raise table_or_view_not_found(str(found.name)) from exc


def _create_at_path(
    context: StatementContext, found: PathTable, mode: CreateMode, shape: TableShape, asked: Mapping[str, Any]
) -> None:
    if mode in _REPLACES:
        raise not_supported(
            "REPLACE TABLE at a path",
            "headgate.write_path(df, path, mode='overwrite', overwrite_schema=True)",
        )
    if context.scope.exists(found):
        raise TableExists(f"there is a Delta table at {found.path}", name=found.name)
    at_path(found.path, columns=shape.columns, **asked)


def _create_with_rows(context: StatementContext, found: Found, command: CreateTable, rows: DataFrame) -> None:
    clauses = command.clauses
    options: dict[str, Any] = {"partition_by": clauses.partitioned_by}
    if clauses.cluster_by:
        options["cluster_by"] = clauses.cluster_by
    new = NewRows(rows, clauses.comment, dict(clauses.properties), options)
    if command.mode in _REPLACES:
        or_create = command.mode is CreateMode.CREATE_OR_REPLACE
        saved_rows.replace(context.scope, found, new, or_create=or_create)
        return
    table = saved_rows.save(context.scope, found, "ignore" if _may_exist(command) else "error", new)
    if clauses.comment is not None and table.log.describe().metadata.description is None:
        table.set_comment(clauses.comment)


def _may_exist(command: CreateTable) -> bool:
    return command.mode is CreateMode.IF_NOT_EXISTS


def _clone(context: StatementContext, found: LakeTable, command: CloneTable) -> Table:
    as_of = command.as_of or AsOf()
    source, replaces = context.require(command.source), command.mode in _REPLACES
    transaction = context.scope.transaction(found.lake)
    asked: dict[str, Any] = {
        "shallow": command.is_shallow,
        "replace": replaces,
        "properties": dict(command.properties),
    }
    if command.mode is CreateMode.REPLACE and not context.scope.exists(found):
        raise table_or_view_not_found(str(found.name))
    context.scope.table(source)  # first of all it must be there
    if transaction is not None:
        if command.as_of is not None or isinstance(source, PathTable):
            raise not_supported("CLONE of a path or of another version in a transaction", "COMMIT first")
        return transaction.clone(str(source.name), str(found.name), **asked)
    is_ours = isinstance(source, LakeTable) and source.lake is found.lake
    origin = str(source.name) if is_ours else context.scope.table(source)
    return found.lake.clone(
        origin, str(found.name), version=context.version(as_of), timestamp=context.timestamp(as_of), **asked
    )


def _check_clauses(found: Found, clauses: TableClauses, *, is_external: bool) -> None:
    if clauses.provider is not None and clauses.provider.lower() not in _FORMATS:
        raise InvalidRequest(
            f"tables of a lake are Delta tables, not {clauses.provider}: leave USING out, or say USING delta",
            code="DELTA_UNSUPPORTED_SOURCE"
            if clauses.provider.lower() in _OTHERS
            else "DATA_SOURCE_NOT_FOUND",
        )
    if (clauses.location is not None or is_external) and not isinstance(found, PathTable):
        raise not_supported(
            "CREATE TABLE … LOCATION in a lake",
            "its tables are where the catalog puts them; lake.adopt(path, 'schema.table') takes a table in, "
            "and CREATE TABLE delta.`path` makes one without a catalog",
        )
    if clauses.cluster_auto:
        raise not_supported("CLUSTER BY AUTO", "name the columns")
    if clauses.collation is not None:
        raise not_supported("DEFAULT COLLATION of a table", "say STRING COLLATE … for each column")
    if clauses.options:
        raise not_supported("OPTIONS of a new table", "say TBLPROPERTIES")


def _of_lake(found: Found, form: str) -> LakeTable:
    if isinstance(found, PathTable):
        raise not_supported(form, "it is for tables of a lake; lake.adopt(path, 'schema.table') takes one in")
    return found


_CLONE_METRICS = (
    "sourceTableSize",
    "sourceNumOfFiles",
    "numRemovedFiles",
    "numCopiedFiles",
    "removedFilesSize",
    "copiedFilesSize",
)


def _numbers(metrics: Mapping[str, str] | None) -> dict[str, int]:
    return {name: int(text) for name, text in (metrics or {}).items() if str(text).lstrip("-").isdecimal()}
