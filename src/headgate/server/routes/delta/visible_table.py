"""What may a client see of a table that knows files only? Never a version that is in the catalog alone.

The catalog holds 6 (staged), 7 (inline) and 8 (staged), and the log ends with 5. Whoever asks gets latest 8
once 6, 7 and 8 are published, and no commits. If all three were staged, they would be listed, and whoever
reads them reads the staged files. If 7 cannot be published because another file is in its place, a copy of
what was ratified is staged for readers, and is listed with the others.
"""

import logging
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from headgate.catalog.ports.commits import (
    InlineCommit,
    RatifiedCommit,
    StagedCommit,
    TableId,
    TableState,
    fingerprint,
)
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.serving import CommitRecord, LoadedTable, LogHints
from headgate.catalog.wire.delta_api import CommitBody, TableAnswer
from headgate.errors import CorruptLog, ObjectNotFound, StorageUnavailable
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.server.routes.delta import description
from headgate.server.routes.delta.description import LastChange
from headgate.server.routes.delta.session import DeltaSession
from headgate.storage.locate import locate
from headgate.storage.make_folder import make_folder
from headgate.storage.store import ObjectMeta
from headgate.table.read import catalog_tail

_LOG = logging.getLogger(__name__)
_ATTEMPTS = 3
Found = TypeVar("Found")
_NAMESPACE = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")


@dataclass(frozen=True, slots=True)
class VisibleTable:
    """A table at one version, every commit of which can be read by whoever knows files only."""

    entry: TableEntry
    state: TableState
    latest: Version
    published: Version
    commits: tuple[CommitBody, ...]
    """What is not published, oldest first."""
    changed: LastChange | None

    def published_up_to(self, version: Version) -> "VisibleTable":
        """The same, once all versions up to this one are published."""
        left = tuple(commit for commit in self.commits if commit.version > version)
        return replace(self, published=max(version, self.published), commits=left)

    def answer(self, *, extended: bool) -> TableAnswer:
        """The table as the API tells of it."""
        return TableAnswer(
            metadata=description.describe_table(self.entry, self.state, self.changed, extended=extended),
            commits=tuple(reversed(self.commits)),
            latest_table_version=self.latest,
        )


def load_answer(session: DeltaSession, name: TableName, *, inline: bool) -> TableAnswer:
    """A table by its name, as it is now; with ``inline`` for whoever can read commits that are no files."""
    return load_visible(session, name, inline=inline).answer(extended=not session.settings.strict)


def load_visible(session: DeltaSession, name: TableName, *, inline: bool) -> VisibleTable:
    """A table by its name, as it is now."""
    found = _attempt(lambda: make_visible(session, session.catalog.load(name), inline=inline))
    if not inline:
        with suppress(StorageUnavailable):  # whoever only reads does not need it
            make_folder(found.entry.location, file_names.STAGED_FOLDER)  # clients on a disk expect it there
    return found


def load_all_visible(
    session: DeltaSession, names: Sequence[TableName], *, inline: bool
) -> tuple[VisibleTable, ...]:
    """Several tables as they are at one moment."""

    def load() -> tuple[VisibleTable, ...]:
        told = session.catalog.pin(names)
        found = [LoadedTable(entry, told.tails[entry.table_id], LogHints()) for entry in told.entries]
        return tuple(make_visible(session, loaded, inline=inline) for loaded in found)

    return _attempt(load)


def make_visible(session: DeltaSession, loaded: LoadedTable, *, inline: bool) -> VisibleTable:
    """What was loaded, once it can be read; as it was then, so that all of it is of one version."""
    entry, tail = loaded.entry, catalog_tail.require_contiguous(loaded.entry.table_id, loaded.tail)
    commits = tuple(commit for commit in tail.commits if commit.version > tail.published)
    only_held = any(isinstance(commit.where, InlineCommit) for commit in commits)
    many = len(commits) > session.settings.unpublished_limit and not session.settings.strict
    published = tail.published
    if not inline and (only_held or many) and _published(session, entry):
        commits, published = (), tail.latest
    state = tail.description or _state_from_log(session, loaded)
    return VisibleTable(
        entry,
        state,
        tail.latest,
        published,
        commit_bodies(entry, commits, inline=inline),
        description.MOMENTS.last_change(session.catalog, entry.table_id, state.since),
    )


def list_staged(session: DeltaSession, name: TableName) -> tuple[Version, tuple[CommitBody, ...]]:
    """The latest version, and all that was not published when it was asked for, each in a staged file.

    For a client that listed the log before asking, and would miss what is published only now.
    """

    def load() -> tuple[Version, tuple[CommitBody, ...]]:
        loaded = session.catalog.load(name)
        tail = catalog_tail.require_contiguous(loaded.entry.table_id, loaded.tail)
        held = tuple(commit for commit in tail.commits if commit.version > tail.published)
        listed = commit_bodies(loaded.entry, held, inline=False)
        if len(held) > session.settings.unpublished_limit and not session.settings.strict:
            _published(session, loaded.entry)
        return tail.latest, listed

    return _attempt(load)


def stage_published(
    session: DeltaSession, entry: TableEntry, start: int, published: Version, *, most: int
) -> tuple[CommitBody, ...]:
    """Published versions from ``start`` on, the last ``most`` of them, each as a staged copy.

    None from before a version whose published file is not what was ratified.
    """
    records = session.catalog.commits(entry.table_id, before=Version(published + 1), limit=most)
    found: list[CommitBody] = []
    for record in records:
        if record.version < max(start, 1):
            break
        try:
            found.append(_published_copy(entry.location, entry.table_id, record))
        except (ObjectNotFound, CorruptLog):
            break
    return tuple(reversed(found))


@lru_cache(maxsize=10_000)  # what was ratified stays, and so does a copy of it
def _published_copy(location: str, table_id: TableId, record: CommitRecord) -> CommitBody:
    content = locate(location).read(file_names.published_path(record.version))
    if fingerprint(content) != record.sha256:
        raise CorruptLog(f"the published file of version {record.version} is not what was ratified")
    commit = RatifiedCommit(record.version, record.txn_id, record.in_commit_timestamp, None)
    return staged_commit_body(location, commit, _staged_copy(location, table_id, commit, content))


def commit_bodies(
    entry: TableEntry, commits: Iterable[RatifiedCommit], *, inline: bool
) -> tuple[CommitBody, ...]:
    """Commits as the API tells of them; what is published has no file of its own.

    For clients that cannot read inline ones, what is only held is staged first.
    """
    return tuple(_commit_body(entry, commit, inline=inline) for commit in commits)


def staged_commit_body(location: str, commit: RatifiedCommit, staged: StagedCommit) -> CommitBody:
    """A commit by its staged file, which is there."""
    found = staged_file(location, staged.path)
    return CommitBody(
        version=commit.version,
        timestamp=commit.in_commit_timestamp,
        file_name=staged.file_name,
        file_size=found.size,
        file_modification_timestamp=max(found.modified_ms, 1),
    )


@lru_cache(maxsize=10_000)  # a staged file stays what it is
def staged_file(location: str, path: str) -> ObjectMeta:
    """Size and time of a staged file; ``ObjectNotFound`` if it is not there."""
    return locate(location).head(path)


def _attempt(load: Callable[[], Found]) -> Found:
    """What is loaded; once more if a staged file is gone: it was published and cleaned up meanwhile."""
    for _ in range(_ATTEMPTS):
        with suppress(ObjectNotFound):
            return load()
    try:
        return load()
    except ObjectNotFound as exc:
        raise CorruptLog(
            f"a ratified commit is not published, and its staged file is gone: {exc.message}; restore it "
            "from a backup",
            version=exc.fields.get("version"),
        ) from exc


def _published(session: DeltaSession, entry: TableEntry) -> bool:
    """Whether everything is published; not if a file is in the place of a version that it is not."""
    try:
        session.publish(entry)
    except CorruptLog as exc:
        _LOG.warning("a table is served from staged copies, because it cannot be published: %s", exc)
        return False
    return True


def _state_from_log(session: DeltaSession, loaded: LoadedTable) -> TableState:
    """What the table is, where the catalog does not keep it."""
    tables = session.lake.tables_for(session.caller.principal)
    _, opened = tables.open(loaded.entry)
    state = opened.snapshot(version=loaded.tail.latest).state
    return TableState(state.protocol, state.metadata, state.domains, state.txns)


def _commit_body(entry: TableEntry, commit: RatifiedCommit, *, inline: bool) -> CommitBody:
    match commit.where:
        case StagedCommit() as staged:
            return staged_commit_body(entry.location, commit, staged)
        case InlineCommit(content) if inline:
            return CommitBody(
                version=commit.version, timestamp=commit.in_commit_timestamp, content=content.decode()
            )
        case InlineCommit(content):
            return staged_commit_body(
                entry.location, commit, _staged_copy(entry.location, entry.table_id, commit, content)
            )
        case None:
            return CommitBody(version=commit.version, timestamp=commit.in_commit_timestamp)


def _staged_copy(location: str, table_id: TableId, commit: RatifiedCommit, content: bytes) -> StagedCommit:
    """The content of an inline commit in a file that is named the same whoever writes it."""
    named = str(uuid.uuid5(_NAMESPACE, f"{table_id}/{commit.version}/{commit.txn_id}"))
    staged = StagedCommit(file_names.staged_file_name(commit.version, named))
    locate(location).put(staged.path, content)
    return staged
