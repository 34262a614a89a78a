"""What was a reader or a writer of Spark asked for, before it learns that the table is a lake's?

``df.write.mode("append").option("mergeSchema", True).saveAsTable("sales.orders")`` says how before it says
where, and what was said is then known to Spark's JVM or server. So every such call is noted on the object as
well, by the public names of its methods, which are those of every version and of Spark Connect.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

_NOTES = "_headgate_calls"
READER_CALLS = ("format", "schema", "option", "options")
WRITER_CALLS = ("mode", "format", "option", "options", "partitionBy", "bucketBy", "sortBy", "clusterBy")


@dataclass(frozen=True, slots=True)
class BuilderCalls:
    """What was asked for so far; the last word counts."""

    mode: str | None = None
    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] | None = None
    others: frozenset[str] = frozenset()
    """The methods that were called and mean nothing to a table of a lake."""


def recording_calls(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a reader or a writer that does what it did, and is remembered once it did."""

    @wraps(method)
    def call(builder: Any, *args: Any, **kwargs: Any) -> Any:
        done = method(builder, *args, **kwargs)
        builder.__dict__.setdefault(_NOTES, []).append((method.__name__, args, kwargs))
        return done

    return call


def calls_of(builder: Any) -> BuilderCalls:
    """What a reader or a writer was asked for."""
    found: dict[str, Any] = {}
    options: dict[str, str] = {}
    others = set()
    for name, args, kwargs in builder.__dict__.get(_NOTES, ()):
        match name:
            case "option":
                options |= _option(*args, **kwargs)
            case "options":
                options |= {key: _text(value) for key, value in kwargs.items() if value is not None}
            case "partitionBy" | "clusterBy":
                found[_FIELDS[name]] = tuple(_names(args))
            case "mode" | "format":
                value = next(iter((*args, *kwargs.values())), None)
                found |= {} if value is None else {name: str(value)}
            case _:
                others.add(name)
    return BuilderCalls(options=options, others=frozenset(others), **found)


_FIELDS = {"partitionBy": "partition_by", "clusterBy": "cluster_by"}


def _option(key: str, value: object) -> dict[str, str]:
    return {} if value is None else {key: _text(value)}


def _names(given: Iterable[object]) -> Iterable[str]:
    for each in given:
        if isinstance(each, str):
            yield each
        elif isinstance(each, Iterable):
            yield from map(str, each)


def _text(value: object) -> str:
    """As Spark writes options."""
    return str(value).lower() if isinstance(value, bool) else str(value)
