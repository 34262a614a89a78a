"""Which files does each batch of a stream have? The offsets and the log alone decide, whenever it is asked.

    stream = TableStream(table, StreamReadOptions(), table.snapshot())
    end = stream.latest_offset(None)                  the end of the first batch
    stream.batch(None, end)                           its files: the same after a restart, and ten days later

Versions are asked for by their numbers, up to the latest one that the table's catalog tells: what is ratified
and not yet published is among them, and none is passed over because a listing did not have it.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headgate.errors import (
    CorruptLog,
    InvalidRequest,
    ObjectNotFound,
    SchemaMismatch,
    UserError,
    VersionNotFound,
)
from headgate.protocol import table_features
from headgate.protocol.actions import AddFile, Commit, EpochMillis, Metadata, Version
from headgate.protocol.schema import partitioning
from headgate.table.opened_table import OpenedTable
from headgate.table.read.change_files import VersionChanges, VersionRange
from headgate.table.read.snapshot import Snapshot
from headgate.table.stream import (
    commit_files,
    schema_changes,
    schema_tracking,
    stream_offsets,
    stream_start,
)
from headgate.table.stream.admission import FileUnit, ReadLimits, advance
from headgate.table.stream.schema_changes import ReadColumns
from headgate.table.stream.stream_offsets import StreamOffset, VersionSlice
from headgate.table.stream.stream_read_settings import StreamReadOptions

_AHEAD = 16
"""How many commits are read at once."""
_KEPT = 64
"""How many commits are kept: a batch is planned, and then read."""


@dataclass(frozen=True, slots=True)
class InitialFiles:
    """Files of the initial snapshot, as columns, and of which version."""

    version: Version
    files: pa.Table


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """The files of a batch: those whose rows it has, or for a change feed the changes of each version."""

    initial: InitialFiles | None = None
    added: tuple[AddFile, ...] = ()
    changes: tuple[VersionChanges, ...] = ()
    failure: UserError | None = None
    """Why the batch cannot be read: a version is gone, or an option that passed over one is."""


@dataclass(frozen=True, slots=True)
class _InitialSnapshot:
    """The live files of a version, oldest first: whoever asks again finds them in the same order."""

    version: int
    files: pa.Table
    units: Sequence[FileUnit]

    @classmethod
    def read(cls, version: int, found: Snapshot, asked: StreamReadOptions) -> "_InitialSnapshot":
        files = found.files.without_stats
        if asked.exclude_regex is not None:
            kept = [not commit_files.is_excluded(path, asked) for path in files["path"].to_pylist()]
            files = files.filter(pa.array(kept, pa.bool_()))
        keys = [("modified_ms", "ascending"), ("path", "ascending")]
        files = files.take(pc.sort_indices(files, sort_keys=keys))
        return cls(version, files, [FileUnit(size) for size in files["size"].to_pylist()])


class _OtherColumns(Exception):
    """A version has other columns than those in which the stream, which tracks them, reads."""

    def __init__(self, metadata: Metadata, version: int) -> None:
        super().__init__(version)
        self.metadata, self.version = metadata, version


class TableStream:
    """The stream of one table; holds no state that a restart would miss."""

    def __init__(self, table: OpenedTable, asked: StreamReadOptions, read: Snapshot) -> None:
        self.table = table
        self.settings = asked
        self._tracked = schema_tracking.open_log(read.state.metadata.id, asked)
        known = None if self._tracked is None else schema_tracking.columns_to_read(self._tracked, asked)
        self._is_recorded = known is not None
        self.columns = known or ReadColumns(read.state.metadata, read.version)
        self._commits: OrderedDict[int, Commit | None] = OrderedDict()
        self._initial: _InitialSnapshot | None = None
        self._latest = read.version
        self._checked: int | None = None

    def newest_version(self) -> Version:
        """The latest version of the table, which must still be the one that is streamed."""
        newest = self.table.snapshot()
        self._check_same_table(newest.state.metadata.id, self.columns.metadata.id)
        self._latest = newest.version
        return newest.version

    def start(self) -> StreamOffset:
        """Where a new stream begins."""
        return stream_start.find_start(self.table, self.table.snapshot(), self.settings)

    def latest_offset(
        self,
        start: StreamOffset | None,
        limits: ReadLimits | None = None,
        *,
        until: int | None = None,
    ) -> StreamOffset:
        """Where the batch that begins at ``start`` ends, no further than the version ``until``."""
        newest = self.newest_version()
        here = self.start() if start is None else start
        self._record_first(here, newest)
        self._check_offset(here)
        latest = newest if until is None else min(newest, until)
        admitted = self.settings.limits if limits is None else limits
        try:
            return advance(self, here, admitted, latest)
        except _OtherColumns as changed:
            if here.version < changed.version:  # the batch ends before it
                return advance(self, here, admitted, changed.version - 1)
            raise self._evolved(changed.metadata, changed.version) from changed

    def batch(self, start: StreamOffset | None, end: StreamOffset) -> StreamBatch:
        """The files of the batch from ``start`` (None: where the stream began) up to ``end``.

        Spark also asks for batches that it does not read again, so what is wrong is told, not raised.
        """
        here = end.first if start is None else start
        self._check_offset(end)
        self._check_offset(here)
        if end.version > self._latest:
            self.newest_version()
        slices = list(stream_offsets.slices_between(here, end))
        try:
            initial = next((self._initial_files(one) for one in slices if one.is_initial_snapshot), None)
        except SchemaMismatch as lost_columns:  # of a batch that was done before they changed
            return StreamBatch(failure=lost_columns)
        found = [(one, self._commit(one.version)) for one in slices if not one.is_initial_snapshot]
        lost = self._lost(found)
        kept = [(one, commit) for one, commit in found if commit is not None]
        try:
            if self.settings.read_change_feed:
                return StreamBatch(initial, (), tuple(self._changes([one for one, _ in kept])), lost)
            return StreamBatch(initial, tuple(self._added(kept)), (), lost)
        except (InvalidRequest, SchemaMismatch) as refused:  # whoever planned it was told to pass over it
            return StreamBatch(initial, failure=refused)

    def _record_first(self, here: StreamOffset, newest: Version) -> None:
        """Have the columns written down in which the stream begins to read, if it tracks them."""
        if self._tracked is None or self._is_recorded:
            return
        version = Version(min(here.version, newest))
        begins = self.table.snapshot(version=version).state.metadata
        if not schema_changes.has_same_columns(begins, self.columns):
            raise self._evolved(begins, version)
        self._tracked.record(begins, version)
        self.columns, self._is_recorded = ReadColumns(begins, version), True

    def _evolved(self, metadata: Metadata, version: int) -> SchemaMismatch:
        """Why the query stops, once the columns in which it is to go on are written down.

        Spark asks for the next batch when it has written down that those before are done: none of them is
        ever read in the new columns.
        """
        if self._tracked is not None:
            self._tracked.record(metadata, version)
        return schema_tracking.started_again(metadata, version)

    def snapshot_units(self, version: int) -> Sequence[FileUnit]:
        """The files of the initial snapshot."""
        return self._initial_table(version).units

    def commit_units(self, version: int) -> Sequence[FileUnit]:
        """What a commit gives to the stream; nothing if it is gone and that is allowed."""
        commit = self._commit(version)
        if commit is None:
            if self.settings.fail_on_data_loss:
                raise self._data_loss(version)
            return ()
        self._check_tracked(commit)
        self._check_commit(commit)
        if self.settings.read_change_feed:
            return _feed_units(commit)
        return [FileUnit(add.size) for add in commit_files.files_for_stream(commit, self.settings)]

    def _added(self, found: Iterable[tuple[VersionSlice, Commit]]) -> Iterable[AddFile]:
        for one, commit in found:
            self._check_commit(commit)
            files = commit_files.files_for_stream(commit, self.settings)[one.start : one.stop]
            yield from (self._with_partition_values(file, one.version) for file in files)

    def _changes(self, slices: Sequence[VersionSlice]) -> Iterable[VersionChanges]:
        if slices:
            asked = VersionRange(slices[0].version, slices[-1].version)
            last, found = self.table.changes(asked)
            schema_changes.check_metadata(last.state.metadata, last.version, self.columns)
            yield from found

    def _with_partition_values(self, file: AddFile, version: int) -> AddFile:
        """The file with every partition value: some writers leave out those that are null."""
        if partitioning.partitioning_of(self.columns.metadata).types.keys() <= file.partition_values.keys():
            return file
        try:
            at_version = self.table.snapshot(version=version).state.metadata
        except VersionNotFound:
            at_version = self.columns.metadata
        absent = dict.fromkeys(partitioning.partitioning_of(at_version).types)
        return msgspec.structs.replace(file, partition_values={**absent, **file.partition_values})

    def _initial_files(self, asked: VersionSlice) -> InitialFiles:
        files = self._initial_table(asked.version).files
        stop = files.num_rows if asked.stop is None else asked.stop
        return InitialFiles(Version(asked.version), files.slice(asked.start, max(0, stop - asked.start)))

    def _initial_table(self, version: int) -> "_InitialSnapshot":
        if self._initial is None or self._initial.version != version:
            found = self._snapshot(version)
            schema_changes.check_metadata(found.state.metadata, version, self.columns)
            self._initial = _InitialSnapshot.read(version, found, self.settings)
        return self._initial

    def _snapshot(self, version: int) -> Snapshot:
        try:
            return self.table.snapshot(version=version)
        except VersionNotFound as exc:
            raise VersionNotFound(
                f"the stream has yet to read files of its initial snapshot, version {version}, which cannot "
                "be read any more: the log was cleaned up. Start a new query, with a new checkpoint, and "
                "keep delta.logRetentionDuration longer than a query takes for its initial snapshot",
                code="DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE", asked=version,
            ) from exc  # fmt: skip

    def _commit(self, version: int) -> Commit | None:
        """The commit of a version; None if it is gone."""
        if version not in self._commits:
            for number, found in self._read(version).items():
                self._commits[number] = found
            while len(self._commits) > _KEPT:
                self._commits.popitem(last=False)
        return self._commits[version]

    def _read(self, version: int) -> dict[int, Commit | None]:
        last = max(version, min(version + _AHEAD - 1, self._latest))
        try:
            found = self.table.commits(Version(version), Version(last))
        except (ObjectNotFound, CorruptLog):
            # Published, and let go by the catalog, since it was asked; or a later one is gone.
            try:
                found = self.table.commits(Version(version), Version(version))
            except ObjectNotFound:
                return {version: None}
        return {commit.version: commit for commit in found}

    def _lost(self, found: Iterable[tuple[VersionSlice, Commit | None]]) -> VersionNotFound | None:
        if not self.settings.fail_on_data_loss:
            return None
        gone = next((one.version for one, commit in found if commit is None), None)
        return None if gone is None else self._data_loss(gone)

    def _data_loss(self, version: int) -> VersionNotFound:
        return VersionNotFound(
            f"the stream has yet to read version {version}, whose commit is gone: the log was cleaned up "
            "(delta.logRetentionDuration) before the stream came there. Start a new query, with a new "
            "checkpoint, or go on without what is lost, with failOnDataLoss=false",
            code="DELTA_MISSING_FILES_UNEXPECTED_VERSION", asked=version,
        )  # fmt: skip

    def _check_commit(self, commit: Commit) -> None:
        if commit.metadata is not None:
            self._check_same_table(commit.metadata.id, self.columns.metadata.id)
            schema_changes.check_metadata(commit.metadata, commit.version, self.columns)
        if commit.protocol is not None:
            metadata = commit.metadata or self.columns.metadata
            table_features.check_readable(
                commit.protocol, metadata, previews=self.table.settings.read_previews
            )

    def _check_tracked(self, commit: Commit) -> None:
        found = commit.metadata
        if found is None or self._tracked is None or commit.version <= self.columns.version:
            return
        self._check_same_table(found.id, self.columns.metadata.id)
        if not schema_changes.has_same_columns(found, self.columns):
            raise _OtherColumns(found, commit.version)

    def _check_offset(self, offset: StreamOffset) -> None:
        """That an offset is one of this table, and that what was there at its version can be read."""
        self._check_same_table(self.columns.metadata.id, offset.table_id)
        if self._checked is not None or offset.version > self._latest:
            return
        self._checked = offset.version
        if self._tracked is not None and offset.version > self.columns.version:
            return  # with other columns from there on, the next batch has them written down
        try:
            found = self.table.snapshot(version=offset.version)
        except (VersionNotFound, CorruptLog):  # whoever needs its files will be told
            return
        schema_changes.check_metadata(found.state.metadata, offset.version, self.columns)

    def _check_same_table(self, found: str, known: str) -> None:
        if found != known:
            raise InvalidRequest(
                f"the query read another table (id {known}) than the one that is now in its place at "
                f"{self.table.location} (id {found}): it was dropped and made anew. Start a new query, with "
                "a new checkpoint",
                code=schema_changes.OTHER_TABLE,
            )

    def initial_timestamp(self, version: Version) -> EpochMillis:
        """When the initial snapshot was committed."""
        known = self._snapshot(version).state.in_commit_timestamp
        if known is not None:
            return known
        return self.table.history(limit=self._latest - version + 1)[-1].timestamp


def _feed_units(commit: Commit) -> Sequence[FileUnit]:
    """All that a commit did to rows, which a change feed tells at once."""
    changes = commit_files.changes_of(commit)
    sizes = [add.size for add in changes.added] + [remove.size or 0 for remove in changes.removed]
    return [FileUnit(sum(sizes), len(sizes), is_whole_version=True)] if sizes else []
