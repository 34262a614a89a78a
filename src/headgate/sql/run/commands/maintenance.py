"""What do OPTIMIZE, VACUUM, RESTORE, REORG, GENERATE and CONVERT do?"""

from datetime import timedelta

from pyspark.sql import DataFrame

from headgate.errors import InvalidRequest
from headgate.lake.path_table import convert
from headgate.protocol import property_values
from headgate.protocol.schema import column_path
from headgate.spark.commands import operation_frames
from headgate.spark.optimize import optimize_result
from headgate.sql.run import qualified_names, result_frames, saved_rows
from headgate.sql.run.commands.queries import not_supported
from headgate.sql.run.statement_context import StatementContext
from headgate.sql.statements.maintenance import (
    AnalyzeTable,
    ConvertToDelta,
    GenerateManifest,
    OptimizeTable,
    ReorgTable,
    RepairTable,
    RestoreTable,
    VacuumTable,
)
from headgate.sql.statements.sql_text import SqlParameter, SqlText

_CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"
_LITE = "LITE"


def optimize_table(context: StatementContext, command: OptimizeTable) -> DataFrame:
    """OPTIMIZE."""
    table = context.table(command.table)
    columns = tuple(column_path.parse_path(name)[0] if "`" in name else name for name in command.zorder_by)
    done = table.optimize(
        _condition(context, command.condition, table.name),
        z_order_by=columns,
        full=command.is_full,
        spark=context.spark,
    )
    return optimize_result.optimize_frame(context.spark, table.location, done, z_ordered=bool(columns))


def vacuum_table(context: StatementContext, command: VacuumTable) -> DataFrame:
    """VACUUM."""
    saved_rows.refuse_transaction(context.scope, context.require(command.table), "VACUUM")
    table = context.table(command.table)
    if command.inventory is not None:
        raise not_supported("VACUUM … USING INVENTORY", "leave it out")
    hours = command.retain_hours
    if isinstance(hours, SqlParameter):
        hours = context.argument(hours)
    checked = property_values.is_true(context.spark.conf.get(_CHECK, "true") or "true")
    done = table.vacuum(
        None if hours is None else timedelta(hours=float(hours)),
        dry_run=command.is_dry_run,
        lite=command.mode == _LITE,
        enforce_retention=checked,
    )
    place = table.location.rstrip("/")
    paths = [f"{place}/{path}" for path in done.paths] if command.is_dry_run else [table.location]
    return result_frames.frame(context.spark, result_frames.VACUUMED, [[path] for path in paths])


def restore_table(context: StatementContext, command: RestoreTable) -> DataFrame:
    """RESTORE TABLE … TO VERSION or TIMESTAMP AS OF."""
    table = context.table(command.table)
    version, moment = context.version(command.as_of), context.timestamp(command.as_of)
    done = table.restore(version=version, timestamp=moment)
    return operation_frames.restore_frame(context.spark, done.metrics)


def reorg_table(context: StatementContext, command: ReorgTable) -> DataFrame:
    """REORG TABLE … APPLY (PURGE)."""
    if not command.is_purge:
        raise not_supported(f"REORG TABLE … APPLY ({command.action})", "APPLY (PURGE) is supported")
    table = context.table(command.table)
    done = table.purge(_condition(context, command.condition, table.name), spark=context.spark)
    return optimize_result.optimize_frame(context.spark, table.location, done)


def generate_manifest(context: StatementContext, command: GenerateManifest) -> DataFrame:
    """GENERATE symlink_format_manifest FOR TABLE."""
    saved_rows.refuse_transaction(context.scope, context.require(command.table), "GENERATE")
    context.table(command.table).generate(command.mode)
    return result_frames.nothing(context.spark)


def convert_to_delta(context: StatementContext, command: ConvertToDelta) -> DataFrame:
    """CONVERT TO DELTA of a folder of parquet files."""
    path = command.table.path
    if path is None:
        raise not_supported("CONVERT TO DELTA of a table by its name", "say CONVERT TO DELTA parquet.`path`")
    if command.file_format is not None and command.file_format.lower() != "parquet":
        raise InvalidRequest(
            f"a folder of {command.file_format} cannot be converted: it must have parquet files",
            code="DELTA_CONVERSION_UNSUPPORTED_FILE_FORMAT",
        )
    convert(path, partition_schema=command.partition_columns)
    return result_frames.nothing(context.spark)


def refuse_analyze(_: StatementContext, __: AnalyzeTable) -> DataFrame:
    """ANALYZE TABLE, which has nothing to do."""
    raise not_supported(
        "ANALYZE TABLE",
        "every write leaves its statistics; lake.check(name) tells of wrong ones",
        code="NOT_SUPPORTED_COMMAND_FOR_V2_TABLE",
    )


def refuse_repair(_: StatementContext, command: RepairTable) -> DataFrame:
    """MSCK, REPAIR and FSCK REPAIR TABLE, of which the calls of Python tell more."""
    raise not_supported(
        f"{command.form} REPAIR TABLE" if command.form != "REPAIR" else "REPAIR TABLE",
        "lake.check(name, repair=True) tells what is wrong and puts right what it can",
    )


def _condition(context: StatementContext, condition: SqlText | None, name: str) -> str | None:
    text = context.optional_expression(condition)
    return None if text is None else qualified_names.without_qualifiers(text, name.rpartition(".")[2])
