"""The pages of a version, and of two of them side by side."""

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from headgate.catalog.figures import table_lines
from headgate.catalog.ports.serving import CommitRecord
from headgate.errors import VersionNotFound
from headgate.protocol.actions import Commit, Version
from headgate.server.console import commit_reader
from headgate.server.console.address_numbers import AskedVersion
from headgate.server.console.open_tables import VisitedTable
from headgate.server.console.rendering import page
from headgate.server.console.routes.table_pages import TABLE
from headgate.server.console.views import compare_view, version_view, versions_view
from headgate.server.console.views.compare_view import ChangeLine
from headgate.server.console.views.version_view import GroupLine
from headgate.server.console.visit import Visit, VisitedLake

_MOST_COUNTED = 200
"""Of versions that are farther apart the files between them are not counted."""


@get(f"{TABLE}/versions/{{version:int}}", sync_to_thread=True)
def show_version(
    visit: NamedDependency[Visit], lake: FromPath[str], table: FromPath[str], version: FromPath[int]
) -> Response[str]:
    """What one version did."""
    found = visit.lake(lake)
    opened = found.table(table)
    record = _record(found, opened, version)
    commit = (
        commit_reader.read_commit(opened, record.version)
        if record.size <= commit_reader.LARGEST_READ
        else None
    )
    tail = opened.loaded.tail
    held = {each.version: each for each in tail.commits}
    place = versions_view.commit_place(record.version, tail, held)
    return page(
        visit,
        "version.html",
        found,
        table=table_lines.table_line(opened.loaded),
        tab="versions",
        line=versions_view.version_line(record, None if commit is None else commit.info, place),
        record=record,
        commit=None if commit is None else version_view.commit_view(commit),
        changes=_changes(opened, commit),
        group=_group(found, opened, record.version),
    )


@get(f"{TABLE}/compare", sync_to_thread=True)
def compare_versions(
    visit: NamedDependency[Visit],
    lake: FromPath[str],
    table: FromPath[str],
    older: AskedVersion = None,
    newer: AskedVersion = None,
) -> Response[str]:
    """In what two versions of a table differ."""
    found = visit.lake(lake)
    opened = found.table(table)
    latest = opened.loaded.tail.latest
    second = latest if newer is None else newer
    first = max(0, second - 1) if older is None else older
    first, second = sorted((first, second))
    _require_version(opened, second)
    commits = _between(found, opened, first, second)
    is_same = commits and first >= 0 and not any(map(_changes_definition, commits))
    changes = () if is_same else _differences(opened, first, second)
    return page(
        visit,
        "compare.html",
        found,
        table=table_lines.table_line(opened.loaded),
        tab="versions",
        older=first,
        newer=second,
        changes=changes,
        commits=None if commits is None else len(commits),
        added=None if commits is None else sum(len(each.adds) for each in commits),
        removed=None if commits is None else sum(len(each.removes) for each in commits),
    )


def _record(lake: VisitedLake, table: VisitedTable, version: int) -> CommitRecord:
    _require_version(table, version)
    found = lake.catalog.commits(table.entry.table_id, before=Version(version + 1), limit=1)
    if not found or found[0].version != version:
        raise VersionNotFound(f"version {version} of {table.name} is not known any more", asked=version)
    return found[0]


def _require_version(table: VisitedTable, version: int) -> None:
    latest = table.loaded.tail.latest
    if not 0 <= version <= latest:
        raise VersionNotFound(
            f"there is no version {version} of {table.name}: its latest is {latest}",
            asked=version,
            latest=latest,
        )


def _changes(table: VisitedTable, commit: Commit | None) -> tuple[ChangeLine, ...] | None:
    """What a version changed in the definition; None if the one before it cannot be read."""
    if commit is None or commit.version == 0:
        return ()
    if not _changes_definition(commit):
        return ()
    try:
        return _differences(table, commit.version - 1, commit.version)
    except VersionNotFound:
        return None


def _changes_definition(commit: Commit) -> bool:
    return commit.metadata is not None or commit.protocol is not None or bool(commit.domains)


def _differences(table: VisitedTable, older: int, newer: int) -> tuple[ChangeLine, ...]:
    """In what the definitions of two versions differ; both are loaded from the log."""
    before, after = (table.opened.snapshot(version=each).state for each in (older, newer))
    return compare_view.definition_changes(
        compare_view.definition_of(before), compare_view.definition_of(after)
    )


def _group(lake: VisitedLake, table: VisitedTable, version: Version) -> tuple[GroupLine, ...]:
    """The other tables that were written together with this version."""
    mine = table.entry.table_id
    groups = lake.groups_with([(mine, version)])
    names = lake.visible_names(member.table_id for group in groups for member in group.members)
    return tuple(line for group in groups for line in version_view.group_lines(group, names, mine))


def _between(lake: VisitedLake, table: VisitedTable, first: int, second: int) -> tuple[Commit, ...] | None:
    """The commits after one version up to another; None if they are too many, too large or gone."""
    if second - first > _MOST_COUNTED:
        return None
    before, length = Version(second + 1), second - first
    records = lake.catalog.commits(table.entry.table_id, before=before, limit=length) if length else ()
    if sum(record.size for record in records) > commit_reader.LARGEST_READ:
        return None
    read = (commit_reader.read_commit(table, Version(each)) for each in range(first + 1, second + 1))
    found = tuple(read)
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(found) else None
