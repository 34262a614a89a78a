"""What did one version do, and what did it change of the table? Read from its commit and its neighbours."""

from collections.abc import Iterator

import msgspec

from headgate.catalog.ports.commits import TableId
from headgate.cli import console, folder, summaries
from headgate.cli.activity import members
from headgate.cli.answers.activity import CommitDetail, DefinitionChange, TransactionMember
from headgate.cli.folder import OpenedLake
from headgate.errors import HeadgateError, ObjectNotFound, VersionNotFound
from headgate.protocol.actions import Action, Commit, Version
from headgate.protocol.log import codec
from headgate.server.console.views import compare_view, version_view
from headgate.server.console.views.schema_view import DefinitionView
from headgate.server.console.views.version_view import ActionLine
from headgate.table.opened_table import OpenedTable

_SET_AS_JSON = ("protocol", "metaData")
ActionText = tuple[str, str, str]
"""An action in words: its kind, what it is about, and what it says of that."""


def describe_commit(
    opened: OpenedLake, name: str, version: int | None, *, limit: int
) -> tuple[CommitDetail, tuple[ActionText, ...]]:
    """A version as JSON has it, and its actions as lines; the latest if no version is named."""
    table = opened.lake.table(name).log
    latest = table.describe().version
    at = Version(latest if version is None else version)
    if at > latest:
        raise VersionNotFound(
            f"{name} has no version {at}: its latest is {latest}", version=at, latest=latest
        )
    commit = _read(table, name, at)
    group, others = _group(opened, name, commit)
    actions = tuple(_actions(commit))
    detail = CommitDetail(
        table=name,
        version=at,
        timestamp=_timestamp(commit),
        operation=None if commit.info is None else commit.info.operation,
        commit=summaries.commit_places(opened, name).get(at, "published"),
        group=group,
        together_with=others,
        files_added=len(commit.adds),
        files_removed=len(commit.removes),
        bytes_added=sum(add.size for add in commit.adds),
        bytes_removed=sum(remove.size or 0 for remove in commit.removes),
        changes=_changes(table, at),
        actions=actions[:limit],
        actions_left_out=max(0, len(actions) - limit),
    )
    lines = [(each.kind, each.subject, _on_one_line(each)) for each in version_view.action_lines(commit)]
    return detail, tuple(lines[:limit])


def _read(table: OpenedTable, name: str, version: Version) -> Commit:
    try:
        return table.commits(version, version)[0]
    except ObjectNotFound as exc:  # cleaned up behind a checkpoint
        raise VersionNotFound(
            f"the commit of version {version} of {name} is no longer in the log: ask for a later one",
            version=version,
        ) from exc


def _timestamp(commit: Commit) -> str | None:
    info = commit.info
    stamp = None if info is None else info.in_commit_timestamp or info.timestamp
    return None if stamp is None else console.format_iso(stamp)


def _actions(commit: Commit) -> Iterator[msgspec.Raw]:
    """The actions as the log has them, what the commit says of itself first."""
    alone: tuple[Action | None, ...] = (commit.info, commit.protocol, commit.metadata)
    several: tuple[Action, ...] = (*commit.txns, *commit.domains, *commit.removes, *commit.adds)
    found = (*(each for each in alone if each is not None), *several)
    for line in codec.encode(found).splitlines():
        yield msgspec.Raw(line)


def _on_one_line(action: ActionLine) -> str:
    """What it says of an action; the console sets what is JSON over several lines."""
    if action.kind in _SET_AS_JSON:
        return msgspec.json.format(action.detail, indent=0)
    return action.detail


def _changes(table: OpenedTable, version: Version) -> tuple[DefinitionChange, ...]:
    """What the version changed of what the table is; nothing where the one before cannot be read any more."""
    after = compare_view.definition_of(table.snapshot(version=version).state)
    before = _definition_before(table, version)
    if before is None:
        return ()
    return tuple(
        DefinitionChange(
            kind=each.kind.value, part=each.part, name=each.name, before=each.before, after=each.after
        )
        for each in compare_view.definition_changes(before, after)
    )


def _definition_before(table: OpenedTable, version: Version) -> DefinitionView | None:
    if version == 0:
        return DefinitionView((), 0, (), (), (), 0, 0, (), "")
    try:
        return compare_view.definition_of(table.snapshot(version=version - 1).state)
    except HeadgateError:
        return None


def _group(opened: OpenedLake, name: str, commit: Commit) -> tuple[str | None, tuple[TransactionMember, ...]]:
    """The transaction that the version was part of, and its other tables."""
    table_id = TableId(summaries.find_entry(opened, name).table_id)
    records = folder.group_records(opened.catalog)
    if records is None:
        said = None if commit.info is None else commit.info.group_id
        return (said if isinstance(said, str) else None), ()
    found = records.groups_with([(table_id, commit.version)])
    if not found:
        return None, ()
    shown = members.describe_members(opened, found[0])
    return found[0].group_id, tuple(each for each in shown if each.table_id != table_id)
