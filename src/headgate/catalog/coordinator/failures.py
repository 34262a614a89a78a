"""What a failure of a coordinator means: in Delta's two words, or as the status of an answer over HTTP.

Whether an answer proves that nothing was ratified decides everything: only then may a commit be given
up, and its files be deleted. So a status that has no row is taken for silence.
"""

from dataclasses import dataclass

from headgate.catalog.ports.commits import Lost, RatifiedCommit, Unknown
from headgate.errors import (
    CatalogUnavailable,
    ConcurrentWrite,
    HeadgateError,
    InvalidRequest,
    NotAllowed,
    TooManyUnpublished,
)

_SUCCESSES = range(200, 300)


@dataclass(frozen=True, slots=True)
class CoordinatorFailure:
    """One row: what a status means of a commit, and what the client then does."""

    status: int | None
    """None for every other one."""
    meaning: str
    then: str
    retryable: bool = False
    conflict: bool = False
    error: type[HeadgateError] | None = None
    """What is raised, if it is not what the two words mean."""


FAILURES: tuple[CoordinatorFailure, ...] = (
    CoordinatorFailure(400, "bad request", "fails with `NotAllowed`"),
    CoordinatorFailure(401, "the caller is not known", "fails with `NotAllowed`"),
    CoordinatorFailure(403, "not allowed", "fails with `NotAllowed`"),
    CoordinatorFailure(404, "no such table", "fails with `InvalidRequest`", error=InvalidRequest),
    CoordinatorFailure(
        409, "the version is taken", "loads the winners, and rebases", retryable=True, conflict=True
    ),
    CoordinatorFailure(
        429,
        "limit reached",
        "publishes what is ratified, and asks again",
        retryable=True,
        error=TooManyUnpublished,
    ),
    CoordinatorFailure(
        None,
        "no answer",
        "looks for the commit, and if it is not there asks again for the same version",
        retryable=True,
    ),
)
_BY_STATUS = {row.status: row for row in FAILURES}


def commit_failure(reason: str, *, retryable: bool, conflict: bool) -> Lost[RatifiedCommit] | Unknown:
    """The outcome for ``retryable`` and ``conflict``, the flags of Delta's ``CommitFailedException``."""
    match retryable, conflict:
        case True, True:
            return Lost(())
        case True, False:
            return Unknown(reason)
        case False, True:
            raise ConcurrentWrite(f"{reason}; nothing was committed, run the operation again")
        case _:
            raise NotAllowed(f"the coordinator refuses: {reason}")


def commit_failure_from_status(status: int, message: str) -> Lost[RatifiedCommit] | Unknown:
    """What ``CommitCoordinator.commit`` gives back, or raises, if that was the answer to a commit."""
    row, reason = _row(status), f"{message} (HTTP {status})"
    if row.error is not None:
        raise row.error(f"the coordinator says {row.meaning}: {reason}; nothing was committed")
    return commit_failure(reason, retryable=row.retryable, conflict=row.conflict)


def error_from_status(status: int, message: str) -> HeadgateError:
    """What the other methods of a ``CommitCoordinator`` raise if that was the answer: all can be repeated."""
    row = _row(status)
    said = f"the coordinator says {row.meaning}: {message} (HTTP {status})"
    if row.retryable and not row.conflict:
        return CatalogUnavailable(said)
    return (row.error or NotAllowed)(said)


def _row(status: int) -> CoordinatorFailure:
    if status in _SUCCESSES:
        raise InvalidRequest(f"HTTP {status} is no failure: read its answer instead")
    return _BY_STATUS.get(status) or _BY_STATUS[None]
