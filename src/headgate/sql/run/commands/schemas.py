"""What do CREATE, DROP, ALTER, DESCRIBE and USE SCHEMA do, and COMMENT ON?"""

from pyspark.sql import DataFrame

from headgate.errors import InvalidRequest, SchemaExists, SchemaNotFound
from headgate.lake.lake import Lake
from headgate.sql.run import result_frames, session_state
from headgate.sql.run.commands.queries import not_supported
from headgate.sql.run.statement_context import StatementContext
from headgate.sql.statements.create import AlterSchema, CommentOn, CreateSchema, DropSchema, UseSchema
from headgate.sql.statements.describe import DescribeSchema
from headgate.sql.statements.sql_text import TableRef


def create_schema(context: StatementContext, command: CreateSchema) -> DataFrame:
    """CREATE SCHEMA."""
    lake, name = _home(context, command.name)
    if command.comment is not None or command.properties or command.location is not None:
        raise not_supported(
            "CREATE SCHEMA with COMMENT, LOCATION or DBPROPERTIES", "a schema is a name: leave it out"
        )
    if name in {each.lower() for each in lake.schemas()}:
        if not command.if_not_exists:
            raise SchemaExists(f"there is a schema {name} already: say IF NOT EXISTS", name=name)
        return result_frames.nothing(context.spark)
    lake.create_schema(name)
    return result_frames.nothing(context.spark)


def drop_schema(context: StatementContext, command: DropSchema) -> DataFrame:
    """DROP SCHEMA; with CASCADE its tables go for good, with their files."""
    lake, name = _home(context, command.name)
    if name not in {each.lower() for each in lake.schemas()}:
        if command.if_exists:
            return result_frames.nothing(context.spark)
        raise _no_schema(name)
    if command.cascade:
        for table in lake.tables(name):
            lake.drop_table(str(table.name))
        for gone in lake.dropped(name):
            lake.purge(str(gone.name), table_id=gone.table_id, files=True)
    elif lake.tables(name) or lake.dropped(name):
        raise InvalidRequest(
            f"the schema {name} has tables, or dropped ones that UNDROP could bring back: drop them with "
            "DROP TABLE … PURGE, or say DROP SCHEMA … CASCADE",
            code="SCHEMA_NOT_EMPTY",
        )
    lake.drop_schema(name)
    if session_state.schema_in_use(context.spark, lake) == name:
        session_state.leave_schema(context.spark)
    return result_frames.nothing(context.spark)


def alter_schema(_: StatementContext, command: AlterSchema) -> DataFrame:
    """ALTER SCHEMA, of which a lake has nothing to alter."""
    raise not_supported(
        f"ALTER SCHEMA … {command.form}", "a schema is a name; GRANT says who may do what in it"
    )


def use_schema(context: StatementContext, command: UseSchema) -> DataFrame:
    """USE: names without a schema are those of this one from now on."""
    scope = context.scope
    if command.is_catalog or (len(command.name) == 1 and command.name[0].lower() in scope.lakes):
        lake = scope.lakes.get(command.name[0].lower())
        if lake is None:
            return _use_of_spark(context)
        session_state.use_schema(context.spark, lake, "")
        return result_frames.nothing(context.spark)
    found = scope.schema(command.name)
    if found is None or found[1] not in {each.lower() for each in found[0].schemas()}:
        if found is not None:
            raise _no_schema(".".join(command.name))
        return _use_of_spark(context)
    session_state.use_schema(context.spark, *found)
    return result_frames.nothing(context.spark)


def describe_schema(context: StatementContext, command: DescribeSchema) -> DataFrame:
    """DESCRIBE SCHEMA."""
    lake, name = _home(context, command.name)
    if name not in {each.lower() for each in lake.schemas()}:
        raise _no_schema(name)
    rows = [("Catalog Name", context.scope.name_of(lake)), ("Namespace Name", name)]
    return result_frames.frame(context.spark, result_frames.DESCRIBED_SCHEMA, rows)


def comment_on(context: StatementContext, command: CommentOn) -> DataFrame:
    """COMMENT ON TABLE or COLUMN."""
    match command.kind:
        case "TABLE":
            context.table(command.name).set_comment(command.comment)
        case "COLUMN":
            *table, column = context.name_parts(command.name)
            context.table(TableRef(tuple(table))).set_column_comment(f"`{column}`", command.comment)
        case kind:
            raise not_supported(f"COMMENT ON {kind}", "comments are of tables and columns")
    return result_frames.nothing(context.spark)


def _home(context: StatementContext, name: tuple[str, ...]) -> tuple[Lake, str]:
    found = context.scope.schema_home(name)
    if found is None:
        raise _no_schema(".".join(name))
    return found


def _use_of_spark(context: StatementContext) -> DataFrame:
    done = context.run_on_spark()
    session_state.leave_schema(context.spark)
    return done


def _no_schema(name: str) -> SchemaNotFound:
    return SchemaNotFound(f"there is no schema {name}: SHOW SCHEMAS lists what there is", name=name)
