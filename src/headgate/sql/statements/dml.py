"""Which rows do INSERT, UPDATE, DELETE, TRUNCATE, MERGE and COPY INTO write, and where?"""

from dataclasses import dataclass
from enum import Enum

from headgate.sql.statements.sql_text import Properties, SqlText, TableRef


class InsertMode(Enum):
    """What becomes of the rows that a table has."""

    INTO = "INSERT INTO"
    OVERWRITE = "INSERT OVERWRITE"
    REPLACE_WHERE = "INSERT INTO … REPLACE WHERE"
    REPLACE_USING = "INSERT INTO … REPLACE USING"
    REPLACE_ON = "INSERT INTO … REPLACE ON"


@dataclass(frozen=True, slots=True)
class PartitionValue:
    """A column of PARTITION (a = 1, b); without a value its values come from the query."""

    column: str
    value: SqlText | None = None


@dataclass(frozen=True, slots=True)
class InsertInto:
    """INSERT of a query's rows; the WITH clause before INSERT is a part of the query."""

    table: TableRef
    query: SqlText
    mode: InsertMode = InsertMode.INTO
    columns: tuple[str, ...] | None = None
    by_name: bool = False
    partition: tuple[PartitionValue, ...] = ()
    if_not_exists: bool = False
    condition: SqlText | None = None
    """Of REPLACE WHERE and REPLACE ON."""
    using: tuple[str, ...] = ()
    """The columns of REPLACE USING."""
    alias: str | None = None
    """Of the table, for REPLACE ON."""
    source_alias: str | None = None
    """Of the query, for REPLACE ON."""
    with_schema_evolution: bool = False
    rows: tuple[tuple[SqlText, ...], ...] = ()
    """The values of VALUES (…), (…), if one of them is DEFAULT, which no query can say by itself."""
    options: Properties = ()
    """What WITH ('key' = 'value') says behind the table."""


@dataclass(frozen=True, slots=True)
class ColumnAssignment:
    """``a.b = expression``; the text of the expression may be DEFAULT."""

    path: tuple[str, ...]
    value: SqlText

    @property
    def is_default(self) -> bool:
        """Whether the column gets its default."""
        return self.value.text.upper() == "DEFAULT"


@dataclass(frozen=True, slots=True)
class UpdateTable:
    """UPDATE t [AS alias] SET … [WHERE …]."""

    table: TableRef
    assignments: tuple[ColumnAssignment, ...]
    condition: SqlText | None = None
    alias: str | None = None
    ctes: SqlText | None = None
    """The WITH clause before UPDATE, if there is one."""


@dataclass(frozen=True, slots=True)
class DeleteFrom:
    """DELETE FROM t [AS alias] [WHERE …]."""

    table: TableRef
    condition: SqlText | None = None
    alias: str | None = None
    ctes: SqlText | None = None
    """The WITH clause before DELETE, if there is one."""


@dataclass(frozen=True, slots=True)
class TruncateTable:
    """TRUNCATE TABLE t [PARTITION (…)]."""

    table: TableRef
    partition: tuple[PartitionValue, ...] = ()


class MatchKind(Enum):
    """Which rows a clause of MERGE is for."""

    MATCHED = "WHEN MATCHED"
    NOT_MATCHED = "WHEN NOT MATCHED"
    NOT_MATCHED_BY_SOURCE = "WHEN NOT MATCHED BY SOURCE"


@dataclass(frozen=True, slots=True)
class MergeUpdate:
    """UPDATE SET a = 1, …"""

    assignments: tuple[ColumnAssignment, ...]


@dataclass(frozen=True, slots=True)
class MergeUpdateAll:
    """UPDATE SET * [EXCEPT (…)]."""

    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergeInsert:
    """INSERT (a, …) VALUES (1, …), each column with its value; without columns INSERT VALUES (…)."""

    columns: tuple[tuple[str, ...], ...]
    values: tuple[SqlText, ...]


@dataclass(frozen=True, slots=True)
class MergeInsertAll:
    """INSERT * [EXCEPT (…)]."""

    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergeDelete:
    """DELETE."""


MergeAction = MergeUpdate | MergeUpdateAll | MergeInsert | MergeInsertAll | MergeDelete


@dataclass(frozen=True, slots=True)
class MergeBranch:
    """WHEN … [AND condition] THEN action."""

    kind: MatchKind
    action: MergeAction
    condition: SqlText | None = None


@dataclass(frozen=True, slots=True)
class MergeInto:
    """MERGE [WITH SCHEMA EVOLUTION] INTO t USING source ON condition, and its clauses in order.

    The source is a relation as it stands behind FROM: a name, or a query in parentheses.
    """

    table: TableRef
    source: SqlText
    condition: SqlText
    branches: tuple[MergeBranch, ...]
    alias: str | None = None
    source_alias: str | None = None
    source_columns: tuple[str, ...] = ()
    """Of USING (…) AS s (a, b)."""
    with_schema_evolution: bool = False
    ctes: SqlText | None = None
    """The WITH clause before MERGE, if there is one."""


@dataclass(frozen=True, slots=True)
class CopyInto:
    """COPY INTO t [(columns)] FROM 'place' | (SELECT … FROM 'place') FILEFORMAT = CSV …

    ``query`` is the SELECT if there is one; ``place_start`` and ``place_end`` are around the place in it.
    """

    table: TableRef
    location: str
    file_format: str
    columns: tuple[str, ...] | None = None
    query: SqlText | None = None
    place_start: int = 0
    place_end: int = 0
    files: tuple[str, ...] = ()
    pattern: str | None = None
    format_options: Properties = ()
    copy_options: Properties = ()
    validates_only: bool = False
