"""What does a text of SQL do? It is parsed, found in a row of ``COMMANDS``, and run by its function.

    run(lake, "DELETE FROM sales.orders WHERE id = :id", {"id": 7}, {}, spark)

A row says whose a statement is: ours if what it names is a lake's or a path, else Spark's, which then gets
the user's text. A query is always run by Spark; only names of lakes in it are replaced by frames.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from headgate.calls import boundary
from headgate.errors import InvalidRequest
from headgate.lake.lake import Lake
from headgate.spark.session import kind
from headgate.sql.parse.statements import parse_statement
from headgate.sql.run import name_scope, spark_methods, sql_error_codes
from headgate.sql.run.commands import (
    alterations,
    changes_of_rows,
    copies,
    descriptions,
    grants,
    insertions,
    listings,
    maintenance,
    queries,
    schemas,
    tables,
    transactions,
)
from headgate.sql.run.name_scope import NameScope
from headgate.sql.run.statement_context import SqlArguments, StatementContext
from headgate.sql.statements import access, alter, create, describe, dml, query
from headgate.sql.statements import maintenance as maintaining
from headgate.sql.statements import transactions as transacting
from headgate.sql.statements.sql_text import TableRef

Command = Any
"""Any of the commands of ``headgate.sql.statements``; a row takes the one it is for."""


def run(
    lake: Lake, text: str, args: SqlArguments, frames: Mapping[str, Any], spark: SparkSession | None
) -> DataFrame:
    """What ``lake.sql`` answers."""
    session = spark or kind.active_session()
    return run_in(name_scope.scope_of_lake(session, lake), text, args, frames)


def run_in_session(
    spark: SparkSession, text: str, args: SqlArguments, frames: Mapping[str, Any]
) -> DataFrame:
    """What ``spark.sql`` answers in a session that knows lakes."""
    with boundary.short_tracebacks():
        return run_in(name_scope.scope_of_session(spark), text, args, frames)


def run_in(scope: NameScope, text: str, args: SqlArguments, frames: Mapping[str, Any]) -> DataFrame:
    """What a text does where names mean what ``scope`` says."""
    try:
        parsed = parse_statement(text)
    except InvalidRequest as refusal:
        if _is_of_lake(scope, refusal.fields.get("table")):
            raise
        return spark_methods.spark_sql(scope.spark, text, args, frames)  # another parser may know it
    context = StatementContext(scope, parsed, args, frames)
    command = context.statement.command
    row = COMMANDS[type(command)]
    if not row.is_ours(context, command):
        return context.run_on_spark()
    with sql_error_codes.stated_codes(command):
        return row.run(context, command)


def _is_of_lake(scope: NameScope, table: object) -> bool:
    """Whether a text that could not be parsed is about a table of a lake, so that Spark need not try."""
    if not isinstance(table, TableRef) or table.parameter is not None:
        return scope.is_of_lake
    return scope.is_of_lake or table.path is not None or scope.find(table.parts) is not None


def _always(_: StatementContext, __: Command) -> bool:
    return True


def _has_table(context: StatementContext, command: Command) -> bool:
    return context.find_table(command.table) is not None


def _has_table_or_lake(context: StatementContext, command: Command) -> bool:
    """Of statements that Spark does not know: what is asked of a lake is never its own."""
    return context.scope.is_of_lake or _has_table(context, command)


def _clones_lake(context: StatementContext, command: Command) -> bool:
    return _has_table_or_lake(context, command) or context.find_table(command.source) is not None


def _has_schema(context: StatementContext, command: Command) -> bool:
    return context.scope.schema_home(command.name) is not None


def _lists_lake(context: StatementContext, command: Command) -> bool:
    scope = context.scope
    if command.schema is None:
        return scope.home is not None
    return scope.schema_home(command.schema) is not None or command.schema[0].lower() in scope.lakes


def _lists_schemas(context: StatementContext, command: Command) -> bool:
    return command.catalog is None or command.catalog[0].lower() in context.scope.lakes


def _has_comment(context: StatementContext, command: Command) -> bool:
    scope, parts = context.scope, context.name_parts(command.name)
    match command.kind:
        case "TABLE":
            return context.find_table(command.name) is not None
        case "COLUMN":
            return scope.find(parts[:-1]) is not None
        case _:
            return scope.schema(parts) is not None


def _has_securable(context: StatementContext, command: Command) -> bool:
    return grants.has_lake(context, command.securable)


def _is_undropped(context: StatementContext, command: Command) -> bool:
    return command.table is None or _has_table_or_lake(context, command)


@dataclass(frozen=True, slots=True)
class CommandRow:
    """One row: what runs a statement, and whether it is for it to run."""

    run: Callable[[StatementContext, Command], DataFrame]
    is_ours: Callable[[StatementContext, Command], bool] = _has_table


COMMANDS: Mapping[type, CommandRow] = {
    query.Query: CommandRow(queries.run_query, _always),
    query.Foreign: CommandRow(queries.run_query, _always),
    query.CreateTempView: CommandRow(queries.create_temp_view, _always),
    query.CreateView: CommandRow(queries.create_view, _always),
    query.CacheTable: CommandRow(queries.cache_table, _always),
    query.UncacheTable: CommandRow(queries.leave_cache),
    query.RefreshTable: CommandRow(queries.leave_cache),
    query.Unsupported: CommandRow(queries.refuse, _always),
    create.CreateTable: CommandRow(tables.create_table, tables.is_created_here),
    create.CreateTableLike: CommandRow(tables.create_like),
    create.CloneTable: CommandRow(tables.clone_table, _clones_lake),
    create.DropTable: CommandRow(tables.drop_table),
    create.UndropTable: CommandRow(tables.undrop_table, _is_undropped),
    create.CreateSchema: CommandRow(schemas.create_schema, _has_schema),
    create.DropSchema: CommandRow(schemas.drop_schema, _has_schema),
    create.AlterSchema: CommandRow(schemas.alter_schema, _has_schema),
    create.UseSchema: CommandRow(schemas.use_schema, _always),
    create.CommentOn: CommandRow(schemas.comment_on, _has_comment),
    alter.AlterTable: CommandRow(alterations.alter_table),
    dml.InsertInto: CommandRow(insertions.insert_into),
    dml.UpdateTable: CommandRow(changes_of_rows.update_table),
    dml.DeleteFrom: CommandRow(changes_of_rows.delete_from),
    dml.TruncateTable: CommandRow(changes_of_rows.truncate_table),
    dml.MergeInto: CommandRow(changes_of_rows.merge_into),
    dml.CopyInto: CommandRow(copies.copy_into, _has_table_or_lake),
    maintaining.OptimizeTable: CommandRow(maintenance.optimize_table, _has_table_or_lake),
    maintaining.VacuumTable: CommandRow(maintenance.vacuum_table, _has_table_or_lake),
    maintaining.RestoreTable: CommandRow(maintenance.restore_table, _has_table_or_lake),
    maintaining.ReorgTable: CommandRow(maintenance.reorg_table, _has_table_or_lake),
    maintaining.GenerateManifest: CommandRow(maintenance.generate_manifest, _has_table_or_lake),
    maintaining.ConvertToDelta: CommandRow(maintenance.convert_to_delta, _has_table_or_lake),
    maintaining.AnalyzeTable: CommandRow(maintenance.refuse_analyze),
    maintaining.RepairTable: CommandRow(maintenance.refuse_repair),
    describe.DescribeTable: CommandRow(descriptions.describe_table),
    describe.DescribeDetail: CommandRow(descriptions.describe_detail, _has_table_or_lake),
    describe.DescribeHistory: CommandRow(descriptions.describe_history, _has_table_or_lake),
    describe.DescribeSchema: CommandRow(schemas.describe_schema, _has_schema),
    describe.ShowTables: CommandRow(listings.show_tables, _lists_lake),
    describe.ShowViews: CommandRow(listings.show_views, _lists_lake),
    describe.ShowSchemas: CommandRow(listings.show_schemas, _lists_schemas),
    describe.ShowCatalogs: CommandRow(listings.show_catalogs, _always),
    describe.ShowColumns: CommandRow(listings.show_columns),
    describe.ShowCreateTable: CommandRow(descriptions.show_create_table),
    describe.ShowTableProperties: CommandRow(listings.show_properties),
    describe.ShowPartitions: CommandRow(listings.show_partitions),
    describe.ShowDomains: CommandRow(listings.show_domains, _has_table_or_lake),
    access.GrantPrivileges: CommandRow(grants.grant_privileges, _has_securable),
    access.RevokePrivileges: CommandRow(grants.revoke_privileges, _has_securable),
    access.ShowGrants: CommandRow(grants.show_grants, _has_securable),
    transacting.BeginTransaction: CommandRow(transactions.begin_transaction, _always),
    transacting.CommitTransaction: CommandRow(transactions.commit_transaction, _always),
    transacting.RollbackTransaction: CommandRow(transactions.rollback_transaction, _always),
}
