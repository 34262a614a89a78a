"""With which status does a command end, and what is to be done about an error? Rows, which programs rely on.

The first row whose errors or codes an error has is its exit code.
"""

import re
from dataclasses import dataclass

from headgate.errors import (
    AccessDenied,
    CatalogLost,
    CatalogUnavailable,
    CommitRefused,
    CommitUnknown,
    ConflictError,
    DomainConflict,
    HeadgateError,
    LakeNotFound,
    NotAllowed,
    NotAuthenticated,
    ObjectNotFound,
    Retry,
    SchemaNotFound,
    StorageUnavailable,
    TableFrozen,
    TableNotFound,
    TooManyUnpublished,
    VersionNotFound,
)

REFUSED = 1
USAGE = 2
INTERRUPTED = 130
FILE_NOT_FOUND = "HEADGATE_FILE_NOT_FOUND"
MEMBER_NOT_FOUND = "HEADGATE_MEMBER_NOT_FOUND"


@dataclass(frozen=True, slots=True)
class ExitCode:
    """One exit code, and which errors end with it."""

    number: int
    name: str
    meaning: str
    errors: tuple[type[HeadgateError], ...] = ()
    codes: frozenset[str] = frozenset()
    only_transient: bool = False
    """Only errors that may pass by themselves."""

    def is_of(self, error: HeadgateError) -> bool:
        """Whether an error ends with it."""
        fits = error.code in self.codes or isinstance(error, self.errors)
        return fits and (error.retry is Retry.SAME or not self.only_transient)


EXIT_CODES: tuple[ExitCode, ...] = (
    ExitCode(0, "done", "It was done; nothing is wrong."),
    ExitCode(
        REFUSED,
        "refused",
        "It was refused and nothing changed, or it failed; `check`, `recover` and `worker` found something.",
    ),
    ExitCode(USAGE, "usage", "The command line is wrong: an unknown command or option, a missing argument."),
    ExitCode(
        3,
        "not found",
        "There is no such lake, schema, table, version, domain, transaction, stream, member or file.",
        (LakeNotFound, TableNotFound, SchemaNotFound, VersionNotFound, ObjectNotFound),
        frozenset(
            {
                LakeNotFound.code,
                "HEADGATE_DOMAIN_NOT_FOUND",
                "HEADGATE_TRANSACTION_NOT_FOUND",
                "HEADGATE_STREAM_NOT_FOUND",
                MEMBER_NOT_FOUND,
                FILE_NOT_FOUND,
                SchemaNotFound.code,
                "TABLE_OR_VIEW_NOT_FOUND",
            }
        ),
    ),
    ExitCode(
        4,
        "not allowed",
        "Whoever asks is not known or may not do this, or a policy forbids the commit.",
        (NotAuthenticated, NotAllowed, AccessDenied, CommitRefused),
    ),
    ExitCode(
        5,
        "conflict",
        "Somebody else was quicker; nothing was committed. The same command may succeed now.",
        (ConflictError,),
    ),
    ExitCode(
        6,
        "unavailable",
        "The catalog or the store did not answer or is busy. The same command may succeed later.",
        (CatalogUnavailable, StorageUnavailable, TableFrozen, TooManyUnpublished),
        only_transient=True,
    ),
    ExitCode(
        7,
        "unknown",
        "Nobody can say whether it was committed. Look before running it again.",
        (CommitUnknown,),
    ),
    ExitCode(
        INTERRUPTED,
        "interrupted",
        "It was stopped with Ctrl-C; `server run`, `worker run` and `top` are meant to be, and end with 0.",
    ),
)


def exit_code_of(error: HeadgateError) -> int:
    """The exit code of an error."""
    return next((row.number for row in EXIT_CODES if row.is_of(error)), REFUSED)


@dataclass(frozen=True, slots=True)
class ErrorFix:
    """What helps against an error on the command line, where its message speaks of Python or of nothing."""

    errors: tuple[type[HeadgateError], ...]
    fix: str
    says: str = ""
    """Only if its message has these words."""

    def is_for(self, error: HeadgateError) -> bool:
        """Whether it helps against an error."""
        return isinstance(error, self.errors) and self.says in error.message


FIXES: tuple[ErrorFix, ...] = (
    ErrorFix(
        (TableNotFound,), "headgate table dropped lists what was dropped and can be had back", "was dropped"
    ),
    ErrorFix(
        (TableNotFound,),
        "name the folder that has the _delta_log of the table",
        "there is no Delta table at",
    ),
    ErrorFix((TableNotFound,), "headgate table list lists the tables of a lake"),
    ErrorFix(
        (SchemaNotFound,), "headgate schema create makes one, headgate schema list lists those of a lake"
    ),
    ErrorFix(
        (DomainConflict,),
        "nothing was committed; look at the domain with headgate domain get, and name the version that you "
        "decide from with --since",
    ),
    ErrorFix((VersionNotFound,), "headgate table history lists the versions of a table"),
    ErrorFix((LakeNotFound,), "headgate config show says which lake is meant, and why"),
    ErrorFix(
        (NotAuthenticated,),
        "set HEADGATE_TOKEN, or name a file with the token in ~/.config/headgate/config.toml; "
        "headgate config show says which of them is used",
    ),
    ErrorFix((NotAllowed, CommitRefused), "headgate grant list says what was granted to whom"),
    ErrorFix((CatalogLost,), "headgate recover --dry-run says what can be rebuilt"),
    ErrorFix(
        (CommitUnknown,),
        "look at headgate commit list before running it again; nothing was deleted",
    ),
)


_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(python), command)
    for python, command in (
        (r"convert=True", "--convert"),
        (r"if_exists=True", "--if-exists"),
        (r"lake\.tables\(\) lists", "headgate table list lists"),
        (r"lake\.dropped\(\) lists", "headgate table dropped lists"),
        (r"lake\.undrop\(name\)", "headgate table undrop"),
        (r"lake\.undrop\('([^']*)', table_id='([^']*)'\)", r"headgate table undrop \1 --id \2"),
        (r"lake\.undrop\('([^']*)', table_id='([^']*)', to=…\)", r"headgate table undrop \1 --id \2 --to …"),
        (r"with lake\.undrop\b", "with headgate table undrop"),
        (r"lake\.rename gives", "headgate table rename gives"),
        (r"lake\.create_schema\('([^']*)'\)", r"headgate schema create \1"),
        (r"lake\.adopt\('([^']*)', '([^']*)'\)", r"headgate table adopt \1 \2"),
        (r"lake\.grant\('([^']*)', on=…, to='([^']*)'\)", r"headgate grant add '\1' --on … --to \2"),
        (r"lake\.permit\(table, ('[^']*')\)", r"headgate maintenance permit … \1"),
        (r"table\.publish\(\) or headgate table publish", "headgate table publish"),
        (r"table\.publish\(\)", "headgate table publish"),
        (r"headgate\.recover\([^()]*\) or headgate recover", "headgate recover"),
        (r"table\.read\(where=…\)", "headgate sql"),
        (r", make one there with headgate\.at_path\(.*\.table\('schema\.table'\)", ""),
    )
)
"""What messages say in Python, and how it is said in commands; each as far as a command does the same."""


def error_cause(error: HeadgateError) -> str:
    """The message of an error, with commands and their options where it speaks of Python."""
    return said_in_commands(error.message)


def said_in_commands(sentence: str) -> str:
    """The same with commands and their options where it speaks of Python."""
    for python, command in _PHRASES:
        sentence = python.sub(command, sentence)
    return sentence


def error_fix(error: HeadgateError) -> str | None:
    """What to do about an error; None where its message says so itself."""
    row = next((row for row in FIXES if row.is_for(error)), None)
    if row is not None:
        return row.fix
    match error.retry:
        case Retry.SAME:
            return "this may pass; run the command again"
        case Retry.RERUN | Retry.REBASE:
            return "nothing was committed; run the command again"
        case Retry.NEVER:
            return None
