"""What do queries, views and caches of tables do?"""

from pyspark.sql import DataFrame

from headgate.errors import InvalidRequest
from headgate.sql.run import result_frames
from headgate.sql.run.statement_context import StatementContext
from headgate.sql.statements.query import (
    CacheTable,
    CreateTempView,
    CreateView,
    Foreign,
    Query,
    RefreshTable,
    UncacheTable,
    Unsupported,
)
from headgate.sql.statements.sql_text import SqlText

NOT_SUPPORTED = "UNSUPPORTED_FEATURE.TABLE_OPERATION"


def run_query(context: StatementContext, _: Query | Foreign) -> DataFrame:
    """SELECT and all else that Spark runs once it has frames in place of names."""
    return context.run_on_spark()


def create_temp_view(context: StatementContext, command: CreateTempView) -> DataFrame:
    """CREATE TEMPORARY VIEW: its tables of lakes are those of this moment."""
    if not _reads_lake(context, command.query):
        return context.run_on_spark()
    rows = context.query(command.query)
    if command.columns:
        rows = rows.toDF(*command.columns)
    match command.is_global, command.or_replace:
        case True, True:
            rows.createOrReplaceGlobalTempView(command.name)
        case True, False:
            rows.createGlobalTempView(command.name)
        case False, True:
            rows.createOrReplaceTempView(command.name)
        case _:
            rows.createTempView(command.name)
    return result_frames.nothing(context.spark)


def create_view(context: StatementContext, command: CreateView) -> DataFrame:
    """CREATE VIEW, which Spark would keep longer than it knows the lake."""
    if not _reads_lake(context, command.query):
        return context.run_on_spark()
    raise not_supported("CREATE VIEW over a table of a lake", "say CREATE TEMPORARY VIEW")


def cache_table(context: StatementContext, command: CacheTable) -> DataFrame:
    """CACHE TABLE of a query; a table of a lake itself is cached as a DataFrame."""
    if command.query is None:
        if context.find_table(command.table) is None:
            return context.run_on_spark()
        raise not_supported(
            "CACHE TABLE of a table of a lake", "say CACHE TABLE name AS SELECT …, or df.cache()"
        )
    if not _reads_lake(context, command.query):
        return context.run_on_spark()
    name = context.name_parts(command.table)[-1]
    context.query(command.query).createOrReplaceTempView(name)
    context.spark.catalog.cacheTable(name)
    if not command.is_lazy:
        context.spark.table(name).count()
    return result_frames.nothing(context.spark)


def leave_cache(context: StatementContext, command: UncacheTable | RefreshTable) -> DataFrame:
    """UNCACHE and REFRESH TABLE: a table of a lake is read anew by every statement."""
    if context.find_table(command.table) is None:
        return context.run_on_spark()
    return result_frames.nothing(context.spark)


def refuse(context: StatementContext, command: Unsupported) -> DataFrame:
    """What is known and not supported, if it is about a table of a lake."""
    if command.table is not None and context.find_table(command.table) is None:
        return context.run_on_spark()
    if command.table is None and context.scope.home is None:
        return context.run_on_spark()
    raise not_supported(command.form, command.instead)


def not_supported(form: str, instead: str = "", *, code: str = NOT_SUPPORTED) -> InvalidRequest:
    """The refusal of a statement, with what does it instead."""
    hint = f": {instead}" if instead else ""
    return InvalidRequest(f"{form} is not supported{hint}", code=code)


def _reads_lake(context: StatementContext, sql: SqlText) -> bool:
    return any(map(context.is_ours, sql.mentions))
