"""A few leaves out of the statistics of many files, as Arrow columns.

The texts of an Arrow column lie one after the other, which is what a decoder of JSON lines wants.
One that knows only the leaves skips all else several times faster than it could be read. Where
some text of a batch does not fit (``"NaN"`` for a number), its texts are read one by one.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

_ANYTHING = msgspec.json.Decoder(float_hook=Decimal)
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_OPENINGS = ('{"n', '{"m', '{"t')
_EMPTY = "{}"


@dataclass(frozen=True, slots=True)
class StatsLeaf:
    """A value in the statistics of a file: ``minValues``, then the path of a column."""

    section: str
    path: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.section, *self.path)


class StatsJsonReader:
    """Reads some leaves, each in the type asked for; null where one is not there or does not fit."""

    __slots__ = ("_decoder", "_leaves", "_places", "_row")

    def __init__(self, leaves: Mapping[StatsLeaf, pa.DataType]) -> None:
        self._leaves = leaves
        self._places: dict[StatsLeaf, str] = {}
        tree: dict[str, Any] = {}
        for leaf in leaves:
            _put(tree, leaf.keys, leaf)
        self._row = self._struct(tree, "")
        self._decoder = msgspec.json.Decoder(self._row)

    def read(self, texts: pa.Array) -> dict[StatsLeaf, pa.Array]:
        """Each leaf in every text."""
        filled = texts.fill_null(_EMPTY) if texts.null_count else texts
        rows = self._at_once(filled)
        if rows is None:
            rows = [self._alone(text) for text in filled.cast(pa.binary()).to_pylist()]
        return {
            leaf: _array(_values(rows, self._places[leaf]), data_type)
            for leaf, data_type in self._leaves.items()
        }

    def _struct(self, tree: Mapping[str, Any], prefix: str) -> Any:
        """The class of objects with these keys, whatever they are, and where each leaf is in it."""
        fields: list[tuple[str, Any, Any]] = []
        for name, node in ((f"f{number}", node) for number, node in enumerate(tree.values())):
            if isinstance(node, StatsLeaf):
                self._places[node] = prefix + name
                fields.append((name, _kind(self._leaves[node]) | None, None))
            else:
                inner = self._struct(node, f"{prefix}{name}.")
                fields.append((name, inner | None, inner()))
        keys = {name: key for (name, _, _), key in zip(fields, tree, strict=True)}
        return msgspec.defstruct("Statistics", fields, rename=keys, frozen=True, gc=False)

    def _at_once(self, texts: pa.Array) -> Sequence[Any] | None:
        if not _stand_apart(texts):
            return None
        _, offsets, values = texts.buffers()
        ends = memoryview(offsets).cast("i")
        begin, end = ends[texts.offset], ends[texts.offset + len(texts)]
        try:
            rows = self._decoder.decode_lines(memoryview(values)[begin:end])
        except _UNREADABLE:
            return None
        return rows if len(rows) == len(texts) else None

    def _alone(self, text: bytes) -> Any:
        try:
            return self._decoder.decode(text)
        except _UNREADABLE:
            return msgspec.convert(self._fitting(text), self._row)

    def _fitting(self, text: bytes) -> Mapping[str, Any]:
        """As much of a text as has the types asked for."""
        found: dict[str, Any] = {}
        try:
            whole = _ANYTHING.decode(text)
        except _UNREADABLE:
            return found
        for leaf, data_type in self._leaves.items():
            node = whole
            for key in leaf.keys:
                node = node.get(key) if isinstance(node, dict) else None
            _put(found, leaf.keys, _plain(node, data_type))
        return found


def _put(tree: dict[str, Any], keys: Sequence[str], value: Any) -> None:
    for key in keys[:-1]:
        tree = tree.setdefault(key, {})
    tree[keys[-1]] = value


def _kind(data_type: pa.DataType) -> type:
    kinds: tuple[tuple[Callable[[pa.DataType], bool], type], ...] = (
        (pa.types.is_boolean, bool),
        (pa.types.is_integer, int),
        (pa.types.is_floating, float),
        (pa.types.is_string, str),
    )
    return next(kind for fits, kind in kinds if fits(data_type))


def _stand_apart(texts: pa.Array) -> bool:
    """Whether, put one after the other, they cannot be read as other objects than each by itself.

    An object left open would go on with a brace where only a comma may be, and a string left open
    would end at the first quote of a text that follows, where a letter comes next: neither is
    JSON. So if there are as many objects as texts, each text is one of them.
    """
    if not len(texts) or not _all(pc.ends_with(texts, "}")):
        return False
    opened = pc.equal(texts, _EMPTY)
    for opening in _OPENINGS:
        opened = pc.or_(opened, pc.starts_with(texts, opening))
        if _all(opened):
            return True
    return False


def _all(known: pa.BooleanArray) -> bool:
    return bool(known.true_count == len(known))


def _values(rows: Sequence[Any], place: str) -> list[Any]:
    try:
        return list(map(attrgetter(place), rows))
    except AttributeError:  # null for an object on the way
        return [_inside(row, place.split(".")) for row in rows]


def _inside(row: Any, names: Sequence[str]) -> Any:
    for name in names:
        row = getattr(row, name, None)
    return row


def _plain(value: Any, target: pa.DataType) -> Any:
    """The value, if it is one of the type."""
    match value:
        case bool():
            return value if pa.types.is_boolean(target) else None
        case int() | Decimal() if pa.types.is_floating(target):
            number = float(Decimal(value))  # infinite where it is beyond all doubles
            return number if math.isfinite(number) else None
        case int() if pa.types.is_integer(target):
            return value
        case str() if pa.types.is_string(target):
            return value
        case _:
            return None


def _array(values: list[Any], target: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, target)
    except OverflowError:  # some number is beyond a long
        return pa.array([_alone(value, target) for value in values], target)


def _alone(value: Any, target: pa.DataType) -> Any:
    try:
        return pa.scalar(value, target).as_py()
    except OverflowError:
        return None
