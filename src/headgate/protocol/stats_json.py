"""A few leaves out of the statistics of many files, as Arrow columns.

The strings of an Arrow column lie one after the other, which is what a reader of JSON lines
wants: nothing is copied and no Python object is made, unless a slice has statistics of a shape
that does not fit (``"NaN"`` for a number), when its files are read one by one.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

_SLICE = 32 * 1024
_DECODER = msgspec.json.Decoder(float_hook=Decimal)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value in the statistics of a file: ``minValues``, then the path of a column."""

    section: str
    path: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.section, *self.path)


def read(files: pa.Table, leaves: Mapping[Leaf, pa.DataType]) -> dict[Leaf, pa.Array]:
    """Each leaf in every file: parsed statistics of checkpoints where there are any, else JSON.

    JSON comes in the type asked for, parsed statistics in the type they have if all of the files
    have them. What is not there, or does not fit, is null.
    """
    parsed = _parsed(files, leaves)
    texts = files["stats"]
    if len(parsed) == len(leaves):
        texts = pc.if_else(pc.is_valid(files["stats_parsed"]), pa.scalar(None, pa.string()), texts)
        if texts.null_count == len(texts):
            return parsed
    found = _from_json(texts, leaves)
    return {
        leaf: pc.coalesce(_fitting(parsed[leaf], data_type), found[leaf]) if leaf in parsed else found[leaf]
        for leaf, data_type in leaves.items()
    }


def _parsed(files: pa.Table, leaves: Mapping[Leaf, pa.DataType]) -> dict[Leaf, pa.Array]:
    if "stats_parsed" not in files.column_names:
        return {}
    column = files["stats_parsed"].combine_chunks()
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    found = ((leaf, _inside(column, leaf.keys)) for leaf in leaves)
    return {leaf: values for leaf, values in found if values is not None}


def _inside(column: pa.Array, keys: tuple[str, ...]) -> pa.Array | None:
    for key in keys:
        if not pa.types.is_struct(column.type) or column.type.get_field_index(key) < 0:
            return None
        column = pc.struct_field(column, column.type.get_field_index(key))
    return column


def _fitting(values: pa.Array, target: pa.DataType) -> pa.Array:
    if pa.types.is_string(target) and pa.types.is_timestamp(values.type):
        zone = "Z" if values.type.tz else ""
        return pc.binary_join_element_wise(pc.strftime(values, "%Y-%m-%dT%H:%M:%S"), zone, "")
    try:
        return values.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(len(values), target)


def _from_json(texts: pa.ChunkedArray, leaves: Mapping[Leaf, pa.DataType]) -> dict[Leaf, pa.Array]:
    if not pa.types.is_string(texts.type):
        texts = texts.cast(pa.string())
    slices = [chunk.slice(start, _SLICE) for chunk in texts.chunks for start in range(0, len(chunk), _SLICE)]
    schema = _schema(leaves)
    if len(slices) <= 1:
        tables = [_slice(part, schema, leaves) for part in slices]
    else:
        with ThreadPoolExecutor(pa.cpu_count()) as pool:
            tables = list(pool.map(lambda part: _slice(part, schema, leaves), slices))
    return {
        leaf: pa.concat_arrays([table[leaf] for table in tables]) if tables else pa.nulls(0, data_type)
        for leaf, data_type in leaves.items()
    }


def _schema(leaves: Mapping[Leaf, pa.DataType]) -> pa.Schema:
    tree: dict[str, Any] = {}
    for leaf, data_type in leaves.items():
        node = tree
        for key in leaf.keys[:-1]:
            node = node.setdefault(key, {})
        node[leaf.keys[-1]] = data_type
    return pa.schema(_fields(tree))


def _fields(tree: Mapping[str, Any]) -> list[tuple[str, pa.DataType]]:
    return [(key, pa.struct(_fields(node)) if isinstance(node, dict) else node) for key, node in tree.items()]


def _slice(
    texts: pa.StringArray, schema: pa.Schema, leaves: Mapping[Leaf, pa.DataType]
) -> dict[Leaf, pa.Array]:
    filled = texts.fill_null("{}") if texts.null_count else texts
    try:
        table = _bulk(filled, schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return _one_by_one(texts, leaves)
    if table.num_rows != len(texts):
        return _one_by_one(texts, leaves)
    rows = table.to_struct_array().combine_chunks()
    rows = rows.combine_chunks() if isinstance(rows, pa.ChunkedArray) else rows
    return {leaf: _inside(rows, leaf.keys) for leaf in leaves}


def _bulk(texts: pa.StringArray, schema: pa.Schema) -> pa.Table:
    _, offsets, values = texts.buffers()
    ends = memoryview(offsets).cast("i")
    begin, end = ends[texts.offset], ends[texts.offset + len(texts)]
    return pj.read_json(
        pa.BufferReader(values.slice(begin, end - begin)),
        read_options=pj.ReadOptions(use_threads=False, block_size=end - begin + 1),
        parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    )


def _one_by_one(texts: pa.StringArray, leaves: Mapping[Leaf, pa.DataType]) -> dict[Leaf, pa.Array]:
    found: dict[Leaf, list[Any]] = {leaf: [] for leaf in leaves}
    for text in texts.to_pylist():
        try:
            whole = _DECODER.decode(text) if text else None
        except msgspec.DecodeError:
            whole = None
        for leaf, values in found.items():
            node = whole
            for key in leaf.keys:
                node = node.get(key) if isinstance(node, dict) else None
            values.append(_plain(node, leaves[leaf]))
    return {leaf: _array(values, leaves[leaf]) for leaf, values in found.items()}


def _plain(value: Any, target: pa.DataType) -> Any:
    """The value, if it is one of the type."""
    match value:
        case bool():
            return value if pa.types.is_boolean(target) else None
        case int() | Decimal() if pa.types.is_floating(target):
            return float(value)
        case int() | Decimal() if pa.types.is_decimal(target):
            return Decimal(value)
        case int() if pa.types.is_integer(target) and abs(value) < 1 << 63:
            return value
        case str() if pa.types.is_string(target):
            return value
        case _:
            return None


def _array(values: list[Any], target: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, target)
    except (pa.ArrowInvalid, OverflowError):
        return pa.array([_alone(value, target) for value in values], target)


def _alone(value: Any, target: pa.DataType) -> Any:
    try:
        return pa.scalar(value, target).as_py()
    except (pa.ArrowInvalid, OverflowError):
        return None
