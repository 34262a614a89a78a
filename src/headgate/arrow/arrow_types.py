"""Which type of Arrow is a type of the log, and which type of the log is one of Arrow?

The log has fewer types: an ``uint8`` is a ``short``, a ``large_string`` a ``string``. What the log does not
have, such as a time of day, is refused with the name of the column.
"""

import re
from collections.abc import Callable, Mapping

import pyarrow as pa

from headgate.errors import InvalidRequest, UnsupportedFeature
from headgate.protocol.schema import arrow_kinds
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

NEEDS_SPARK = "HEADGATE_NEEDS_SPARK"
"""The code of what only Spark can do, or do exactly."""
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_PRIMITIVES: Mapping[str, pa.DataType] = {**arrow_kinds.PRIMITIVES, "void": pa.null()}
_MEANT: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_int8, "byte"),
    (pa.types.is_int16, "short"),
    (pa.types.is_uint8, "short"),
    (pa.types.is_int32, "integer"),
    (pa.types.is_uint16, "integer"),
    (pa.types.is_int64, "long"),
    (pa.types.is_uint32, "long"),
    (pa.types.is_float16, "float"),
    (pa.types.is_float32, "float"),
    (pa.types.is_float64, "double"),
    (pa.types.is_string, "string"),
    (pa.types.is_large_string, "string"),
    (pa.types.is_string_view, "string"),
    (pa.types.is_binary, "binary"),
    (pa.types.is_large_binary, "binary"),
    (pa.types.is_binary_view, "binary"),
    (pa.types.is_fixed_size_binary, "binary"),
    (pa.types.is_date, "date"),
    (pa.types.is_null, "void"),
)


def arrow_type(data_type: DataType, name: str) -> pa.DataType:
    """The type of values of a column, or a part of one, of this name; refused if Arrow has none."""
    match data_type:
        case Struct(fields):
            return pa.struct([arrow_field(field, f"{name}.{field.name}") for field in fields])
        case Array(element, _):
            return pa.list_(pa.field("element", arrow_type(element, f"{name}.element")))
        case Map(key, value, _):
            return pa.map_(arrow_type(key, f"{name}.key"), arrow_type(value, f"{name}.value"))
        case Primitive(kind):
            found = _PRIMITIVES.get(kind) or _decimal(kind)
            if found is None:
                raise _unreadable_error(kind, name)
            return found


def arrow_field(field: Field, path: str = "") -> pa.Field:
    """A column, nullable whatever the table says: what files hold is another matter."""
    return pa.field(field.name, arrow_type(field.type, path or field.name))


def log_schema(schema: pa.Schema) -> Struct:
    """The columns of rows in the log's types; refused by name if one has a type that the log has not."""
    return Struct(tuple(Field(field.name, log_type(field.type, field.name)) for field in schema))


def log_type(found: pa.DataType, name: str) -> DataType:
    """The type of a column, or a part of one, of this name."""
    if isinstance(found, pa.BaseExtensionType):
        return log_type(found.storage_type, name)
    if pa.types.is_dictionary(found):
        return log_type(found.value_type, name)
    if pa.types.is_struct(found):
        return Struct(tuple(Field(part.name, log_type(part.type, f"{name}.{part.name}")) for part in found))
    if pa.types.is_map(found):
        key = log_type(found.key_type, f"{name}.key")
        return Map(key, log_type(found.item_type, f"{name}.value"), value_contains_null=True)
    if arrow_kinds.is_list(found):
        return Array(log_type(found.value_type, f"{name}.element"), contains_null=True)
    if pa.types.is_timestamp(found):
        return Primitive("timestamp_ntz" if found.tz is None else "timestamp")
    if pa.types.is_decimal(found) and found.precision <= 38 and 0 <= found.scale <= found.precision:
        return Primitive(f"decimal({found.precision},{found.scale})")
    kind = next((kind for is_kind, kind in _MEANT if is_kind(found)), None)
    if kind is None:
        raise InvalidRequest(
            f"column {name!r} is {found} in Arrow, and tables have no such type: cast it to one, such as a "
            "signed integer, a decimal of up to 38 digits, a date or a timestamp",
            code="DELTA_UNSUPPORTED_DATA_TYPES",
        )
    return Primitive(kind)


def _decimal(kind: str) -> pa.DataType | None:
    sizes = _DECIMAL.fullmatch(kind)
    return None if sizes is None else pa.decimal128(int(sizes[1]), int(sizes[2]))


def _unreadable_error(kind: str, name: str) -> UnsupportedFeature:
    return UnsupportedFeature(
        f"column {name!r} is of type {kind}, which can be read and written by Spark only: leave the column "
        "out, or use a Spark session (table.read(), table.append(df))",
        code="DELTA_UNSUPPORTED_DATA_TYPES", features=(kind,), operation="read",
    )  # fmt: skip
