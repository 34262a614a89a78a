"""What can be asked of a stream out of a table? Its start, its limits, what it passes over."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from headgate.errors import InvalidRequest
from headgate.protocol.actions import EpochMillis
from headgate.table.stream.admission import ReadLimits

LATEST: Literal["latest"] = "latest"
DEFAULT_FILES = 1_000
"""How many files a batch has at most, unless something else is said."""


@dataclass(frozen=True, slots=True)
class StreamReadOptions:
    """What is asked, checked for contradictions."""

    starting_version: int | Literal["latest"] | None = None
    starting_timestamp: EpochMillis | None = None
    max_files_per_trigger: int | None = None
    max_bytes_per_trigger: int | None = None
    ignore_deletes: bool = False
    ignore_changes: bool = False
    ignore_file_deletion: bool = False
    skip_change_commits: bool = False
    exclude_regex: str | None = None
    fail_on_data_loss: bool = True
    read_change_feed: bool = False
    schema_tracking_location: str | None = None
    """A folder in which the stream writes down in which columns it reads."""
    streaming_source_tracking_id: str | None = None
    allow_source_column_drop: str | None = None
    """``always``, or the version whose change is confirmed."""
    allow_source_column_rename: str | None = None
    allow_source_column_type_change: str | None = None

    def __post_init__(self) -> None:
        for row in READ_CONTRADICTIONS:
            if row.holds(self):
                raise InvalidRequest(row.says, code=row.code)

    @property
    def limits(self) -> ReadLimits:
        """How much a batch takes."""
        files = self.max_files_per_trigger
        if files is None and self.max_bytes_per_trigger is None:
            files = DEFAULT_FILES
        return ReadLimits(files, self.max_bytes_per_trigger)

    @property
    def allows_changes(self) -> bool:
        """Whether commits that add rows and remove others are no reason to stop."""
        return self.ignore_changes or self.ignore_file_deletion or self.skip_change_commits

    @property
    def allows_deletes(self) -> bool:
        """Whether commits that only remove rows are no reason to stop."""
        return self.allows_changes or self.ignore_deletes


@dataclass(frozen=True, slots=True)
class ReadContradiction:
    """One row: what cannot be meant, and what is said of it."""

    holds: Callable[[StreamReadOptions], bool]
    says: str
    code: str = InvalidRequest.code


def _starts_twice(asked: StreamReadOptions) -> bool:
    return asked.starting_version is not None and asked.starting_timestamp is not None


def _starts_before_the_first(asked: StreamReadOptions) -> bool:
    return isinstance(asked.starting_version, int) and asked.starting_version < 0


def _takes_no_file(asked: StreamReadOptions) -> bool:
    return asked.max_files_per_trigger is not None and asked.max_files_per_trigger < 1


def _takes_no_byte(asked: StreamReadOptions) -> bool:
    return asked.max_bytes_per_trigger is not None and asked.max_bytes_per_trigger < 1


def _is_no_regex(asked: StreamReadOptions) -> bool:
    try:
        re.compile(asked.exclude_regex or "")
    except re.error:
        return True
    return False


READ_CONTRADICTIONS: tuple[ReadContradiction, ...] = (
    ReadContradiction(
        _starts_twice,
        "startingVersion and startingTimestamp both say where the stream begins: give one",
        code="DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET",
    ),
    ReadContradiction(
        _starts_before_the_first, "startingVersion is a version from 0 on, or 'latest': correct it"
    ),
    ReadContradiction(
        _takes_no_file, "maxFilesPerTrigger is how many files a batch has, from 1 on: correct it"
    ),
    ReadContradiction(
        _takes_no_byte, "maxBytesPerTrigger is how many bytes a batch has, from 1 on: correct it"
    ),
    ReadContradiction(_is_no_regex, "excludeRegex is no regular expression: correct it"),
)
