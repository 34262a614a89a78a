"""How the files of a log are called, and what a name says.

All names are relative to the table's root.
"""

import re
from enum import Enum

import msgspec

from headgate.protocol.actions import Version

LOG_FOLDER = "_delta_log/"
STAGED_FOLDER = "_delta_log/_staged_commits/"
LEGACY_STAGED_FOLDER = "_delta_log/_commits/"
SET_ASIDE = "_delta_log/_set_aside/"
"""Where files are kept that were in the place of a version and are none."""
"""Where staged commits were before, and still are for tables that a coordinator was given then."""
SIDECAR_FOLDER = "_delta_log/_sidecars/"
PROBE_FOLDER = "_delta_log/_headgate_probe/"
CLOCK_FILE = "_delta_log/.headgate-clock"
"""A file that is written to see what time the store gives it, and deleted again."""
LAST_CHECKPOINT = "_delta_log/_last_checkpoint"

_STAGED_FILE = re.compile(r"([0-9]{20})\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json")
_PUBLISHED = re.compile(r"([0-9]{20})\.json")
_COMPACTED = re.compile(r"([0-9]{20})\.([0-9]{20})\.compacted\.json")
_CHECKPOINT = re.compile(r"([0-9]{20})\.checkpoint\.parquet")
_PART = re.compile(r"([0-9]{20})\.checkpoint\.([0-9]{10})\.([0-9]{10})\.parquet")
_UUID_CHECKPOINT = re.compile(r"([0-9]{20})\.checkpoint\.[0-9A-Za-z-]+\.(?:parquet|json)")
_CHECKSUM = re.compile(r"([0-9]{20})\.crc")


class LogFileKind(Enum):
    """What a file of the log is."""

    PUBLISHED = "published"
    COMPACTED = "compacted"
    CHECKPOINT = "checkpoint"
    CHECKSUM = "checksum"


class LogFile(msgspec.Struct, frozen=True, gc=False):  # a struct, because a listing makes thousands
    """One recognised file of ``_delta_log``; the last version it covers, and the first if that differs."""

    kind: LogFileKind
    version: Version
    path: str
    size: int = 1
    start: Version | None = None
    part: int = 1
    parts: int = 1


def published_path(version: Version) -> str:
    """Where version ``version`` is published."""
    return f"{LOG_FOLDER}{version:020d}.json"


def checksum_path(version: Version) -> str:
    """Where the checksum of version ``version`` is."""
    return f"{LOG_FOLDER}{version:020d}.crc"


def classic_checkpoint_path(version: Version) -> str:
    """Where a checkpoint in one file, of the name everybody knows, is."""
    return f"{LOG_FOLDER}{version:020d}.checkpoint.parquet"


def uuid_checkpoint_path(version: Version, uuid: str) -> str:
    """Where a v2 checkpoint is."""
    return f"{LOG_FOLDER}{version:020d}.checkpoint.{uuid}.parquet"


def is_v2_checkpoint(path: str) -> bool:
    """Whether a file has a name that only v2 checkpoints have."""
    return _UUID_CHECKPOINT.fullmatch(path.removeprefix(LOG_FOLDER)) is not None


def compaction_path(start: Version, end: Version) -> str:
    """Where a compaction of the versions from ``start`` to ``end`` is."""
    return f"{LOG_FOLDER}{start:020d}.{end:020d}.compacted.json"


def staged_file_name(version: Version, uuid: str) -> str:
    """The file name of a staged commit, without its folder."""
    return f"{version:020d}.{uuid}.json"


def staged_version(file_name: str) -> Version | None:
    """The version a staged file proposes, or None if the name is not that of a staged commit."""
    found = _STAGED_FILE.fullmatch(file_name)
    return Version(int(found[1])) if found else None


def path_before(version: Version) -> str:
    """A path that sorts before every file of ``version`` and after every file of older ones."""
    return f"{LOG_FOLDER}{version:020d}"


def parse(path: str, *, size: int = 1) -> LogFile | None:
    """What ``path`` is to the log, or None for files the log does not know."""
    if not path.startswith(LOG_FOLDER):
        return None
    name = path.removeprefix(LOG_FOLDER)
    if found := _PUBLISHED.fullmatch(name):
        return LogFile(LogFileKind.PUBLISHED, Version(int(found[1])), path, size)
    if found := _CHECKSUM.fullmatch(name):
        return LogFile(LogFileKind.CHECKSUM, Version(int(found[1])), path, size)
    if found := _COMPACTED.fullmatch(name):
        start, end = Version(int(found[1])), Version(int(found[2]))
        return LogFile(LogFileKind.COMPACTED, end, path, size, start=start) if start < end else None
    if found := _CHECKPOINT.fullmatch(name) or _UUID_CHECKPOINT.fullmatch(name):
        return LogFile(LogFileKind.CHECKPOINT, Version(int(found[1])), path, size)
    if found := _PART.fullmatch(name):
        part, parts = int(found[2]), int(found[3])
        return LogFile(LogFileKind.CHECKPOINT, Version(int(found[1])), path, size, part=part, parts=parts)
    return None
