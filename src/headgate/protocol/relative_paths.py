"""Does a relative path of a log lead out of its table's folder?

An absolute path names a file elsewhere openly, as a shallow clone does. A relative one that climbs has no
such purpose: in somebody else's log it makes the reader open files of their own.
"""

from collections.abc import Iterable
from urllib.parse import unquote

from headgate.errors import CorruptLog

MAY_LEAVE_TABLE = r"\.\.|%2"
"""What every path has that leads out, as a regular expression: most are plain, and there may be millions."""


def leaves_table(path: str) -> bool:
    """Whether a path that is relative to the table goes above it, encoded or not."""
    if ".." not in path and "%2" not in path:
        return False
    depth = 0
    for part in unquote(path).replace("\\", "/").split("/"):
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            return True
    return False


def check_inside_table(paths: Iterable[str]) -> None:
    """``CorruptLog`` if one of the relative paths leads out of its table."""
    for path in paths:
        if leaves_table(path):
            raise CorruptLog(
                f"the log names {path!r}, which leads out of the table's folder; nothing is read from there: "
                "find out who wrote that, and restore the table to a version without it",
                code="DELTA_TXN_LOG_FAILED_INTEGRITY", path=path,
            )  # fmt: skip
