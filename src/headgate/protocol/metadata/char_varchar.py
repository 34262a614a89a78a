"""How long may the texts of a column be? Of type CHAR and VARCHAR, which are stored as strings at any depth.

Only the metadata of a whole column says what it was declared as, in the words of Spark:

    c CHAR(3)                           "__CHAR_VARCHAR_TYPE_STRING": "char(3)"
    d ARRAY<STRUCT<a: CHAR(3), b: INT>>  "__CHAR_VARCHAR_TYPE_STRING": "array<struct<a:char(3),b:int>>"

Delta Spark leaves that text as it is when a field in the column is renamed, dropped or added. So a field is
looked for by its name, and else by its place.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from headgate.errors import HeadgateError
from headgate.protocol.metadata import type_ddl
from headgate.protocol.metadata.type_ddl import DdlSyntaxError
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

TYPE_STRING_KEY = "__CHAR_VARCHAR_TYPE_STRING"
_SIZED = re.compile(r"(char|varchar)\((\d+)\)")
_STRING = Primitive("string")


@dataclass(frozen=True, slots=True)
class SizedText:
    """A text with so many characters, or with as many at most."""

    length: int
    is_padded: bool


def sized_text(data_type: DataType) -> SizedText | None:
    """What a type says of the length of its texts; None if it is neither CHAR nor VARCHAR."""
    found = _SIZED.fullmatch(data_type.name) if isinstance(data_type, Primitive) else None
    return None if found is None else SizedText(int(found[2]), is_padded=found[1] == "char")


def has_sized_texts(data_type: DataType) -> bool:
    """Whether a type, or a part of it, is CHAR or VARCHAR."""
    return _has(data_type, lambda text: text is not None)


def has_padded_texts(data_type: DataType) -> bool:
    """Whether a type, or a part of it, is CHAR."""
    return _has(data_type, lambda text: text is not None and text.is_padded)


def declared_type(field: Field) -> DataType | None:
    """The type of a column with CHAR and VARCHAR where it was declared so; None if it has none of them."""
    text = field.metadata.get(TYPE_STRING_KEY)
    said = _parsed(str(text)) if text is not None else None
    if said is None:
        return None
    found = _aligned(field.type, said)
    return found if has_sized_texts(found) else None


def as_strings(schema: Struct) -> Struct:
    """The schema with the CHAR and VARCHAR in it as strings, by columns that remember what they are."""
    return Struct(
        tuple(_as_string(column) if has_sized_texts(column.type) else column for column in schema.fields)
    )


def as_declared(schema: Struct) -> Struct:
    """The schema with CHAR and VARCHAR where its columns were declared so: the opposite of ``as_strings``."""
    return Struct(tuple(_declared_field(column) for column in schema.fields))


def is_longer(data_type: DataType, other: DataType) -> bool:
    """Whether the other type is the same but for texts that may be longer."""
    return data_type != other and _has_room(data_type, other)


def with_new_parts(before: Struct, after: Struct) -> Struct:
    """The schema ``after`` parts came to some columns, with these in what the columns remember."""
    told = zip(after.fields, as_strings(as_declared(after)).fields, strict=True)
    same = {column.name: column.type for column in before.fields}
    return Struct(tuple(column if same.get(column.name) == column.type else anew for column, anew in told))


def _has_room(data_type: DataType, other: DataType) -> bool:
    match data_type, other:
        case Primitive(), Primitive():
            return data_type == other or _is_longer_text(data_type, other)
        case Array(element, _), Array(wanted, _):
            return _has_room(element, wanted)
        case Map(key, value, _), Map(wanted_key, wanted_value, _):
            return _has_room(key, wanted_key) and _has_room(value, wanted_value)
        case _:
            return data_type == other


def _is_longer_text(data_type: Primitive, other: Primitive) -> bool:
    text, wanted = sized_text(data_type), sized_text(other)
    if text is None or wanted is None:
        return text is not None and other == _STRING
    return text.length <= wanted.length and not wanted.is_padded


def _has(data_type: DataType, is_wanted: Callable[[SizedText | None], bool]) -> bool:
    match data_type:
        case Primitive():
            return is_wanted(sized_text(data_type))
        case Array(element, _):
            return _has(element, is_wanted)
        case Map(key, value, _):
            return _has(key, is_wanted) or _has(value, is_wanted)
        case Struct(fields):
            return any(_has(part.type, is_wanted) for part in fields)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> DataType | None:
    """What a column remembers; None if it is not to be understood, which nobody enforces then."""
    reader = type_ddl.open_ddl(text)
    try:
        found = reader.read_type("")
    except (DdlSyntaxError, HeadgateError):
        return None
    return found.type if reader.next.kind == "end" else None


def _aligned(data_type: DataType, said: DataType) -> DataType:
    """The type as it is, with the lengths that were said of it."""
    match data_type, said:
        case Primitive("string"), Primitive():
            return said if sized_text(said) is not None else data_type
        case Array(element, contains_null), Array(other, _):
            return Array(_aligned(element, other), contains_null)
        case Map(key, value, contains_null), Map(other_key, other_value, _):
            return Map(_aligned(key, other_key), _aligned(value, other_value), contains_null)
        case Struct(fields), Struct():
            return Struct(tuple(_aligned_field(part, at, data_type, said) for at, part in enumerate(fields)))
        case _:
            return data_type


def _aligned_field(part: Field, at: int, struct: Struct, said: Struct) -> Field:
    found = said.find(part.name)
    if found is None and len(said.fields) == len(struct.fields):
        renamed = said.fields[at]
        found = renamed if struct.find(renamed.name) is None else None
    return part if found is None else replace(part, type=_aligned(part.type, found.type))


def _as_string(column: Field) -> Field:
    metadata = {**column.metadata, TYPE_STRING_KEY: type_ddl.type_text(column.type)}
    return replace(column, type=_without_sizes(column.type), metadata=metadata)


def _without_sizes(data_type: DataType) -> DataType:
    match data_type:
        case Primitive():
            return data_type if sized_text(data_type) is None else _STRING
        case Array(element, contains_null):
            return Array(_without_sizes(element), contains_null)
        case Map(key, value, contains_null):
            return Map(_without_sizes(key), _without_sizes(value), contains_null)
        case Struct(fields):
            return Struct(tuple(replace(part, type=_without_sizes(part.type)) for part in fields))


def _declared_field(column: Field) -> Field:
    """The column as it was declared, which remembers nothing; one that says what cannot be is left alone."""
    if TYPE_STRING_KEY not in column.metadata:
        return column
    declared = declared_type(column)
    if declared is None and isinstance(column.type, Primitive):
        return column
    others = {key: value for key, value in column.metadata.items() if key != TYPE_STRING_KEY}
    return replace(column, type=declared or column.type, metadata=others)
