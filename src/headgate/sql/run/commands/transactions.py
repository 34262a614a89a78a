"""What do BEGIN, COMMIT and ROLLBACK do? A transaction of the lake, held by the session until it ends."""

from pyspark.sql import DataFrame

from headgate.errors import InvalidRequest
from headgate.sql.run import result_frames, session_state
from headgate.sql.run.statement_context import StatementContext
from headgate.sql.statements.transactions import BeginTransaction, CommitTransaction, RollbackTransaction


def begin_transaction(context: StatementContext, _: BeginTransaction) -> DataFrame:
    """BEGIN: what follows in this session becomes visible at COMMIT, all at once."""
    lake = context.scope.lake_or_only()
    if session_state.running_transaction(context.spark) is not None:
        raise InvalidRequest(
            "a transaction is running in this session: COMMIT or ROLLBACK it first",
            code="TRANSACTION_ALREADY_ACTIVE",
        )
    transaction = lake.transaction()
    if not session_state.begin(context.spark, lake, transaction):
        transaction.rollback()
        raise InvalidRequest("another thread began a transaction in this session at the same moment")
    return result_frames.nothing(context.spark)


def commit_transaction(context: StatementContext, _: CommitTransaction) -> DataFrame:
    """COMMIT: the version of each table that was written or made."""
    running = session_state.end_transaction(context.spark)
    if running is None:
        raise _none_running()
    versions = running[1].commit()
    return result_frames.frame(context.spark, result_frames.VERSIONS, sorted(versions.items()))


def rollback_transaction(context: StatementContext, _: RollbackTransaction) -> DataFrame:
    """ROLLBACK: nothing happened."""
    running = session_state.end_transaction(context.spark)
    if running is None:
        raise _none_running()
    running[1].rollback()
    return result_frames.nothing(context.spark)


def _none_running() -> InvalidRequest:
    return InvalidRequest(
        "no transaction is running in this session: BEGIN one", code="NO_ACTIVE_TRANSACTION"
    )
