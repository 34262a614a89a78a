"""CHAR and VARCHAR, which are stored as strings: padded, and never longer than they say, at any depth."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from headgate.arrow import column_fit
from headgate.errors import ConstraintViolated
from headgate.protocol.metadata import char_varchar, type_ddl
from headgate.protocol.schema.types import Array, DataType, Field, Map, Struct

_Change = Callable[[pa.Array, DataType], pa.Array]


def pad_and_check_length(values: pa.ChunkedArray, field: Field) -> pa.ChunkedArray:
    """The texts as the column stores them; one that is too long is refused, spaces at its end apart."""
    return _changed(values, field, char_varchar.has_sized_texts, _stored)


def pad(values: pa.ChunkedArray, field: Field) -> pa.ChunkedArray:
    """The texts as the column shows them: whoever wrote the file may have left the padding to readers."""
    return _changed(values, field, char_varchar.has_padded_texts, _shown)


def _changed(
    values: pa.ChunkedArray, field: Field, concerns: Callable[[DataType], bool], change: _Change
) -> pa.ChunkedArray:
    declared = char_varchar.declared_type(field)
    if declared is None or not concerns(declared):
        return values
    return pa.chunked_array([_with_texts(chunk, declared, change) for chunk in values.chunks], values.type)


def _with_texts(values: pa.Array, declared: DataType, change: _Change) -> pa.Array:
    if not char_varchar.has_sized_texts(declared):
        return values
    match declared:
        case Struct(fields):
            # Flattened, for what stands below a null is no value.
            parts = zip(values.flatten(), fields, strict=True)
            children = [_with_texts(part, field.type, change) for part, field in parts]
            return pa.StructArray.from_arrays(children, fields=list(values.type), mask=values.is_null())
        case Array(element, _):
            items = _with_texts(values.flatten(), element, change)
            offsets = column_fit.list_offsets(values)
            return pa.ListArray.from_arrays(offsets, items, type=values.type, mask=values.is_null())
        case Map(key, value, _):
            listed = column_fit.map_as_list(values)
            keys, items = listed.flatten().flatten()
            texts = _with_texts(keys, key, change), _with_texts(items, value, change)
            if change is _stored:
                _check_keys(listed, texts[0])
            offsets = column_fit.list_offsets(listed)
            return pa.MapArray.from_arrays(offsets, *texts, type=values.type, mask=values.is_null())
        case _:
            return change(values, declared)


def _stored(values: pa.StringArray, declared: DataType) -> pa.StringArray:
    sized = char_varchar.sized_text(declared)
    if sized is None:
        return values
    too_long = pc.greater(pc.utf8_length(pc.utf8_rtrim(values, " ")), sized.length)
    if pc.any(too_long).as_py():
        raise _too_long_error(values.filter(too_long)[0].as_py(), declared)
    cut = pc.utf8_slice_codeunits(values, 0, sized.length)
    return pc.utf8_rpad(cut, sized.length, " ") if sized.is_padded else cut


def _check_keys(listed: pa.ListArray, keys: pa.Array) -> None:
    """Refuse a map with two keys that have become one."""
    if pa.types.is_nested(keys.type):
        return
    entries = pa.table({"map": pc.list_parent_indices(listed), "key": keys})
    counts = entries.group_by(["map", "key"]).aggregate([([], "count_all")])
    twice = counts.filter(pc.greater(counts["count_all"], 1))
    if twice.num_rows:
        raise ConstraintViolated(
            f"a map has the key {twice['key'][0].as_py()!r} twice, once its keys are as long as they are "
            "declared; nothing was committed: leave one out",
            code="DUPLICATED_MAP_KEY",
            constraint="unique keys",
        )


def _shown(values: pa.StringArray, declared: DataType) -> pa.StringArray:
    sized = char_varchar.sized_text(declared)
    if sized is None or not sized.is_padded:
        return values
    shortest = pc.min(pc.utf8_length(values)).as_py()
    is_padded = shortest is None or shortest >= sized.length
    return values if is_padded else pc.utf8_rpad(values, sized.length, " ")


def _too_long_error(text: str, declared: DataType) -> ConstraintViolated:
    said = type_ddl.type_text(declared)
    return ConstraintViolated(
        f"the value {text[:80]!r} does not fit into a column of type {said}; nothing was "
        "committed: cast or filter such rows, or widen the column",
        code="DELTA_EXCEED_CHAR_VARCHAR_LIMIT",
        constraint=said,
    )
