"""Are the catalog's own rows of a table consistent, and what do they say of its log? Port and values."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from headgate.catalog.ports.commits import (
    InlineCommit,
    RatifiedCommit,
    StagedCommit,
    TableId,
    TableState,
    fingerprint,
)
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.protocol.integrity_findings import Finding, new_finding
from headgate.protocol.log import timestamps

CATALOG_DATABASE = "the catalog's database"


@dataclass(frozen=True, slots=True)
class AuditedCommit:
    """One commit as the catalog has it written down; the content only while it is not published."""

    version: Version
    txn_id: TxnId
    in_commit_timestamp: EpochMillis
    size: int
    sha256: str
    file_name: str | None
    content: bytes | None

    @property
    def held(self) -> RatifiedCommit:
        where = (
            StagedCommit(self.file_name) if self.file_name is not None else InlineCommit(self.content or b"")
        )
        return RatifiedCommit(self.version, self.txn_id, self.in_commit_timestamp, where)

    def has_content(self, content: bytes) -> bool:
        """Whether this is what was ratified."""
        return len(content) == self.size and fingerprint(content) == self.sha256


@dataclass(frozen=True)
class CatalogRecords:
    """All that the catalog knows of one table, as of one moment."""

    table_id: TableId
    latest: Version
    published: Version
    latest_timestamp: EpochMillis
    told: TableState | None
    rows: tuple[AuditedCommit, ...]
    torn: tuple[str, ...] = ()
    """What is missing in other tables of groups that this one was part of."""

    @cached_property
    def by_version(self) -> dict[Version, AuditedCommit]:
        return {row.version: row for row in self.rows}

    @property
    def held(self) -> dict[Version, RatifiedCommit]:
        """The commits that are not yet published, where they can be had."""
        return {
            row.version: row.held
            for row in self.rows
            if row.version > self.published and (row.content is not None or row.file_name is not None)
        }


def check_records(books: CatalogRecords) -> Iterator[Finding]:
    """What can be said of the rows without looking at the log."""
    versions = [row.version for row in books.rows]
    last = max(versions, default=None)
    if last != books.latest:
        yield new_finding(
            "latest-differs", CATALOG_DATABASE,
            f"the table's row says that version {books.latest} is the latest, its last commit is {last}",
            version=books.latest,
        )  # fmt: skip
    expected = range(min(versions, default=0), (last if last is not None else -1) + 1)
    for version in sorted(set(expected) - set(versions)):
        yield new_finding(
            "rows-gap", CATALOG_DATABASE, f"there is no row of version {version}", version=version
        )
    if books.published > books.latest:
        yield new_finding(
            "watermark-ahead", CATALOG_DATABASE,
            f"version {books.published} is recorded as published, and {books.latest} is the latest",
            version=books.published,
        )  # fmt: skip
    newest = books.by_version.get(books.latest)
    if newest is not None and newest.in_commit_timestamp != books.latest_timestamp:
        ours, other = map(timestamps.format_timestamp, (books.latest_timestamp, newest.in_commit_timestamp))
        yield new_finding(
            "head-timestamp", CATALOG_DATABASE,
            f"the table's row says {ours}, that of version {books.latest} says {other}",
            version=books.latest,
        )  # fmt: skip
    for what in books.torn:
        yield new_finding(
            "group-torn", CATALOG_DATABASE, f"{what} was ratified with this table, and is not there"
        )


class TableBooks(Protocol):
    """The catalog's books of one table: to be read, and corrected in the two ways that can lose nothing."""

    def read(self) -> CatalogRecords:
        """Everything, as of one moment."""
        ...

    def mark_published(self, version: Version) -> None:
        """Move the watermark; the catalog reads and hashes every file on the way."""
        ...

    def forget_description(self) -> None:
        """Let clients read the log in place of what the catalog keeps of it."""
        ...
