"""What do the commands about tables print as JSON?"""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.cli.answers.answer import Answer


class CatalogView(Answer, frozen=True, kw_only=True):
    """How far the catalog ratified a table, and where the commits are that are not published yet."""

    ratified: int
    published: int
    inline: int
    staged: int


class TableSummary(Answer, frozen=True, kw_only=True):
    """One table, in a line."""

    name: str
    id: str
    location: str
    version: int
    last_modified: str | None = None
    num_files: int | None = None
    size_in_bytes: int | None = None
    num_rows: int | None = None
    catalog: CatalogView
    problem: str | None = None
    """Why its log cannot be read, if it cannot."""


class ColumnSummary(Answer, frozen=True, kw_only=True):
    """One column of a table."""

    name: str
    type: str
    nullable: bool
    comment: str | None


class TableDetail(Answer, frozen=True, kw_only=True):
    """One table, in full."""

    table: TableSummary
    created_at: str
    description: str | None
    columns: tuple[ColumnSummary, ...]
    partition_columns: tuple[str, ...]
    properties: Mapping[str, str]
    domains: Mapping[str, str]
    min_reader_version: int
    min_writer_version: int
    table_features: tuple[str, ...]
    sample: tuple[msgspec.Raw, ...] | None = None
    """The first rows, with ``--rows``: an object each."""


class VersionSummary(Answer, frozen=True, kw_only=True):
    """One version of a table's history."""

    version: int
    timestamp: str
    operation: str | None
    operation_parameters: Mapping[str, Any]  # other writers put any JSON here
    operation_metrics: Mapping[str, Any]
    is_blind_append: bool | None
    user_name: str | None
    user_metadata: str | None
    engine_info: str | None
    txn_id: str | None
    commit: str
    """Where the commit is: ``inline``, ``staged`` or ``published``."""


class TableRows(Answer, frozen=True, kw_only=True):
    """Some rows of a table."""

    table: str
    version: int
    columns: tuple[str, ...]
    rows: tuple[msgspec.Raw, ...]
    """An object each."""
    num_rows: int | None
    """How many rows the version has in all; null if a file does not say how many are in it."""


class PublishedTable(Answer, frozen=True, kw_only=True):
    """How far a table was published before and after."""

    table: str
    before: int
    published: int


class TableVersion(Answer, frozen=True, kw_only=True):
    """A table, and the version that a command made or looked at."""

    table: str
    version: int


class PlacedTable(Answer, frozen=True, kw_only=True):
    """A table by its name, and where it is."""

    table: str
    id: str
    location: str


class DroppedTable(Answer, frozen=True, kw_only=True):
    """A table that can be had back."""

    table: str
    id: str
    location: str
    dropped: str | None


class RenamedTable(Answer, frozen=True, kw_only=True):
    """A table that has another name."""

    table: str
    to: str


class PurgedTable(Answer, frozen=True, kw_only=True):
    """A table that is gone for good."""

    table: str
    id: str
    files_deleted: bool


class SchemaChange(Answer, frozen=True, kw_only=True):
    """A schema, and whether the command changed anything."""

    schema: str
    changed: bool


class SchemaSummary(Answer, frozen=True, kw_only=True):
    """A schema, and how many tables are in it."""

    schema: str
    tables: int


class DomainValue(Answer, frozen=True, kw_only=True):
    """A metadata domain of a table."""

    table: str
    domain: str
    configuration: str
