"""What is the same about every call of a user: arguments are taken as meant, and errors are told briefly.

Below, tables have ids and errors come out of many frames and other libraries' failures. Whoever called
``table.append(…)`` knows the table by its name or path and can do nothing about the rest: so an error
leaves here with that name and without the way it came, which ``error.details()`` still tells.
"""

import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from headgate import tracing
from headgate.calls.arguments import KINDS, ArgumentKind, parameters_of
from headgate.errors import HeadgateError

FULL_TRACEBACKS = "HEADGATE_FULL_TRACEBACKS"
"""Set this variable of the environment, and errors keep their frames and causes."""

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")
Class = TypeVar("Class", bound=type)

_DUNDER = ("__call__", "__contains__", "__enter__", "__exit__", "__getitem__", "__iter__")
_TABLE_ARGUMENTS = ("name", "table", "child", "on", "location")


@dataclass(frozen=True, slots=True)
class CallSubject:
    """The table that a call is about, as its user knows it."""

    name: str | None = None
    location: str | None = None
    ids: Mapping[str, str] = field(default_factory=dict)
    """The names of tables by the ids that errors may call them by."""


UNKNOWN_SUBJECT = CallSubject()


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where calls of users come in: the arguments that are known there, and what failures mean."""

    kinds: Sequence[ArgumentKind]
    meaning: Callable[[Exception], HeadgateError | None] = lambda _failure: None
    """The error behind another library's failure, None if it is left as it is."""

    def user_calls(self, cls: Class) -> Class:
        """Have every public method of a class be a call of a user.

        An object that knows which table it is about says so by a method ``_subject``.
        """
        for name, function in inspect.getmembers(cls, inspect.isfunction):
            if name in _DUNDER or not name.startswith("_"):
                setattr(cls, name, self.user_call(function))
        return cls

    def user_call(self, function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
        """Have a function be a call of a user."""
        # When it is first called: annotations may name what the module defines further down.
        parameters = cache(lambda: parameters_of(function, self.kinds))
        name = f"headgate.api.{function.__name__}"

        @wraps(function)
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
            try:
                known = parameters()
                given = known.bind(args, kwargs)
            except TypeError:  # what is missing or unknown, Python says best
                return function(*args, **kwargs)
            try:
                given = known.take(given)
                with tracing.span(name):
                    return function(*given.args, **given.kwargs)
            except HeadgateError as error:
                if os.environ.get(FULL_TRACEBACKS):
                    raise
                raise _shortened(error, _subject(args, given.arguments)) from None
            except Exception as failure:
                meant = self.meaning(failure)
                if meant is None or os.environ.get(FULL_TRACEBACKS):
                    raise
                meant.origin, meant.cause = failure.__traceback__, failure
                raise _shortened(meant, _subject(args, given.arguments)) from None

        return call


PLAIN = Boundary(KINDS)
"""The boundary of what can be called without Spark."""


@contextmanager
def short_tracebacks() -> Iterator[None]:
    """Errors that leave this block are told as those of a call are."""
    try:
        yield
    except HeadgateError as error:
        if os.environ.get(FULL_TRACEBACKS):
            raise
        raise _shortened(error, UNKNOWN_SUBJECT) from None


def _shortened(error: HeadgateError, subject: CallSubject) -> HeadgateError:
    """The error, about the table by its name, without frames and causes, which it remembers."""
    if error.origin is None:
        error.origin, error.cause = error.__traceback__, error.__cause__
    error.reword(_message_with_name(error.message, subject))
    return error.with_traceback(None)


def _message_with_name(message: str, subject: CallSubject) -> str:
    for table_id, name in subject.ids.items():
        parts = re.split(rf"(?<![\w/.-]){re.escape(table_id)}(?![\w/-])", message)  # not folders called so
        message = name.join(parts)
    known = [text for text in (subject.name, subject.location) if text]
    return f"table {known[0]}: {message}" if known and not any(text in message for text in known) else message


def _subject(args: tuple[Any, ...], given: Mapping[str, Any]) -> CallSubject:
    """The table that a call is about, by the object whose method it is and by its arguments."""
    says = getattr(args[0], "_subject", None) if args else None
    subject: CallSubject = UNKNOWN_SUBJECT if says is None else says()
    if subject.name is not None:
        return subject
    named = next(
        (str(given[name]) for name in _TABLE_ARGUMENTS if isinstance(given.get(name), str | os.PathLike)),
        None,
    )
    is_table = named is not None and ("." in named or os.sep in named)
    return CallSubject(named if is_table else None, ids=subject.ids)
