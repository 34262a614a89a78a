"""How is an argument of a public call taken? By its annotation: as meant, or refused with what to write.

``version="3"`` is version 3, ``partition_by="day"`` one column and ``drop_columns(["a", "b"])`` two, as
Spark users write them. What cannot be meant is an ``InvalidRequest`` that says what is expected, before
anything is done: a row for each kind of argument, and none of the calls looks at types itself.
"""

import inspect
import operator
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from headgate.errors import InvalidRequest
from headgate.protocol.features.rearrangement import Thresholds
from headgate.settings import Settings
from headgate.spelling import did_you_mean

REFUSED = object()
"""What stands for an argument that cannot be meant."""

_SHOWN_CHARACTERS = 60
_PLAIN = (str, int, float, bool, date, timedelta, type(None))


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """One kind of argument: what it is called, how one is taken, and what to write in place of another."""

    annotation: frozenset[object]
    what: str
    take: Callable[[Any], object]
    """What is meant, or ``REFUSED``."""
    instead: Callable[[Any], str]


Kinds = Mapping[str, ArgumentKind | None]
"""The kinds of the parameters of a call by name; None is left to the call."""


@dataclass(frozen=True, slots=True)
class PlacedArguments:
    """The arguments of a call of which none was given by its name."""

    names: Sequence[str]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments by their names."""
        return dict(zip(self.names, self.args, strict=False))


Arguments = PlacedArguments | inspect.BoundArguments


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a call takes: its signature, and the kinds of its parameters."""

    signature: inspect.Signature
    kinds: Kinds
    placed: Sequence[str] = ()
    """Those that may be given by their places; none if any number may be, or one must be named."""
    required: int = 0
    """How many of them must be given."""

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Arguments:
        """The arguments of a call by name; ``TypeError`` if they do not go with the function."""
        if not kwargs and self.placed and self.required <= len(args) <= len(self.placed):
            return PlacedArguments(self.placed, args)  # most calls, in half the time
        return self.signature.bind(*args, **kwargs)

    def take(self, given: Arguments) -> Arguments:
        """The same, in place of each argument what is meant by it."""
        if isinstance(given, PlacedArguments):
            return PlacedArguments(given.names, tuple(map(self._taken, given.names, given.args)))
        for name, value in given.arguments.items():
            given.arguments[name] = self._taken(name, value)
        return given

    def _taken(self, name: str, value: Any) -> Any:
        kind = self.kinds.get(name)
        return value if kind is None else coerce_arguments(kind, name, value)


def parameters_of(function: Callable[..., Any], known: Sequence[ArgumentKind]) -> Parameters:
    """What a function takes, by its annotations, of the kinds that are known."""
    signature = inspect.signature(function)
    kinds = dict(kinds_of(function, known))
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL and kinds.get(name) is not None:
            kinds[name] = _VARARGS
        elif parameter.kind is parameter.VAR_KEYWORD:
            kinds.pop(name, None)  # options are taken by those who know them
    return Parameters(signature, kinds, *_places(signature))


def _places(signature: inspect.Signature) -> tuple[Sequence[str], int]:
    """Which parameters may be given by their places, and how many of them must be given."""
    found = signature.parameters.values()
    is_open = any(each.kind is each.VAR_POSITIONAL for each in found)
    if is_open or any(each.kind is each.KEYWORD_ONLY and each.default is each.empty for each in found):
        return (), 0
    placed = [each for each in found if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return tuple(each.name for each in placed), sum(each.default is each.empty for each in placed)


def kinds_of(annotated: Callable[..., Any] | type, known: Sequence[ArgumentKind]) -> Kinds:
    """The kinds of all that a function or a TypedDict annotates."""
    hints = get_type_hints(annotated)
    hints.pop("return", None)
    return {name: _kind(hint, known) for name, hint in hints.items()}


def take_options(asked: Mapping[str, Any], kinds: Kinds, of: str) -> dict[str, Any]:
    """The options of a call as they are meant, without those that are None."""
    for name in asked:
        if name not in kinds:
            raise InvalidRequest(
                f"there is no option {name!r} of {of}:{did_you_mean(name, kinds)} there are "
                f"{', '.join(sorted(kinds))}"
            )
    return {
        name: value if (kind := kinds[name]) is None else coerce_arguments(kind, name, value)
        for name, value in asked.items()
        if value is not None
    }


def coerce_arguments(kind: ArgumentKind, name: str, value: Any) -> object:
    """What is meant by the argument of this name; ``InvalidRequest`` if it cannot be one of the kind."""
    meant = kind.take(value)
    if meant is REFUSED:
        if kind is _VARARGS and len(value) == 1:
            (value,) = value
        raise InvalidRequest(f"{name} must be {kind.what}, not {shown(value)}: {kind.instead(value)}")
    return meant


def shown(value: object) -> str:
    """A value in a message: itself if it is plain and short, else what it is."""
    kind = type(value).__name__
    if not isinstance(value, _PLAIN):
        return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _kind(hint: object, known: Sequence[ArgumentKind]) -> ArgumentKind | None:
    """The kind of an annotation; of one that allows None, a kind that does."""
    parts = frozenset(get_args(hint)) if get_origin(hint) in (Union, types.UnionType) else frozenset({hint})
    wanted = parts - {type(None)}
    kind = next((kind for kind in known if kind.annotation == wanted), None)
    if kind is None or wanted == parts:
        return kind
    take_some = kind.take
    return ArgumentKind(
        parts, kind.what, lambda value: None if value is None else take_some(value), kind.instead
    )


def _integer(value: Any) -> object:
    if isinstance(value, str) and value.strip().lstrip("+-").isdecimal():
        return int(value)
    try:
        return REFUSED if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return REFUSED


def _number(value: Any) -> object:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else REFUSED


def instance_of(*kinds: type) -> Callable[[Any], object]:
    """Takes what is an instance of one of these, as it is."""
    return lambda value: value if isinstance(value, kinds) else REFUSED


def _path(value: Any) -> object:
    return fspath(value) if isinstance(value, str | PathLike) else REFUSED


def _paths(value: Any) -> object:
    """Paths, of which a single one need not be in a list."""
    if isinstance(value, str | PathLike):
        return (fspath(value),)
    listed = _listed(value)
    paths = (REFUSED,) if listed is None else tuple(_path(path) for path in listed)
    return REFUSED if REFUSED in paths else paths


def _names(value: Any) -> object:
    """Names, of which a single one need not be in a list."""
    if isinstance(value, str):
        return (value,)
    names = _listed(value)
    return REFUSED if names is None or not all(isinstance(name, str) for name in names) else names


def _listed(value: Any) -> tuple[Any, ...] | None:
    if not isinstance(value, Iterable) or isinstance(value, Mapping):
        return None
    try:
        return tuple(value)
    except TypeError:  # a Column of Spark looks as if it could be iterated
        return None


def _varargs(value: Any) -> object:
    """Names as arguments of their own, or in one list."""
    return _names(value[0]) if len(value) == 1 and not isinstance(value[0], str) else _names(value)


def _timestamp(value: Any) -> object:
    """A day is its midnight, as its text is."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, datetime | str) else REFUSED


def _version_or_timestamp(value: Any) -> object:
    found = _timestamp(value)
    return _integer(value) if found is REFUSED else found


def _application_batch(value: Any) -> object:
    if not isinstance(value, tuple | list) or len(value) != 2 or not isinstance(value[0], str):
        return REFUSED
    number = _integer(value[1])
    return REFUSED if number is REFUSED else (value[0], number)


def say(text: str) -> Callable[[Any], str]:
    """Says this in place of whatever was given."""
    return lambda _value: text


def _text_hint(value: Any) -> str:
    is_json = isinstance(value, Mapping | list | tuple)
    return "write it as text, as json.dumps does" if is_json else "write it in quotes"


def _duration_hint(value: Any) -> str:
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else 168
    return f"say the unit too, as in timedelta(hours={number})"


def _timestamp_hint(value: Any) -> str:
    return "write it like '2026-01-31T12:00:00Z', or give a datetime" + (
        "; to count versions, say version=…" if isinstance(value, int) else ""
    )


_NAMES = "a list of names"
_VARARGS = ArgumentKind(frozenset(), "names", _varargs, say("give texts, as in 'id', 'address.city'"))

KINDS: tuple[ArgumentKind, ...] = (
    ArgumentKind(frozenset({int}), "a whole number", _integer, say("write one such as 3")),
    ArgumentKind(frozenset({float}), "a number", _number, say("write one such as 0.5")),
    ArgumentKind(
        frozenset({bool}), "True or False", instance_of(bool), say("write one of the two, without quotes")
    ),
    ArgumentKind(frozenset({str}), "a text", instance_of(str), _text_hint),
    ArgumentKind(frozenset({str, Path}), "a path", _path, say("give a text or a pathlib.Path")),
    ArgumentKind(
        frozenset({Iterable[str | Path]}),
        "a list of paths",
        _paths,
        say("write them like ['s3://bucket/table']"),
    ),
    ArgumentKind(
        frozenset({Thresholds}),
        "Thresholds",
        instance_of(Thresholds),
        say("write headgate.Thresholds(small_files=50)"),
    ),
    ArgumentKind(
        frozenset({Settings}), "Settings", instance_of(Settings), say("write headgate.Settings(publish=…)")
    ),
    ArgumentKind(frozenset({timedelta}), "a timedelta", instance_of(timedelta), _duration_hint),
    ArgumentKind(frozenset({datetime, str}), "a moment", _timestamp, _timestamp_hint),
    ArgumentKind(
        frozenset({int, datetime, str}),
        "a version or a moment",
        _version_or_timestamp,
        say("write one such as 3, or '2026-01-31T12:00:00Z'"),
    ),
    ArgumentKind(frozenset({Iterable[str]}), _NAMES, _names, say("write texts, as in ['id', 'day']")),
    ArgumentKind(frozenset({Sequence[str]}), _NAMES, _names, say("write texts, as in ['id', 'day']")),
    ArgumentKind(
        frozenset({str, tuple[str, ...], list[str]}),
        _NAMES,
        _names,
        say("write texts, as in ['id', 'day']"),
    ),
    ArgumentKind(
        frozenset({Mapping[str, str]}), "a dict", instance_of(Mapping), say("write it like {'name': 'value'}")
    ),
    ArgumentKind(
        frozenset({tuple[str, int]}),
        "the application's name and the number of its batch",
        _application_batch,
        say("write them like ('load-orders', 7)"),
    ),
)
"""The kinds of argument that are the same whatever reads the rows; others are left to those who take them."""
