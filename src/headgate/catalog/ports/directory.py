"""What a catalog offers to those who find, name, make and dispose of tables: ports, and their values."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from typing_extensions import override

from headgate.catalog.ports.commits import TableId
from headgate.errors import InvalidRequest, TableNotFound
from headgate.protocol.actions import EpochMillis


@dataclass(frozen=True, slots=True)
class TableName:
    """A table's name within its schema."""

    schema: str
    table: str

    @override
    def __str__(self) -> str:
        return f"{self.schema}.{self.table}"


def parse_name(name: str) -> TableName:
    """What a user calls a table, ``schema.table``, as its two parts."""
    parts = name.split(".")
    if len(parts) != 2 or not all(parts):
        raise InvalidRequest(f"{name!r} is not a table's name: write it as schema.table")
    return TableName(parts[0], parts[1])


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table as the directory knows it."""

    table_id: TableId
    name: TableName
    location: str
    created_ms: EpochMillis
    etag: int = 0
    """Greater after every change that can be seen: a commit, its publication, a name, a drop."""
    dropped_ms: EpochMillis | None = None
    """When it was dropped, if it was."""


@dataclass(frozen=True, slots=True)
class StagingTable:
    """A place reserved for a table that has no name yet."""

    table_id: TableId
    location: str
    properties: Mapping[str, str] = field(default_factory=dict, compare=False)
    """What version 0 must say there besides its id: ``delta.feature.…`` are features that it must have."""


class TableDirectory(Protocol):
    """Finds tables by name; names are unique ignoring case.

    What a table is called has nothing to do with what it is: its id and its location stay the same.
    """

    def stage(self, name: TableName) -> StagingTable:
        """Reserve an id and a location, for a while; ``SchemaNotFound``, or ``TableExists``."""
        ...

    def find_staging(self, table_id: TableId) -> StagingTable:
        """The place reserved under that id, for whoever reserved it; ``TableNotFound`` if there is none."""
        ...

    def register(self, staging: StagingTable, name: TableName) -> TableEntry:
        """Name the staged table, whose version 0 was written; ``TableExists`` if the name is taken.

        Once the reservation has expired it is refused: somebody may be deleting its files. ``NotAllowed`` to
        anyone who did not reserve it.
        """
        ...

    def resolve(self, name: TableName) -> TableEntry:
        """The table of that name, or ``TableNotFound``."""
        ...

    def tables(self, schema: str | None = None) -> tuple[TableEntry, ...]:
        """Every table, or those of one schema, by name."""
        ...

    def drop(self, name: TableName) -> TableEntry:
        """Take the name away; log and data stay where they are."""
        ...


@runtime_checkable
class TableSearch(Protocol):
    """A directory that finds some of very many tables without listing all of them."""

    def search_tables(self, words: str, *, offset: int, limit: int) -> tuple[tuple[TableEntry, ...], int]:
        """Some of the tables that have every one of these words in their names, and how many there are.

        By name, beginning after the first ``offset`` of them, as far as the caller may see them.
        """
        ...


class SchemaDirectory(Protocol):
    """The schemas that tables are in; their names are unique ignoring case."""

    def create_schema(self, schema: str) -> bool:
        """Make a schema; whether it was new."""
        ...

    def schemas(self) -> tuple[str, ...]:
        """Every schema that one may do something in, or see a table of; by name."""
        ...

    def drop_schema(self, schema: str) -> bool:
        """Take away an empty schema with what was granted on it; whether there was one.

        ``InvalidRequest`` while a table is in it, be it one that is being made or was dropped and not purged.
        """
        ...


class TableRenaming(Protocol):
    """Other names for the same tables, and drops that are undone."""

    def resolve_all(self, names: Iterable[TableName]) -> tuple[TableEntry, ...]:
        """The tables of these names, as they are at one moment; ``TableNotFound`` if one is missing."""
        ...

    def resolve_id(self, table_id: TableId) -> TableEntry:
        """The table of that id, whatever its name is by now; ``TableNotFound`` if it was dropped."""
        ...

    def rename(self, name: TableName, to: TableName) -> TableEntry:
        """Give a table another name, in another schema if need be; whoever has it open goes on."""
        ...

    def dropped(self, schema: str | None = None) -> tuple[TableEntry, ...]:
        """What was dropped and can be had back, the latest first."""
        ...

    def undrop(
        self, name: TableName, *, table_id: TableId | None = None, to: TableName | None = None
    ) -> TableEntry:
        """Have back the table of that name that was dropped last, or the one with that id."""
        ...

    def check_may_purge(self, table_id: TableId) -> None:
        """``NotAllowed`` to whoever may not drop the table."""
        ...


class TableDisposal(Protocol):
    """Gets rid of tables for good: first nobody can have them back, then files go, then the last trace."""

    def abandoned(self) -> tuple[StagingTable, ...]:
        """Reserved places whose time is over, and what else was condemned and is not forgotten yet."""
        ...

    def condemned(self, name: TableName) -> tuple[TableId, ...]:
        """The tables that had this name, were dropped and are condemned, the last one dropped first."""
        ...

    def condemn(self, table_id: TableId) -> StagingTable:
        """See that nobody can ever have a dropped or abandoned table back; where its files are."""
        ...

    def forget(self, table_id: TableId) -> None:
        """Delete every trace of a condemned table, once its files are gone."""
        ...

    def forget_keeping_files(self, table_id: TableId) -> None:
        """Forget a dropped table and leave its files where they are; all its versions must be published."""
        ...


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")


def checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidRequest(
            f"{name!r} is not a name: use letters, digits and underscores, not starting with a digit"
        )
    return name.lower()


def normalize_name(name: TableName) -> TableName:
    """The name as it is kept, after checking that it is one."""
    return TableName(checked_name(name.schema), checked_name(name.table))


def never_dropped(table: TableName | str) -> TableNotFound:
    return TableNotFound(
        f"no table {table} was dropped: lake.dropped() lists what can be purged", name=str(table)
    )


@dataclass(frozen=True, slots=True)
class ExternalTable:
    """A table that a lake has a name for, and does not manage."""

    table_id: TableId
    name: TableName
    location: str
    created_ms: EpochMillis


class ExternalTables(Protocol):
    """The ordinary tables of one lake; their names are unique among all of its tables.

    They are seen by whoever may read their schema or the lake. A lake has a place for each name, and no more:
    the commits of such a table are decided where they always were, by its log or by its coordinator.
    Only the owner of the lake says that a place is a table: whoever reads the lake would otherwise be led,
    and be given credentials, wherever somebody likes.
    """

    def register_external(self, name: TableName, place: str) -> ExternalTable:
        """Give a name to the table at ``place``, in the one spelling; again, if it has it.

        For the owner of the lake. ``TableExists`` if the name is taken, or the place overlaps with that of
        another table.
        """
        ...

    def find_external(self, name: TableName) -> ExternalTable:
        """The ordinary table of that name, or ``TableNotFound``."""
        ...

    def external_tables(self, schema: str | None = None) -> tuple[ExternalTable, ...]:
        """Every ordinary table, or those of one schema, by name."""
        ...

    def forget_external(self, name: TableName) -> bool:
        """Take the name away, for the owner of the lake; whether there was one. The table stays as it is."""
        ...
