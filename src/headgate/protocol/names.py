"""How the files of a log are called, and what a name says.

All names are relative to the table's root.
"""

import re
from dataclasses import dataclass
from enum import Enum

from headgate.protocol.actions import Version

LOG = "_delta_log/"
STAGED = "_delta_log/_staged_commits/"

_STAGED_FILE = re.compile(r"([0-9]{20})\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json")
_PUBLISHED = re.compile(r"([0-9]{20})\.json")
_CHECKPOINT = re.compile(r"([0-9]{20})\.checkpoint(?:\.[^/]+)?\.(?:parquet|json)")


class Kind(Enum):
    """What a file of the log is."""

    PUBLISHED = "published"
    CHECKPOINT = "checkpoint"


@dataclass(frozen=True, slots=True)
class LogFile:
    """One recognised file of ``_delta_log``."""

    kind: Kind
    version: Version
    path: str


def published(version: Version) -> str:
    """Where version ``version`` is published."""
    return f"{LOG}{version:020d}.json"


def staged_file(version: Version, uuid: str) -> str:
    """The file name of a staged commit, without its folder."""
    return f"{version:020d}.{uuid}.json"


def staged_version(file_name: str) -> Version | None:
    """The version a staged file proposes, or None if the name is not that of a staged commit."""
    found = _STAGED_FILE.fullmatch(file_name)
    return Version(int(found[1])) if found else None


def parse(path: str) -> LogFile | None:
    """What ``path`` is to the log, or None for files the log does not know."""
    if not path.startswith(LOG):
        return None
    name = path.removeprefix(LOG)
    if found := _PUBLISHED.fullmatch(name):
        return LogFile(Kind.PUBLISHED, Version(int(found[1])), path)
    if found := _CHECKPOINT.fullmatch(name):
        return LogFile(Kind.CHECKPOINT, Version(int(found[1])), path)
    return None
