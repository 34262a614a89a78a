"""What does a command print on stderr that fails with ``--json``? The error, as one value."""

from headgate.cli.answers.answer import Answer


class Failure(Answer, frozen=True, kw_only=True):
    """Why a command failed."""

    error: str
    """The cause."""
    fix: str | None
    """What to do about it; null where the cause says so."""
    code: str
    """By which the page of errors explains it."""
    sqlstate: str | None
    exit_code: int
