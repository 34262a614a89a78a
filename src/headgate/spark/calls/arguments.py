"""How is an argument of a public call taken? By its annotation: as meant, or refused with what to write.

``version="3"`` is version 3, ``partition_by="day"`` one column and ``drop_columns(["a", "b"])`` two, as
Spark users write them. What cannot be meant is an ``InvalidRequest`` that says what is expected, before
anything is done: a row for each kind of argument, and none of the calls looks at types itself.
"""

import inspect
import operator
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StructType

from headgate.errors import InvalidRequest
from headgate.protocol.features.rearrangement import Thresholds
from headgate.settings import Settings
from headgate.spelling import did_you_mean

_SHOWN_CHARACTERS = 60
_PLAIN = (str, int, float, bool, date, timedelta, type(None))
_REFUSED = object()


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of argument: what it is called, how one is taken, and what to write in place of another."""

    annotation: frozenset[object]
    what: str
    take: Callable[[Any], object]
    """What is meant, or ``_REFUSED``."""
    instead: Callable[[Any], str]


def bound(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> inspect.BoundArguments:
    """The arguments of a call by name; ``TypeError`` if they do not go with the function."""
    return _signature(function)[0].bind(*args, **kwargs)


def take(function: Callable[..., Any], given: inspect.BoundArguments) -> None:
    """Put in place of each argument what is meant by it."""
    rows = _signature(function)[1]
    for name, value in given.arguments.items():
        if (row := rows.get(name)) is not None:
            given.arguments[name] = _taken(row, name, value)


def taken_options(asked: Mapping[str, Any], known: type, of: str) -> dict[str, Any]:
    """The options of a call as they are meant, without those that are None; ``known`` is their TypedDict."""
    rows = _rows(known)
    for name in asked:
        if name not in rows:
            raise InvalidRequest(
                f"there is no option {name!r} of {of}:{did_you_mean(name, rows)} there are "
                f"{', '.join(sorted(rows))}"
            )
    return {
        name: value if (row := rows[name]) is None else _taken(row, name, value)
        for name, value in asked.items()
        if value is not None
    }


def _taken(row: Row, name: str, value: Any) -> object:
    meant = row.take(value)
    if meant is _REFUSED:
        if row is _SPREAD and len(value) == 1:
            (value,) = value
        raise InvalidRequest(f"{name} must be {row.what}, not {_shown(value)}: {row.instead(value)}")
    return meant


def _shown(value: object) -> str:
    kind = type(value).__name__
    if not isinstance(value, _PLAIN):
        return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


@cache
def _signature(function: Callable[..., Any]) -> tuple[inspect.Signature, Mapping[str, Row | None]]:
    signature = inspect.signature(function)
    rows = dict(_rows(function))
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL and rows.get(name) is not None:
            rows[name] = _SPREAD
        elif parameter.kind is parameter.VAR_KEYWORD:
            rows.pop(name, None)  # options are taken by those who know them
    return signature, rows


@cache
def _rows(annotated: Callable[..., Any] | type) -> Mapping[str, Row | None]:
    hints = get_type_hints(annotated)
    hints.pop("return", None)
    return {name: _row(hint) for name, hint in hints.items()}


def _row(hint: object) -> Row | None:
    """The row of an annotation; of one that allows None, a row that does."""
    parts = frozenset(get_args(hint)) if get_origin(hint) in (Union, types.UnionType) else frozenset({hint})
    wanted = parts - {type(None)}
    found = next((row for row in ROWS if row.annotation == wanted), None)
    if found is None or wanted == parts:
        return found
    take = found.take
    return Row(parts, found.what, lambda value: None if value is None else take(value), found.instead)


def _whole(value: Any) -> object:
    if isinstance(value, str) and value.strip().lstrip("+-").isdecimal():
        return int(value)
    try:
        return _REFUSED if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return _REFUSED


def _number(value: Any) -> object:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else _REFUSED


def _instance(*kinds: type) -> Callable[[Any], object]:
    return lambda value: value if isinstance(value, kinds) else _REFUSED


def _path(value: Any) -> object:
    return fspath(value) if isinstance(value, str | PathLike) else _REFUSED


def _paths(value: Any) -> object:
    """Paths, of which a single one need not be in a list."""
    if isinstance(value, str | PathLike):
        return (fspath(value),)
    if not isinstance(value, Iterable) or isinstance(value, Mapping | DataFrame):
        return _REFUSED
    paths = [_path(path) for path in value]
    return _REFUSED if _REFUSED in paths else tuple(paths)


def _names(value: Any) -> object:
    """Names, of which a single one need not be in a list."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable) or isinstance(value, Mapping | Column | DataFrame):
        return _REFUSED
    names = tuple(value)
    return names if all(isinstance(name, str) for name in names) else _REFUSED


def _spread(value: Any) -> object:
    """Names as arguments of their own, or in one list."""
    return _names(value[0]) if len(value) == 1 and not isinstance(value[0], str) else _names(value)


def _moment(value: Any) -> object:
    """A day is its midnight, as its text is."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, datetime | str) else _REFUSED


def _version_or_moment(value: Any) -> object:
    found = _moment(value)
    return _whole(value) if found is _REFUSED else found


def _assignments(value: Any) -> object:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        return _REFUSED
    for name, assigned in value.items():
        if not isinstance(assigned, Column | str):
            raise InvalidRequest(
                f"the value for {name!r} must be a Column or SQL text, not {_shown(assigned)}: write "
                f"F.lit({assigned!r}) for the value itself, where F is pyspark.sql.functions"
            )
    return value


def _application_batch(value: Any) -> object:
    if not isinstance(value, tuple | list) or len(value) != 2 or not isinstance(value[0], str):
        return _REFUSED
    number = _whole(value[1])
    return _REFUSED if number is _REFUSED else (value[0], number)


def _says(text: str) -> Callable[[Any], str]:
    return lambda _value: text


def _instead_of_text(value: Any) -> str:
    is_json = isinstance(value, Mapping | list | tuple)
    return "write it as text, as json.dumps does" if is_json else "write it in quotes"


def _instead_of_rows(value: Any) -> str:
    made = "rows, 'id BIGINT, name STRING'" if isinstance(value, list | tuple) else "rows"
    return f"make one with spark.createDataFrame({made}), which takes lists, pandas and Arrow"


def _instead_of_duration(value: Any) -> str:
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else 168
    return f"say the unit too, as in timedelta(hours={number})"


def _instead_of_moment(value: Any) -> str:
    return "write it like '2026-01-31T12:00:00Z', or give a datetime" + (
        "; to count versions, say version=…" if isinstance(value, int) else ""
    )


_NAMES = "a list of names"
_CONDITION = _says("write it like 'id > 5', or F.col('id') > 5")
_SPREAD = Row(frozenset(), "names", _spread, _says("give texts, as in 'id', 'address.city'"))

ROWS: tuple[Row, ...] = (
    Row(frozenset({int}), "a whole number", _whole, _says("write one such as 3")),
    Row(frozenset({float}), "a number", _number, _says("write one such as 0.5")),
    Row(frozenset({bool}), "True or False", _instance(bool), _says("write one of the two, without quotes")),
    Row(frozenset({str}), "a text", _instance(str), _instead_of_text),
    Row(frozenset({str, Path}), "a path", _path, _says("give a text or a pathlib.Path")),
    Row(
        frozenset({Iterable[str | Path]}),
        "a list of paths",
        _paths,
        _says("write them like ['s3://bucket/table']"),
    ),
    Row(
        frozenset({Thresholds}),
        "Thresholds",
        _instance(Thresholds),
        _says("write headgate.Thresholds(small_files=50)"),
    ),
    Row(frozenset({Settings}), "Settings", _instance(Settings), _says("write headgate.Settings(publish=…)")),
    Row(frozenset({timedelta}), "a timedelta", _instance(timedelta), _instead_of_duration),
    Row(frozenset({datetime, str}), "a moment", _moment, _instead_of_moment),
    Row(
        frozenset({int, datetime, str}),
        "a version or a moment",
        _version_or_moment,
        _says("write one such as 3, or '2026-01-31T12:00:00Z'"),
    ),
    Row(frozenset({DataFrame}), "a DataFrame of Spark", _instance(DataFrame), _instead_of_rows),
    Row(
        frozenset({DataFrame, StructType, str}),
        "the columns of a table",
        _instance(DataFrame, StructType, str),
        _says("write them like 'id BIGINT, name STRING', or give a StructType or a DataFrame that has them"),
    ),
    Row(frozenset({Column, str}), "a condition", _instance(Column, str), _CONDITION),
    Row(frozenset({Iterable[str]}), _NAMES, _names, _says("write texts, as in ['id', 'day']")),
    Row(frozenset({Sequence[str]}), _NAMES, _names, _says("write texts, as in ['id', 'day']")),
    Row(
        frozenset({str, tuple[str, ...], list[str]}),
        _NAMES,
        _names,
        _says("write texts, as in ['id', 'day']"),
    ),
    Row(
        frozenset({Mapping[str, str]}), "a dict", _instance(Mapping), _says("write it like {'name': 'value'}")
    ),
    Row(
        frozenset({Mapping[str, Column | str]}),
        "a dict of columns and values",
        _assignments,
        _says("write it like {'name': 'upper(name)', 'amount': F.lit(5)}"),
    ),
    Row(
        frozenset({tuple[str, int]}),
        "the application's name and the number of its batch",
        _application_batch,
        _says("write them like ('load-orders', 7)"),
    ),
)
"""Every kind of argument that is looked at; others are left to those who take them."""
