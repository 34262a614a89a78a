"""What does ALTER TABLE do? Each change is a call of the table, found in a row of ``CHANGES``."""

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Any

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame

from headgate.errors import InvalidRequest
from headgate.lake.table import Table
from headgate.protocol.metadata import char_varchar
from headgate.protocol.metadata.stored_expressions import DEFAULT
from headgate.protocol.schema import column_path
from headgate.protocol.schema.types import Struct, describe_type
from headgate.registration.registered_lakes import LakeTable
from headgate.spark.session import schema as spark_schema
from headgate.sql.run import result_frames, saved_rows, table_columns
from headgate.sql.run.commands.descriptions import type_text
from headgate.sql.run.commands.queries import not_supported
from headgate.sql.run.statement_context import StatementContext
from headgate.sql.statements.alter import (
    AddColumns,
    AddConstraint,
    AlterColumns,
    AlterTable,
    ClusterTableBy,
    ColumnEdit,
    ColumnPath,
    ColumnPlace,
    DropColumns,
    DropConstraint,
    DropFeature,
    NewColumn,
    RenameColumn,
    RenameTable,
    ReplaceColumns,
    SetOwner,
    SetTableDomain,
    SetTableLocation,
    SetTableProperties,
    UnsetTableDomain,
    UnsetTableProperties,
    UnsupportedChange,
)
from headgate.sql.statements.sql_text import SqlText

_COMMENT = "comment"


def alter_table(context: StatementContext, command: AlterTable) -> DataFrame:
    """ALTER TABLE."""
    if isinstance(command.change, RenameTable):
        _rename_table(context, command, command.change)
    else:
        CHANGES[type(command.change)](context, context.table(command.table), command.change)
    return result_frames.nothing(context.spark)


def _add_columns(_: StatementContext, table: Table, change: AddColumns) -> None:
    there = table_columns.schema_of(table)
    wanted = [each for each in change.columns if not (change.if_not_exists and _has(there, each.path))]
    for (parent, place), some in groupby(wanted, lambda each: (each.path[:-1], each.place)):
        columns = list(some)
        if place is not None and len(columns) > 1:
            columns, *rest = (
                ([each] for each in reversed(columns)) if place.after else ([each] for each in columns)
            )
            for each in (columns, *rest):
                _add(table, parent, each, place)
        else:
            _add(table, parent, columns, place)


def _add(table: Table, parent: ColumnPath, columns: Iterable[NewColumn], place: ColumnPlace | None) -> None:
    text = ", ".join(f"{table_columns.quoted(each.path[-1])} {each.definition}" for each in columns)
    for column in spark_schema.table_schema(text).fields:
        if DEFAULT in column.metadata:
            raise InvalidRequest(
                f"the new column {column.name!r} cannot have a default, because rows that are there would "
                "need it too: add the column, and then ALTER COLUMN … SET DEFAULT",
                code="WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED",
            )
    into = column_path.format_path(parent) if parent else None
    table.add_columns(text, into=into, **_position(place))


def _rename_column(_: StatementContext, table: Table, change: RenameColumn) -> None:
    table.rename_column(column_path.format_path(change.path), change.new_name)


def _drop_columns(_: StatementContext, table: Table, change: DropColumns) -> None:
    there = table_columns.schema_of(table)
    wanted = [path for path in change.paths if not (change.if_exists and not _has(there, path))]
    if wanted:
        table.drop_columns(*map(column_path.format_path, wanted))


def _alter_columns(context: StatementContext, table: Table, change: AlterColumns) -> None:
    for edit in change.edits:
        _alter_column(context, table, edit)


def _alter_column(context: StatementContext, table: Table, edit: ColumnEdit) -> None:
    name = column_path.format_path(edit.path)
    if edit.nullable is False:
        raise InvalidRequest(
            f"column {name} cannot become NOT NULL, as rows that are there may be null: say ALTER TABLE … "
            f"ADD CONSTRAINT … CHECK ({name} IS NOT NULL)",
            code="DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP",
        )
    if edit.type is not None and _changes_type(table, edit):
        table.widen_column(name, edit.type)
    if edit.nullable is True:
        table.drop_not_null(name)
    if edit.comment is not None:
        table.set_column_comment(name, edit.comment)
    if edit.default is not None:
        table.set_column_default(name, _default(context, table, edit.path, edit.default))
    if edit.drops_default:
        table.set_column_default(name, None)
    if edit.syncs_identity:
        table.sync_identity(name, spark=context.spark)
    if edit.place is not None:
        table.move_column(name, **_position(edit.place))
    if edit.new_name is not None and edit.new_name.lower() != edit.path[-1].lower():
        table.rename_column(name, edit.new_name)


def _default(context: StatementContext, table: Table, path: ColumnPath, sql: SqlText) -> str:
    """The text of a default, once Spark has computed it as a value of the column."""
    field = table_columns.field_at(table_columns.schema_of(table), path)
    text = context.expression(sql)
    try:
        context.value(SqlText(text), None if field is None else type_text(field))
    except PySparkException as exc:
        unresolved = isinstance(exc, AnalysisException)
        raise InvalidRequest(
            f"{text} is no value of column {column_path.format_path(path)}: give one that names no column",
            code=f"INVALID_DEFAULT_VALUE.{'NOT_CONSTANT' if unresolved else 'DATA_TYPE'}",
        ) from exc
    return text


def _changes_type(table: Table, edit: ColumnEdit) -> bool:
    now = table_columns.field_at(char_varchar.as_declared(table_columns.schema_of(table)), edit.path)
    wanted = spark_schema.table_schema(f"`c` {edit.type}").fields[0].type
    return now is None or describe_type(now.type) != describe_type(wanted)


def _set_properties(_: StatementContext, table: Table, change: SetTableProperties) -> None:
    given = dict(change.properties)
    if _COMMENT in given:
        table.set_comment(given.pop(_COMMENT))
    if given:
        table.set_properties(given)


def _unset_properties(_: StatementContext, table: Table, change: UnsetTableProperties) -> None:
    keys = [key for key in change.keys if key != _COMMENT]
    if len(keys) < len(change.keys):
        table.set_comment(None)
    if keys:
        table.unset_properties(keys, if_exists=True)  # as Spark does, whatever is said


def _add_constraint(context: StatementContext, table: Table, change: AddConstraint) -> None:
    table.add_constraint(change.name, context.expression(change.condition), spark=context.spark)


def _drop_constraint(_: StatementContext, table: Table, change: DropConstraint) -> None:
    table.drop_constraint(change.name, if_exists=change.if_exists)


def _cluster_by(_: StatementContext, table: Table, change: ClusterTableBy) -> None:
    if change.is_auto:
        raise not_supported("CLUSTER BY AUTO", "name the columns")
    table.cluster_by(*change.columns)


def _drop_feature(_: StatementContext, table: Table, change: DropFeature) -> None:
    table.drop_feature(change.feature, truncate_history=change.truncates_history)


def _set_domain(_: StatementContext, table: Table, change: SetTableDomain) -> None:
    table.set_domain(change.domain, change.configuration)


def _unset_domain(_: StatementContext, table: Table, change: UnsetTableDomain) -> None:
    if change.if_exists and table.domain(change.domain) is None:
        return
    table.remove_domain(change.domain)


def _replace_columns(_: StatementContext, __: Table, ___: ReplaceColumns) -> None:
    raise not_supported("ALTER TABLE … REPLACE COLUMNS", "say ADD COLUMNS and DROP COLUMNS, or REPLACE TABLE")


def _set_owner(_: StatementContext, __: Table, ___: SetOwner) -> None:
    raise not_supported(
        "ALTER TABLE … OWNER TO", "whoever creates a table owns it; GRANT lets others do what they may"
    )


def _set_location(_: StatementContext, __: Table, ___: SetTableLocation) -> None:
    raise not_supported("ALTER TABLE … SET LOCATION", "CREATE TABLE … DEEP CLONE puts a table elsewhere")


def _refuse(_: StatementContext, __: Table, change: UnsupportedChange) -> None:
    raise not_supported(change.form, change.instead)


def _rename_table(context: StatementContext, command: AlterTable, change: RenameTable) -> None:
    found = context.require(command.table)
    if not isinstance(found, LakeTable):
        raise not_supported("ALTER TABLE … RENAME TO of a path", "a path is its name: move the files")
    saved_rows.refuse_transaction(context.scope, found, "ALTER TABLE … RENAME TO")
    parts = context.name_parts(change.name)
    if len(parts) == 3 and context.scope.lakes.get(parts[0].lower()) is not found.lake:
        raise not_supported("ALTER TABLE … RENAME TO another lake", "say CREATE TABLE … DEEP CLONE")
    schema = found.name.schema if len(parts) == 1 else parts[-2]
    context.scope.table(found)  # first of all it must be there
    found.lake.rename(str(found.name), f"{schema}.{parts[-1]}")


Change = Callable[[StatementContext, Table, Any], None]
CHANGES: Mapping[type, Change] = {
    AddColumns: _add_columns,
    RenameColumn: _rename_column,
    DropColumns: _drop_columns,
    AlterColumns: _alter_columns,
    ReplaceColumns: _replace_columns,
    SetTableProperties: _set_properties,
    UnsetTableProperties: _unset_properties,
    AddConstraint: _add_constraint,
    DropConstraint: _drop_constraint,
    ClusterTableBy: _cluster_by,
    DropFeature: _drop_feature,
    SetTableDomain: _set_domain,
    UnsetTableDomain: _unset_domain,
    SetOwner: _set_owner,
    SetTableLocation: _set_location,
    UnsupportedChange: _refuse,
}


def _position(place: ColumnPlace | None) -> dict[str, Any]:
    if place is None:
        return {}
    return {"first": True} if place.after is None else {"after": place.after}


def _has(schema: Struct, path: ColumnPath) -> bool:
    return table_columns.field_at(schema, path) is not None
