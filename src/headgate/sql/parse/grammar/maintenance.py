"""How are OPTIMIZE, VACUUM, RESTORE, REORG, GENERATE, CONVERT, ANALYZE and REPAIR read?"""

from decimal import Decimal

from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sql.parse.reader import StatementReader
from headgate.sql.parse.relations import Place
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
from headgate.sql.statements.query import Foreign
from headgate.sql.statements.sql_text import SqlParameter, SqlText, TableRef
from headgate.sql.statements.statement import Command


def read_optimize(reader: StatementReader) -> Command:
    """OPTIMIZE t [FULL] [WHERE …] [ZORDER BY (…)]."""
    table = reader.path_or_target()
    is_full = reader.accepts("full")
    condition = reader.expression("a condition", "zorder") if reader.accepts("where") else None
    columns: tuple[str, ...] = ()
    if reader.accepts("zorder"):
        reader.require("by")
        columns = reader.in_list(reader.dotted) if reader.sees("(") else _dotted_list(reader)
    return OptimizeTable(table, is_full, condition, columns)


def _dotted_list(reader: StatementReader) -> tuple[str, ...]:
    found = [reader.dotted()]
    while reader.accepts(","):
        found.append(reader.dotted())
    return tuple(found)


def read_vacuum(reader: StatementReader) -> Command:
    """VACUUM t [LITE | FULL] [USING INVENTORY …] [RETAIN n HOURS] [DRY RUN], in any order."""
    table = reader.path_or_target()
    mode: str | None = None
    hours: Decimal | SqlParameter | None = None
    inventory: SqlText | None = None
    is_dry_run = False
    while not reader.is_at_end:
        if reader.accepts("retain"):
            hours = reader.parameter() or _read_hours(reader)
            reader.require("hours")
        elif reader.accepts("dry", "run"):
            is_dry_run = True
        elif reader.accepts("using", "inventory"):
            inventory = _read_inventory(reader)
        elif (said := reader.accepts_any("lite", "full")) and mode is None:
            mode = said.upper()
        else:
            raise reader.unexpected("LITE, FULL, USING INVENTORY, RETAIN or DRY RUN")
    return VacuumTable(table, mode, hours, is_dry_run, inventory)


def _read_hours(reader: StatementReader) -> Decimal:
    return Decimal(reader.number("a number of hours").rstrip("lLsSyYfFdDbB"))


def _read_inventory(reader: StatementReader) -> SqlText:
    begin = reader.index
    if reader.sees("("):
        reader.group()
    else:
        reader.names("the name of a table or a query in parentheses")
    return reader.piece_between(begin, reader.index, Place.BARE_RELATION)


def read_restore(reader: StatementReader) -> Command:
    """RESTORE [TABLE] t [TO] VERSION | TIMESTAMP AS OF …"""
    if reader.tokens.is_name(reader.index + 1):
        reader.accepts("table")
    table = reader.target()
    reader.accepts("to")
    as_of = reader.as_of()
    if as_of is None:
        raise reader.unexpected("VERSION AS OF and a number, or TIMESTAMP AS OF and a moment")
    return RestoreTable(table, as_of)


def read_reorg(reader: StatementReader) -> Command:
    """REORG TABLE t [WHERE …] APPLY (PURGE)."""
    table = reader.target()
    condition = reader.expression("a condition", "apply") if reader.accepts("where") else None
    reader.require("apply")
    if reader.ahead(1) not in ("purge", "upgrade"):
        reader.require("(", "purge")
    action = reader.group_text()
    return ReorgTable(table, action, condition)


def read_generate(reader: StatementReader) -> Command:
    """GENERATE symlink_format_manifest FOR TABLE t."""
    mode = reader.name("symlink_format_manifest")
    reader.require("for", "table")
    return GenerateManifest(reader.target(), mode)


def read_convert(reader: StatementReader) -> Command:
    """CONVERT TO DELTA t | parquet.`/x` [NO STATISTICS] [PARTITIONED BY (…)].

    NO STATISTICS spares nothing here: the footers, which have them, are read for the columns anyway.
    """
    table, file_format = _read_source(reader)
    reader.accepts("no", "statistics")
    columns = reader.group_text() if reader.accepts("partitioned", "by") else None
    return ConvertToDelta(table, file_format, columns)


def _read_source(reader: StatementReader) -> tuple[TableRef, str | None]:
    found = reader.target()
    if len(found.parts) == 2 and found.parts[0].lower() in ("parquet", "iceberg"):
        reader.table = TableRef(path=found.parts[1])
        return reader.table, found.parts[0].lower()
    return found, None


def read_analyze(reader: StatementReader) -> Command:
    """ANALYZE TABLE t …, which is named only."""
    table = reader.target()
    form = reader.tokens.slice(reader.index, reader.tokens.stop)
    reader.index = reader.tokens.stop
    return AnalyzeTable(table, form)


def read_msck(reader: StatementReader) -> Command:
    """MSCK REPAIR TABLE t …"""
    return _read_repair(reader, "MSCK")


def read_repair(reader: StatementReader) -> Command:
    """REPAIR TABLE t …"""
    return _read_repair(reader, "REPAIR")


def read_fsck(reader: StatementReader) -> Command:
    """FSCK REPAIR TABLE t [DRY RUN]."""
    return _read_repair(reader, "FSCK")


def _read_repair(reader: StatementReader, form: str) -> RepairTable:
    table = reader.target()
    rest = " ".join(reader.tokens[index].text.upper() for index in range(reader.index, reader.tokens.stop))
    reader.index = reader.tokens.stop
    return RepairTable(table, form, rest)


def read_analyze_tables(reader: StatementReader) -> Command:
    """ANALYZE TABLES IN s, which is Spark's."""
    reader.index = reader.tokens.stop
    return Foreign()


MAINTENANCE_ROWS: tuple[StatementRow, ...] = (
    StatementRow(
        ("optimize",),
        read_optimize,
        "OPTIMIZE t [FULL] [WHERE …] [ZORDER BY (a, b)]",
        "Writes small files together, arranged by columns if asked.",
        "`table.optimize`",
    ),
    StatementRow(
        ("vacuum",),
        read_vacuum,
        "VACUUM t [LITE | FULL] [RETAIN n HOURS] [DRY RUN]",
        "Deletes files that no version within the time needs.",
        "`table.vacuum`",
    ),
    StatementRow(
        ("restore",),
        read_restore,
        "RESTORE [TABLE] t TO VERSION AS OF n | TIMESTAMP AS OF …",
        "Brings back the rows of an earlier version.",
        "`table.restore`",
    ),
    StatementRow(
        ("reorg", "table"),
        read_reorg,
        "REORG TABLE t [WHERE …] APPLY (PURGE)",
        "Rewrites files without the rows that are deleted.",
        "`table.purge`",
    ),
    StatementRow(
        ("generate",),
        read_generate,
        "GENERATE symlink_format_manifest FOR TABLE t",
        "Writes manifests for engines that read those.",
        "`table.generate`",
    ),
    StatementRow(
        ("convert", "to", "delta"),
        read_convert,
        "CONVERT TO DELTA parquet.`/x` [NO STATISTICS] [PARTITIONED BY (a INT)]",
        "Makes a table of Parquet files where they are; their statistics are taken over in any case.",
        "",
    ),
    StatementRow(
        ("analyze", "table"),
        read_analyze,
        "ANALYZE TABLE t COMPUTE STATISTICS …",
        "Is refused: statistics are written with the rows.",
        "",
    ),
    StatementRow(
        ("analyze", "tables"),
        read_analyze_tables,
        "ANALYZE TABLES …",
        "Concerns tables of Spark's only.",
        "Spark",
    ),
    StatementRow(
        ("msck", "repair", "table"),
        read_msck,
        "MSCK REPAIR TABLE t",
        "Is refused: the log knows the files.",
        "",
    ),
    StatementRow(
        ("repair", "table"), read_repair, "REPAIR TABLE t", "Is refused: the log knows the files.", ""
    ),
    StatementRow(
        ("fsck", "repair", "table"),
        read_fsck,
        "FSCK REPAIR TABLE t [DRY RUN]",
        "Is refused: it would give up rows.",
        "`lake.check`",
    ),
)
