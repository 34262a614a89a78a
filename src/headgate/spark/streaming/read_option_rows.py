"""Which options does reading a table have? One row each: our name, Delta's, values, who takes it.

``spark.readStream.format("headgate").option("maxFilesPerTrigger", "10")`` and
``table.read_stream(max_files_per_trigger=10)`` ask for the same; the row ``max_files_per_trigger`` says so.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from headgate.errors import InvalidRequest, UnsupportedFeature
from headgate.spark.data_files.option_rows import COUNT, FLAG, TEXT, VERSION, OptionKind
from headgate.spelling import did_you_mean
from headgate.table.stream import schema_tracking
from headgate.table.stream.stream_read_settings import DEFAULT_FILES, LATEST


class ReadKind(Enum):
    """The calls that take options."""

    BATCH = "batch"
    STREAM = "stream"
    NATIVE = "native stream"
    """``Table.read_stream`` on a classic session, which takes the options of streams too."""


def _start(name: str, text: str) -> int | str:
    if text.lower() == LATEST:
        return LATEST
    if not text.isdecimal():
        raise InvalidRequest(f"the option {name} is a version or {LATEST!r}, not {text!r}: correct it")
    return int(text)


START = OptionKind(f"a version, or `{LATEST}`", (_start,))
MOMENT = OptionKind("a datetime, or ISO text", (lambda _, text: text,))
_BATCH, _STREAM, _NATIVE = ReadKind
_STREAMS, _BATCHES, _NATIVES = frozenset({_STREAM}), frozenset({_BATCH}), frozenset({_NATIVE})
CONFIRMATION = OptionKind(f"`{schema_tracking.ALWAYS}`, or a version", (lambda _, text: text,))


@dataclass(frozen=True, slots=True)
class ReadOptionRow:
    """One row."""

    name: str
    """The keyword argument of ``read_stream``."""
    delta: tuple[str, ...]
    """What Delta calls it, ignoring case; several if it has older names."""
    kind: OptionKind
    taken_by: frozenset[ReadKind]
    means: str
    default: Any = None


READ_OPTIONS: tuple[ReadOptionRow, ...] = (
    ReadOptionRow(
        "starting_version", ("startingVersion",), START, _STREAMS | _BATCHES,
        "the first version whose changes are read; `latest` for what comes from now on. Without a start a "
        "stream begins with all rows of the latest version. A batch takes it with the change feed",
    ),
    ReadOptionRow(
        "starting_timestamp", ("startingTimestamp",), MOMENT, _STREAMS | _BATCHES,
        "the same by a moment: the first version committed then or later",
    ),
    ReadOptionRow(
        "ending_version", ("endingVersion",), VERSION, _BATCHES,
        "the last version of a change feed; unless it is given the latest",
    ),
    ReadOptionRow(
        "ending_timestamp", ("endingTimestamp",), MOMENT, _BATCHES,
        "the same by a moment: the last version committed then or earlier",
    ),
    ReadOptionRow(
        "read_change_feed", ("readChangeFeed", "readChangeData"), FLAG, _STREAMS | _BATCHES,
        "gives what changed, with `_change_type`, `_commit_version` and `_commit_timestamp`; rows of the "
        "initial snapshot count as inserted",
        default=False,
    ),
    ReadOptionRow("version", ("versionAsOf",), VERSION, _BATCHES, "the version that is read"),
    ReadOptionRow("timestamp", ("timestampAsOf",), MOMENT, _BATCHES, "the same by a moment"),
    ReadOptionRow(
        "max_files_per_trigger", ("maxFilesPerTrigger",), COUNT, _STREAMS,
        f"how many files a batch has at most; {DEFAULT_FILES:,} unless `max_bytes_per_trigger` is given",
    ),
    ReadOptionRow(
        "max_bytes_per_trigger", ("maxBytesPerTrigger",), COUNT, _STREAMS,
        "how many bytes of files a batch has: the file that exceeds it is its last, so one always goes",
    ),
    ReadOptionRow(
        "ignore_deletes", ("ignoreDeletes",), FLAG, _STREAMS,
        "passes over commits that only remove rows, which else stop a stream",
        default=False,
    ),
    ReadOptionRow(
        "ignore_changes", ("ignoreChanges",), FLAG, _STREAMS,
        "gives all rows of the files that a change of rows wrote anew, unchanged ones once more",
        default=False,
    ),
    ReadOptionRow(
        "skip_change_commits", ("skipChangeCommits",), FLAG, _STREAMS,
        "passes over every commit that removes or changes rows",
        default=False,
    ),
    ReadOptionRow(
        "ignore_file_deletion", ("ignoreFileDeletion",), FLAG, _STREAMS,
        "an older name of `ignore_changes`",
        default=False,
    ),
    ReadOptionRow(
        "exclude_regex", ("excludeRegex",), TEXT, _STREAMS,
        "passes over files in whose path the expression is found",
    ),
    ReadOptionRow(
        "fail_on_data_loss", ("failOnDataLoss",), FLAG, _STREAMS,
        "`False` goes on with the next version, if clean-up removed one that was not read yet",
        default=True,
    ),
    ReadOptionRow(
        "schema_tracking_location", ("schemaTrackingLocation", "schemaLocation"), TEXT, _NATIVES,
        "a folder of this query alone, best below its checkpoint, in which it writes down its columns: so it "
        "goes on past columns that are renamed or dropped",
    ),
    ReadOptionRow(
        "streaming_source_tracking_id", ("streamingSourceTrackingId",), TEXT, _NATIVES,
        "tells two streams of one table in one query apart, in that folder",
    ),
    *(
        ReadOptionRow(
            row.option, (row.delta,), CONFIRMATION, _NATIVES,
            f"confirms that a column of the source was {row.says}: at a version, or whenever it is",
        )
        for row in schema_tracking.CONFIRMED_CHANGES
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RefusedReadOption:
    """One row: an option of Delta that the data source refuses by its name, and why."""

    delta: str
    why: str


_TRACKING = "only `table.read_stream(schema_tracking_location=…)` on a classic session tracks columns"
REFUSED_READ_OPTIONS: tuple[RefusedReadOption, ...] = tuple(
    RefusedReadOption(name, _TRACKING)
    for name in (
        "schemaTrackingLocation", "schemaLocation", "streamingSourceTrackingId", "allowSourceColumnDrop",
        "allowSourceColumnRename", "allowSourceColumnTypeChange",
    )
)  # fmt: skip


def parse_read_options(
    options: Mapping[str, str], kind: ReadKind, *, besides: Collection[str] = ()
) -> dict[str, Any]:
    """The keyword arguments that options by Delta's names, in any case, stand for.

    Refused are names that the call does not know, but for those that the caller reads itself (``besides``).
    """
    rows = [row for row in READ_OPTIONS if kind in row.taken_by]
    known = {name.lower(): (row, name) for row in rows for name in row.delta}
    passed = {name.lower() for name in besides}
    found: dict[str, Any] = {}
    for given, text in options.items():
        if given.lower() in passed:
            continue
        check_not_refused(given)
        if given.lower() not in known:
            raise _unknown(given, [name for _, name in known.values()], kind)
        row, name = known[given.lower()]
        found[row.name] = row.kind.reads[0](name, text)
    return found


def check_not_refused(given: str) -> None:
    """Refuse an option of Delta that is known, and not offered."""
    refused = next((row for row in REFUSED_READ_OPTIONS if row.delta.lower() == given.lower()), None)
    if refused is not None:
        raise UnsupportedFeature(
            f"the option {refused.delta} is not supported here: {refused.why}; call that, or leave it out",
            features=(refused.delta,), operation="read",
        )  # fmt: skip


def _unknown(name: str, known: Collection[str], kind: ReadKind) -> InvalidRequest:
    return InvalidRequest(
        f"there is no option {name!r} of a {kind.value} read:{did_you_mean(name, known)} there are "
        f"{', '.join(sorted(known))}"
    )
