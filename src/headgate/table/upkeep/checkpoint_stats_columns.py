"""Statistics and partition values of adds, as text and as columns, whichever form they come in."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.log.checkpoint_schema import FileColumns, Path, arrow_type
from headgate.protocol.schema import partition_values
from headgate.protocol.schema.types import DataType, Primitive
from headgate.protocol.stats import file_stats, stats_json
from headgate.protocol.stats.file_stats import ColumnStats
from headgate.protocol.stats.stats_json import StatsLeaf

_EXACT = msgspec.json.Decoder(float_hook=Decimal)
_BOUNDS = ("minValues", "maxValues")
_RECORDS, _TIGHT = StatsLeaf("numRecords", ()), StatsLeaf("tightBounds", ())


def as_text(texts: pa.Array, parsed: pa.StructArray | None, columns: FileColumns) -> pa.Array:
    """The ``stats`` strings, made from the columns where there is no string."""
    if parsed is None or texts.null_count == 0:
        return texts
    missing = pc.and_(pc.is_null(texts), pc.is_valid(parsed))
    if not pc.any(missing).as_py():
        return texts
    made = iter([_text(row, columns) for row in parsed.filter(missing).to_pylist()])
    filled = [next(made) if absent else None for absent in missing.to_pylist()]
    return pc.coalesce(texts, pa.array(filled, pa.string()))


def _text(row: Mapping[str, Any], columns: FileColumns) -> str | None:
    if row.get("numRecords") is None:
        return None
    found = (
        ColumnStats(
            path,
            kind,
            minimum=_inside(row.get("minValues"), path),
            maximum=_inside(row.get("maxValues"), path),
            nulls=_inside(row.get("nullCount"), path),
        )
        for path, kind in columns.leaves
    )
    text = file_stats.render(row["numRecords"], found)
    tight = row.get("tightBounds")
    return text if tight is None else f'{text[:-1]},"tightBounds":{msgspec.json.encode(tight).decode()}}}'


def _inside(node: Any, path: Path) -> Any:
    for name in path:
        node = node.get(name) if isinstance(node, Mapping) else None
    return node


def as_columns(texts: pa.Array, parsed: pa.StructArray | None, columns: FileColumns) -> pa.StructArray:
    """The statistics as typed columns; null where there are none."""
    target = columns.stats
    if parsed is not None and parsed.type == target and parsed.null_count == 0:
        return parsed
    kinds = {_RECORDS: pa.int64(), _TIGHT: pa.bool_()}
    kinds |= {StatsLeaf("nullCount", path): pa.int64() for path, _ in columns.leaves}
    bounds = {StatsLeaf(name, path): kind for name in _BOUNDS for path, kind in columns.bounded}
    decimal = {
        leaf: arrow_type(kind) for leaf, kind in bounds.items() if pa.types.is_decimal(arrow_type(kind))
    }
    json_kinds = kinds | {leaf: _json_type(kind) for leaf, kind in bounds.items() if leaf not in decimal}
    kinds |= {leaf: arrow_type(kind) for leaf, kind in bounds.items()}
    # Where a file has both forms, they say the same.
    wanted = texts if parsed is None else pc.if_else(pc.is_valid(parsed), pa.scalar(None, pa.string()), texts)
    found = stats_json.StatsJsonReader(json_kinds).read(wanted) | _decimals(wanted, decimal)
    typed = {leaf.keys: _typed(values, kinds[leaf]) for leaf, values in found.items()}
    if parsed is not None:
        typed = {
            keys: pc.coalesce(_parsed(parsed, keys, values.type), values) for keys, values in typed.items()
        }
    absent = pc.is_null(texts) if parsed is None else pc.and_(pc.is_null(texts), pc.is_null(parsed))
    return _nested(typed, target, absent)


def _parsed(column: pa.Array, keys: Path, target: pa.DataType) -> pa.Array:
    for key in keys:
        at = column.type.get_field_index(key) if pa.types.is_struct(column.type) else -1
        if at < 0:
            return pa.nulls(len(column), target)
        column = pc.struct_field(column, at)
    return _typed(column, target)


def _decimals(texts: pa.Array, leaves: Mapping[StatsLeaf, pa.DataType]) -> dict[StatsLeaf, pa.Array]:
    """Leaves with all of their digits, which a double does not have."""
    rows = [_decoded(text) for text in texts.to_pylist()] if leaves else []
    return {
        leaf: pa.array([_fitting(_inside(row, leaf.keys), kind) for row in rows], kind)
        for leaf, kind in leaves.items()
    }


def _decoded(text: str | None) -> Any:
    try:
        return None if text is None else _EXACT.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _fitting(value: Any, kind: pa.DataType) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    try:
        return pa.scalar(Decimal(value), kind).as_py()
    except (pa.ArrowInvalid, OverflowError):
        return None


def _json_type(kind: DataType) -> pa.DataType:
    match kind:
        case Primitive("byte" | "short" | "integer" | "long"):
            return pa.int64()
        case Primitive("float" | "double"):
            return pa.float64()
        case _:
            return pa.string()


def _typed(values: pa.Array, target: pa.DataType) -> pa.Array:
    """The values in the type of their column; what cannot be read is null, which is no bound."""
    try:
        return values.cast(target, safe=not pa.types.is_floating(target))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([_alone(value, target) for value in values], target)


def _alone(value: pa.Scalar, target: pa.DataType) -> Any:
    try:
        return value.cast(target).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _nested(found: Mapping[Path, pa.Array], target: pa.DataType, absent: pa.Array | None) -> pa.StructArray:
    parts = []
    for field in target:
        inner = {path[1:]: values for path, values in found.items() if path[0] == field.name}
        parts.append(_nested(inner, field.type, None) if pa.types.is_struct(field.type) else inner[()])
    return pa.StructArray.from_arrays(parts, fields=list(target), mask=absent)


def partition_columns(values: pa.MapArray, columns: FileColumns) -> pa.StructArray:
    """The partition values as typed columns."""
    parts = [_partition(values, name, kind) for name, kind in columns.partitions]
    return pa.StructArray.from_arrays(parts, fields=list(columns.partition_values))


def _partition(values: pa.MapArray, name: str, kind: DataType) -> pa.Array:
    encoded = pc.map_lookup(values, pa.scalar(name), "first").dictionary_encode()
    texts: Sequence[str | None] = encoded.dictionary.to_pylist()
    return _distinct(texts, kind).take(encoded.indices)


def _distinct(texts: Iterable[str | None], kind: DataType) -> pa.Array:
    if kind == Primitive("binary"):
        return pa.array(
            [None if not text else text.encode("latin-1", "replace") for text in texts], pa.binary()
        )
    return pa.array([partition_values.canonical_text(text, kind) for text in texts], pa.string()).cast(
        arrow_type(kind)
    )
