"""What does ALTER TABLE change?"""

from dataclasses import dataclass

from headgate.sql.statements.sql_text import Properties, SqlText, TableRef

ColumnPath = tuple[str, ...]
"""The names on the way to a column or a field of one, without their quotes."""


@dataclass(frozen=True, slots=True)
class ColumnPlace:
    """FIRST, or AFTER another column of the same struct."""

    after: str | None = None


@dataclass(frozen=True, slots=True)
class NewColumn:
    """A column of ADD COLUMNS: ``definition`` is its type and all that is said of it but its place."""

    path: ColumnPath
    definition: str
    place: ColumnPlace | None = None


@dataclass(frozen=True, slots=True)
class AddColumns:
    """ADD COLUMN c INT …, ADD COLUMNS (…)."""

    columns: tuple[NewColumn, ...]
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """RENAME COLUMN a TO b."""

    path: ColumnPath
    new_name: str


@dataclass(frozen=True, slots=True)
class DropColumns:
    """DROP COLUMN [IF EXISTS] c, DROP COLUMNS (a, b.c)."""

    paths: tuple[ColumnPath, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class ColumnEdit:
    """What ALTER | CHANGE COLUMN says of one column; None of what it does not speak of."""

    path: ColumnPath
    new_name: str | None = None
    """The second name of CHANGE COLUMN a b INT, also if it is the same."""
    type: str | None = None
    nullable: bool | None = None
    comment: str | None = None
    place: ColumnPlace | None = None
    default: SqlText | None = None
    drops_default: bool = False
    syncs_identity: bool = False


@dataclass(frozen=True, slots=True)
class AlterColumns:
    """ALTER | CHANGE [COLUMN] …, of one column or several."""

    edits: tuple[ColumnEdit, ...]


@dataclass(frozen=True, slots=True)
class ReplaceColumns:
    """REPLACE COLUMNS (a INT, b STRING): the text between the parentheses."""

    columns: str


@dataclass(frozen=True, slots=True)
class SetTableProperties:
    """SET TBLPROPERTIES ('a' = 'b')."""

    properties: Properties


@dataclass(frozen=True, slots=True)
class UnsetTableProperties:
    """UNSET TBLPROPERTIES [IF EXISTS] ('a')."""

    keys: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class AddConstraint:
    """ADD CONSTRAINT name CHECK (condition)."""

    name: str
    condition: SqlText


@dataclass(frozen=True, slots=True)
class DropConstraint:
    """DROP CONSTRAINT [IF EXISTS] name."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class ClusterTableBy:
    """CLUSTER BY (a, b.c), NONE (no columns) or AUTO."""

    columns: tuple[str, ...] = ()
    is_auto: bool = False


@dataclass(frozen=True, slots=True)
class DropFeature:
    """DROP FEATURE name [TRUNCATE HISTORY]."""

    feature: str
    truncates_history: bool = False


@dataclass(frozen=True, slots=True)
class RenameTable:
    """RENAME TO name."""

    name: TableRef


@dataclass(frozen=True, slots=True)
class SetTableDomain:
    """SET DOMAIN 'acme.x' 'text'."""

    domain: str
    configuration: str


@dataclass(frozen=True, slots=True)
class UnsetTableDomain:
    """UNSET | DROP DOMAIN [IF EXISTS] 'acme.x'."""

    domain: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class SetOwner:
    """[SET] OWNER TO principal."""

    owner: str


@dataclass(frozen=True, slots=True)
class SetTableLocation:
    """SET LOCATION 'path'."""

    location: str


@dataclass(frozen=True, slots=True)
class UnsupportedChange:
    """A form of ALTER TABLE that is known and not supported on tables of a lake."""

    form: str
    instead: str = ""


TableChangeClause = (
    AddColumns
    | RenameColumn
    | DropColumns
    | AlterColumns
    | ReplaceColumns
    | SetTableProperties
    | UnsetTableProperties
    | AddConstraint
    | DropConstraint
    | ClusterTableBy
    | DropFeature
    | RenameTable
    | SetTableDomain
    | UnsetTableDomain
    | SetOwner
    | SetTableLocation
    | UnsupportedChange
)


@dataclass(frozen=True, slots=True)
class AlterTable:
    """ALTER TABLE t and what it changes."""

    table: TableRef
    change: TableChangeClause
