"""What does it mean for the user that a Spark job failed?"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from headgate.calls import boundary
from headgate.errors import FileDamaged, HeadgateError, ObjectNotFound
from headgate.table.read import file_paths

ErrorTranslator = Callable[[Exception], HeadgateError | None]
"""The error behind a failed job, or None if it failed for another reason."""

_UNREADABLE = re.compile(r"FAILED_READ_FILE\.(\w+)\] Encountered error while reading file (\S+?)\.?\s")
_FILE_MISSING = "FILE_NOT_EXIST"
_CAUSE = re.compile(r"^Caused by: [\w.$]+: (.+)$", re.MULTILINE)
_MAX_LOCATIONS = 1_000
_recent_locations: OrderedDict[str, None] = OrderedDict()
"""Where the tables are that were read lately, the last one at the end."""
_lock = Lock()


@contextmanager
def translated_errors(*meanings: ErrorTranslator) -> Iterator[None]:
    """Raise what a failed job means, the first that is found; else its own failure."""
    try:
        yield
    except HeadgateError:
        raise
    except Exception as exc:  # Spark's failures have no common class
        meant = next((found for meaning in meanings if (found := meaning(exc)) is not None), None)
        if meant is None:
            raise
        raise meant from exc


@contextmanager
def named_errors() -> Iterator[None]:
    """Raise Spark's failures to read a data file as errors of Headgate, which name the file and the table.

    What Headgate itself runs on Spark does so anyway; this is for your own actions on frames that read
    tables.

        with headgate.named_errors():
            orders.read().collect()
    """
    with boundary.short_tracebacks(), translated_errors(unreadable_file):
        yield


def failure_text(failure: Exception) -> str:
    """All that a failure says; some versions of Spark tell the cause only in the stack trace."""
    return f"{failure} {getattr(failure, '_stackTrace', '')}"


def remember_location(location: str) -> None:
    """Rows of the table at this place are read."""
    with _lock:
        _recent_locations[location] = None
        _recent_locations.move_to_end(location)
        if len(_recent_locations) > _MAX_LOCATIONS:
            _recent_locations.popitem(last=False)


def unreadable_file(failure: Exception) -> ObjectNotFound | FileDamaged | None:
    """The data file behind a job that could not read one, or None if it failed for another reason."""
    said = failure_text(failure)
    found = _UNREADABLE.search(said)
    if found is None:
        return None
    kind, place = found.groups()
    path, of = _path_in_table(place)
    if kind == _FILE_MISSING:
        return ObjectNotFound(
            f"the data file {path}{of} is not there, though the version that is read has it: it was deleted "
            "without regard to the log, or by a VACUUM with too short a retention. Put it back from a backup "
            "or restore a version that does without it; check() tells what else is missing",
            code="DELTA_FILE_NOT_FOUND", path=place, operation="read",
        )  # fmt: skip
    causes = _CAUSE.findall(said)
    why = f" ({causes[-1].strip()})" if causes else ""
    return FileDamaged(
        f"the data file {path}{of} cannot be read: it is not the parquet file that the log says it is{why}. "
        "Put it back from a backup or restore a version that does without it; check() tells what else is "
        "damaged",
        path=place, operation="read",
    )  # fmt: skip


def _path_in_table(place: str) -> tuple[str, str]:
    """A file as the log of its table names it, and which table that is, if one was read that has it."""
    with _lock:
        known = list(reversed(_recent_locations))
    for location in known:
        path = file_paths.log_path(location, place)
        if path != place:
            return path, f" of the table at {location}"
    return place, ""
