"""What is there to be checked, and where the content of each version is, if it is what was ratified."""

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.catalog.ports.commits import RatifiedCommit, StagedCommit
from headgate.catalog.ports.integrity import CATALOG_DATABASE, AuditedCommit, CatalogRecords
from headgate.errors import CorruptLog, ObjectNotFound
from headgate.protocol.actions import Version
from headgate.protocol.integrity_findings import Finding, new_finding
from headgate.protocol.log import file_names
from headgate.protocol.log.file_names import LogFile, LogFileKind
from headgate.storage.store import Store
from headgate.table.read import log_reader


@dataclass(frozen=True, slots=True)
class Evidence:
    """A table's log as it was listed, and what its catalog or coordinator said after that.

    In this order, because then every file that was listed must be one that is known by now.
    """

    store: Store
    location: str
    listing: tuple[LogFile, ...]
    latest: Version
    unpublished: Mapping[Version, RatifiedCommit]
    books: CatalogRecords | None = None
    unanswered: str | None = None
    """Why a coordinator that can be reached did not say what it holds."""

    def published(self) -> set[Version]:
        """The versions whose published file was listed."""
        return {file.version for file in self.listing if file.kind is LogFileKind.PUBLISHED}

    def checkpoints(self, version: Version | None = None) -> list[tuple[LogFile, ...]]:
        """Every complete checkpoint, or those of one version, oldest first."""
        found_parts: dict[tuple[Version, str], dict[int, LogFile]] = {}
        for file in self.listing:
            if file.kind is LogFileKind.CHECKPOINT and file.size > 0 and version in (None, file.version):
                name = file.path if file.parts == 1 else str(file.parts)
                found_parts.setdefault((file.version, name), {})[file.part] = file
        return [
            tuple(pieces[part] for part in sorted(pieces))
            for _, pieces in sorted(found_parts.items())
            if sorted(pieces) == list(range(1, next(iter(pieces.values())).parts + 1))
        ]

    def row(self, version: Version) -> AuditedCommit | None:
        return None if self.books is None else self.books.by_version.get(version)


@dataclass(frozen=True, slots=True)
class VersionContent:
    """The bytes of a version, None if nobody has them, and what was wrong on the way."""

    version: Version
    data: bytes | None
    findings: tuple[Finding, ...] = ()


def read_version(evidence: Evidence, version: Version) -> VersionContent:
    """The content of a version, as its readers get it if that is possible."""
    row = evidence.row(version)
    if row is None or evidence.books is None:
        return VersionContent(version, _read_as_reader(evidence, version))
    if version > evidence.books.published:
        return _read_held(evidence, row)
    return _read_published(evidence, row)


def _read_as_reader(evidence: Evidence, version: Version) -> bytes | None:
    try:
        return log_reader.commit_content(evidence.store, version, evidence.unpublished.get(version))
    except (ObjectNotFound, CorruptLog):
        return _read(evidence.store, file_names.published_path(version))


def _read_held(evidence: Evidence, row: AuditedCommit) -> VersionContent:
    """A commit that the catalog still holds: its copy counts, and must be right."""
    version, copy = row.version, _catalog_copy(evidence.store, row)
    published = _read(evidence.store, file_names.published_path(version))
    is_published = published is not None and row.has_content(published)
    findings = []
    if published is not None and not is_published:
        findings.append(_differs_finding(row))
    if copy is not None and row.has_content(copy):
        return VersionContent(version, copy, tuple(findings))
    kind = "content" if row.file_name is None else "staged"
    where = CATALOG_DATABASE if row.file_name is None else StagedCommit(row.file_name).path
    if copy is None:
        rule, problem = f"{kind}-missing", f"version {version} is ratified and not recorded as published"
    else:
        rule = f"{kind}-damaged"
        problem = f"it has {len(copy)} bytes and another hash than the {row.size} bytes that were ratified"
    findings.append(new_finding(rule, where, problem, version=version, repairable=is_published))
    return VersionContent(version, published if is_published else None, tuple(findings))


def _read_published(evidence: Evidence, row: AuditedCommit) -> VersionContent:
    """A commit that the catalog saw published: the file must still be what it saw."""
    version, path = row.version, file_names.published_path(row.version)
    content = _read(evidence.store, path)
    if content is not None and row.has_content(content):
        return VersionContent(version, content)
    staged = _catalog_copy(evidence.store, row) if row.file_name is not None else None
    copy = staged if staged is not None and row.has_content(staged) else None
    if content is not None:
        return VersionContent(version, copy or content, (_differs_finding(row),))
    problem = f"the catalog saw version {version} published; the file is no longer there"
    finding = new_finding("published-missing", path, problem, version=version, repairable=copy is not None)
    return VersionContent(version, copy, (finding,))


def _differs_finding(row: AuditedCommit) -> Finding:
    return new_finding(
        "published-differs",
        file_names.published_path(row.version),
        f"its SHA-256 is not {row.sha256}, that of what was ratified as version {row.version}",
        version=row.version,
    )


def _catalog_copy(store: Store, row: AuditedCommit) -> bytes | None:
    """The catalog's own copy, inline or staged."""
    if row.file_name is None:
        return row.content
    return _read(store, StagedCommit(row.file_name).path)


def _read(store: Store, path: str) -> bytes | None:
    try:
        return store.read(path)
    except ObjectNotFound:
        return None


def held_staged_names(evidence: Evidence) -> set[str]:
    """The names of the staged files that the catalog or the coordinator knows."""
    rows = evidence.books.rows if evidence.books is not None else ()
    known = {row.file_name for row in rows if row.file_name is not None}
    for commit in evidence.unpublished.values():
        if isinstance(commit.where, StagedCommit):
            known.add(commit.where.file_name)
    return known
