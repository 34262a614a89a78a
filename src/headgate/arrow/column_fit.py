"""How do values of one type become values of a column? Part by part, found by name or by field id.

A file may have other names, other types and fewer parts than the table: older files have narrower types and
lack what was added since. Rows that are to be written may have their parts in another order. The shape comes
from the table, the values from what is there, and what is not there is null.
"""

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from headgate.arrow import arrow_types
from headgate.protocol.schema import arrow_kinds
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

PartFinder = Callable[[Field, Sequence[pa.Field]], int | None]
"""Where, among the columns or parts that are there, one of the table is; None if it is not."""


def fit_column(column: pa.ChunkedArray, field: Field, part: PartFinder) -> pa.ChunkedArray:
    """The values of a column in the table's type; ``ArrowInvalid`` for one that the type does not have."""
    wanted = arrow_types.arrow_type(field.type, field.name)
    if column.type == wanted:
        return column
    fitted = [fit_array(chunk, field.type, wanted, part) for chunk in column.chunks]
    return pa.chunked_array(fitted, wanted)


def empty_as_null(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same texts or bytes, with null in the place of what is empty."""
    return pc.if_else(pc.greater(pc.binary_length(column), 0), column, pa.scalar(None, column.type))


def fit_array(values: pa.Array, data_type: DataType, wanted: pa.DataType, part: PartFinder) -> pa.Array:
    """The same for one array of values, of a column or of a part of one; ``wanted`` is its type in Arrow."""
    if values.type == wanted:
        return values
    if isinstance(values, pa.ExtensionArray):
        return fit_array(values.storage, data_type, wanted, part)
    if pa.types.is_dictionary(values.type):
        return fit_array(values.dictionary_decode(), data_type, wanted, part)
    match data_type:
        case Struct(fields) if pa.types.is_struct(values.type):
            return _fit_struct(values, fields, wanted, part)
        case Array(element, _) if arrow_kinds.is_list(values.type):
            return _fit_list(values, element, wanted, part)
        case Map() if pa.types.is_map(values.type):
            return _fit_map(values, data_type, wanted, part)
        case Primitive():
            return _fit_primitive(values, wanted)
        case _:
            return values.cast(wanted)


def rename_parts(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """The same values, the fields of structs in them, at any level, by the names of ``wanted``."""
    if not pa.types.is_nested(wanted) or values.type == wanted:
        return values
    if pa.types.is_struct(wanted):
        children = [rename_parts(values.field(at), part.type) for at, part in enumerate(wanted)]
        return pa.StructArray.from_arrays(children, fields=list(wanted), mask=values.is_null())
    if pa.types.is_map(wanted):
        listed = map_as_list(values)
        keys, items = (listed.flatten().field(at) for at in (0, 1))
        renamed = rename_parts(keys, wanted.key_type), rename_parts(items, wanted.item_type)
        return pa.MapArray.from_arrays(list_offsets(listed), *renamed, type=wanted, mask=values.is_null())
    items = rename_parts(values.flatten(), wanted.value_type)
    return pa.ListArray.from_arrays(list_offsets(values), items, type=wanted, mask=values.is_null())


def _fit_struct(
    values: pa.StructArray, fields: Sequence[Field], wanted: pa.StructType, part: PartFinder
) -> pa.Array:
    there = list(values.type)
    children = []
    for field, kind in zip(fields, wanted, strict=True):
        place = part(field, there)
        children.append(
            pa.nulls(len(values), kind.type)
            if place is None
            else fit_array(values.field(place), field.type, kind.type, part)
        )
    return pa.StructArray.from_arrays(children, fields=list(wanted), mask=values.is_null())


def _fit_list(values: pa.Array, element: DataType, wanted: pa.ListType, part: PartFinder) -> pa.Array:
    items = fit_array(values.flatten(), element, wanted.value_type, part)
    return pa.ListArray.from_arrays(list_offsets(values), items, type=wanted, mask=values.is_null())


def _fit_map(values: pa.MapArray, data_type: Map, wanted: pa.MapType, part: PartFinder) -> pa.Array:
    listed = map_as_list(values)
    entries = listed.flatten()
    keys = fit_array(entries.field(0), data_type.key, wanted.key_type, part)
    items = fit_array(entries.field(1), data_type.value, wanted.item_type, part)
    return pa.MapArray.from_arrays(list_offsets(listed), keys, items, type=wanted, mask=values.is_null())


def map_as_list(values: pa.MapArray) -> pa.ListArray:
    """A map as what it is in Arrow: a list of keys with their values."""
    entry = pa.struct([pa.field("key", values.type.key_type), pa.field("value", values.type.item_type)])
    return values.cast(pa.list_(entry))


def list_offsets(values: pa.Array) -> pa.Array:
    """Where each list would begin if the elements of all that are not null stood in a row."""
    lengths = pc.fill_null(pc.list_value_length(values), 0).cast(pa.int32())
    return pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths)])


def _fit_primitive(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    found = values.type
    if pa.types.is_floating(found) and not pa.types.is_floating(wanted):
        raise pa.ArrowInvalid(f"{found} values are no {wanted}")  # Arrow would take 1.0 for 1
    if pa.types.is_string(wanted) and not (_is_text(found) or pa.types.is_null(found)):
        raise pa.ArrowInvalid(f"{found} values are no texts")
    return values.cast(wanted)


def _is_text(found: pa.DataType) -> bool:
    return any(
        is_kind(found)
        for is_kind in (
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_binary_view,
        )
    )
