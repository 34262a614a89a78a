"""Where does a stream of a table begin? With all rows of its latest version, unless said otherwise."""

from headgate.errors import VersionNotFound
from headgate.protocol.actions import EpochMillis
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.stream import stream_offsets
from headgate.table.stream.stream_offsets import StreamOffset
from headgate.table.stream.stream_read_settings import LATEST, StreamReadOptions

_TOO_EARLY = "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION"


def find_start(table: OpenedTable, newest: Snapshot, asked: StreamReadOptions) -> StreamOffset:
    """The first offset of a new stream."""
    table_id = newest.state.metadata.id
    if asked.starting_version == LATEST:
        return stream_offsets.first_offset(table_id, newest.version + 1, is_initial_snapshot=False)
    if asked.starting_version is not None:
        version = _existing(int(asked.starting_version), newest)
        return stream_offsets.first_offset(table_id, version, is_initial_snapshot=False)
    if asked.starting_timestamp is not None:
        version = _first_from(table, newest, asked.starting_timestamp)
        return stream_offsets.first_offset(table_id, version, is_initial_snapshot=False)
    return stream_offsets.first_offset(table_id, newest.version, is_initial_snapshot=True)


def _existing(version: int, newest: Snapshot) -> int:
    if version > newest.version:
        raise VersionNotFound(
            f"the stream is to start at version {version}, and the latest is {newest.version}: name one that "
            "exists, or 'latest' for what comes from now on",
            asked=version, latest=newest.version,
        )  # fmt: skip
    return version


def _first_from(table: OpenedTable, newest: Snapshot, moment: EpochMillis) -> int:
    """The first version that was committed at a moment or after it."""
    before = EpochMillis(moment - 1)
    try:
        version = table.snapshot(timestamp=before).version + 1
    except VersionNotFound as exc:
        if exc.code != _TOO_EARLY:
            raise
        version = table.snapshot(timestamp=before, or_earliest=True).version
    if version > newest.version:
        raise VersionNotFound(
            f"the stream is to start at a moment after the latest version, {newest.version}: name an earlier "
            "one, or startingVersion='latest' for what comes from now on",
            code="DELTA_TIMESTAMP_GREATER_THAN_COMMIT", latest=newest.version,
        )  # fmt: skip
    return version
