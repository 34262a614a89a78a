"""What is to be done to a table as a whole: OPTIMIZE, VACUUM, RESTORE, REORG, GENERATE, CONVERT, ANALYZE?"""

from dataclasses import dataclass
from decimal import Decimal

from headgate.sql.statements.sql_text import AsOf, SqlParameter, SqlText, TableRef


@dataclass(frozen=True, slots=True)
class OptimizeTable:
    """OPTIMIZE t [FULL] [WHERE …] [ZORDER BY (…)]."""

    table: TableRef
    is_full: bool = False
    condition: SqlText | None = None
    zorder_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VacuumTable:
    """VACUUM t [LITE | FULL] [USING INVENTORY …] [RETAIN n HOURS] [DRY RUN]."""

    table: TableRef
    mode: str | None = None
    """LITE or FULL; None if nothing is said."""
    retain_hours: Decimal | SqlParameter | None = None
    is_dry_run: bool = False
    inventory: SqlText | None = None


@dataclass(frozen=True, slots=True)
class RestoreTable:
    """RESTORE [TABLE] t TO VERSION | TIMESTAMP AS OF …"""

    table: TableRef
    as_of: AsOf


@dataclass(frozen=True, slots=True)
class ReorgTable:
    """REORG TABLE t [WHERE …] APPLY (PURGE) or (UPGRADE UNIFORM …), of which ``action`` is the text."""

    table: TableRef
    action: str
    condition: SqlText | None = None

    @property
    def is_purge(self) -> bool:
        """Whether rows that vectors delete are to leave the files."""
        return self.action.upper() == "PURGE"


@dataclass(frozen=True, slots=True)
class GenerateManifest:
    """GENERATE symlink_format_manifest FOR TABLE t."""

    table: TableRef
    mode: str


@dataclass(frozen=True, slots=True)
class ConvertToDelta:
    """CONVERT TO DELTA t | parquet.`/x` [NO STATISTICS] [PARTITIONED BY (p INT)]."""

    table: TableRef
    """A path if one is given, whatever the format."""
    file_format: str | None = None
    """parquet or iceberg, if a path is given."""
    partition_columns: str | None = None
    """The text between the parentheses."""


@dataclass(frozen=True, slots=True)
class AnalyzeTable:
    """ANALYZE TABLE t … COMPUTE STATISTICS …; ``form`` is all that follows the name."""

    table: TableRef
    form: str


@dataclass(frozen=True, slots=True)
class RepairTable:
    """MSCK REPAIR TABLE t …, REPAIR TABLE t …, FSCK REPAIR TABLE t [DRY RUN]."""

    table: TableRef
    form: str
    """MSCK, REPAIR or FSCK."""
    rest: str = ""
    """What follows the name, in capitals: SYNC METADATA, DRY RUN."""
