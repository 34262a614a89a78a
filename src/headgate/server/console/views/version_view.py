"""What did one version do? Its actions, its changes of the definition, what was ratified with it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.groups import RatifiedGroup
from headgate.protocol.actions import (
    AddFile,
    AppTransaction,
    Commit,
    CommitInfo,
    DomainMetadata,
    RemoveFile,
)
from headgate.protocol.schema import json as schema_json
from headgate.server.console.views import formats

MOST_ACTIONS = 200


@dataclass(frozen=True, slots=True)
class ActionLine:
    """One action of a commit, in a few words and in full."""

    kind: str
    subject: str
    detail: str
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class GroupLine:
    """Another table of the same transaction."""

    table: str | None
    """None if the visitor may not see it."""
    version: int | None
    group_id: str


@dataclass(frozen=True, slots=True)
class CommitView:
    """A commit as a page shows it."""

    actions: tuple[ActionLine, ...]
    left_out: int
    added_files: int
    removed_files: int
    added_bytes: int
    removed_bytes: int
    info: tuple[tuple[str, str], ...]


def commit_view(commit: Commit) -> CommitView:
    """The actions of a commit; of very many only the first."""
    lines = list(_first(action_lines(commit)))
    total = len(commit.adds) + len(commit.removes) + _few(commit)
    return CommitView(
        tuple(lines),
        max(0, total - len(lines)),
        len(commit.adds),
        len(commit.removes),
        sum(add.size for add in commit.adds),
        sum(remove.size or 0 for remove in commit.removes),
        info_lines(commit.info),
    )


def _few(commit: Commit) -> int:
    one_each = (commit.protocol, commit.metadata)
    return len(commit.txns) + len(commit.domains) + sum(action is not None for action in one_each)


def _first(lines: Iterable[ActionLine]) -> Iterable[ActionLine]:
    for number, line in enumerate(lines):
        if number >= MOST_ACTIONS:
            return
        yield line


def action_lines(commit: Commit) -> Iterable[ActionLine]:
    """What a commit does, the rare things first."""
    if (protocol := commit.protocol) is not None:
        named = sorted({*(protocol.reader_features or ()), *(protocol.writer_features or ())})
        yield ActionLine("protocol", ", ".join(named) or "no features", _json(protocol))
    if (metadata := commit.metadata) is not None:
        columns = schema_json.parse(metadata.schema_string).fields
        yield ActionLine("metaData", formats.things(len(columns), "column"), _json(metadata))
    yield from map(_domain_line, commit.domains)
    yield from map(_app_line, commit.txns)
    yield from map(_add_line, commit.adds)
    yield from map(_remove_line, commit.removes)


def _domain_line(found: DomainMetadata) -> ActionLine:
    return ActionLine("domainMetadata", found.domain, "removed" if found.removed else found.configuration)


def _app_line(found: AppTransaction) -> ActionLine:
    return ActionLine("txn", found.app_id, f"version {found.version}")


def _add_line(found: AddFile) -> ActionLine:
    return ActionLine("add", found.path, _file_detail(found, found.stats), found.size)


def _remove_line(found: RemoveFile) -> ActionLine:
    return ActionLine("remove", found.path, _file_detail(found, None), found.size)


def _file_detail(found: AddFile | RemoveFile, stats: str | None) -> str:
    parts = [f"{name}={value}" for name, value in (found.partition_values or {}).items()]
    rows = record_count(stats)
    parts += [] if rows is None else [formats.things(rows, "row")]
    if found.deletion_vector is not None:
        parts.append(f"{formats.things(found.deletion_vector.cardinality, 'row')} deleted")
    if not found.data_change:
        parts.append("no data change")
    return ", ".join(parts)


def record_count(stats: str | None) -> int | None:
    """How many rows a file has, by its statistics."""
    try:
        rows = json.loads(stats or "{}").get("numRecords")
    except (ValueError, AttributeError, RecursionError):
        return None
    return rows if isinstance(rows, int) else None


def info_lines(info: CommitInfo | None) -> tuple[tuple[str, str], ...]:
    """What a commit says of itself, field by field."""
    said: Mapping[str, Any] = {} if info is None else msgspec.to_builtins(info)
    return tuple(
        (name, value if isinstance(value, str) else json.dumps(value)) for name, value in said.items()
    )


def group_lines(group: RatifiedGroup, names: Mapping[TableId, str], but: TableId) -> tuple[GroupLine, ...]:
    """The other tables of a transaction, by the names of those that may be seen."""
    return tuple(
        GroupLine(
            names.get(member.table_id), member.version if member.table_id in names else None, group.group_id
        )
        for member in group.members
        if member.table_id != but
    )


def _json(action: msgspec.Struct) -> str:
    return json.dumps(msgspec.to_builtins(action), indent=2, ensure_ascii=False)
