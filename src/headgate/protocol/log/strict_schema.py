"""Can every reader parse this ``schemaString``? Reading is lenient (``json``), what enters a log is not."""

import re
from typing import Annotated

import msgspec

from headgate.protocol.log import strict_codec

_PRIMITIVE = re.compile(
    "binary|boolean|byte|date|double|float|integer|long|short|string|timestamp|timestamp_ntz|variant|void"
    "|interval (year|month|day|hour|minute|second)( to (month|hour|minute|second))?"
)
_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)", re.ASCII)
_MOST_DIGITS = 38
MAX_NAME_LENGTH = 255
"""How many characters the name of a column has at most, which is told again with that of every part of it."""


class _Struct(msgspec.Struct, frozen=True, tag="struct"):
    fields: "tuple[_Field, ...]"


class _Array(msgspec.Struct, frozen=True, tag="array", rename="camel"):
    element_type: "_Type"
    contains_null: bool


class _Map(msgspec.Struct, frozen=True, tag="map", rename="camel"):
    key_type: "_Type"
    value_type: "_Type"
    value_contains_null: bool


_KEYS = {
    "char_or_varchar": "__CHAR_VARCHAR_TYPE_STRING",
    "current_default": "CURRENT_DEFAULT",
    "exists_default": "EXISTS_DEFAULT",
    "generated": "delta.generationExpression",
    "invariants": "delta.invariants",
    "identity_start": "delta.identity.start",
    "identity_step": "delta.identity.step",
    "identity_mark": "delta.identity.highWaterMark",
    "identity_explicit": "delta.identity.allowExplicitInsert",
    "mapping_id": "delta.columnMapping.id",
    "mapping_name": "delta.columnMapping.physicalName",
}


class _Metadata(msgspec.Struct, frozen=True, rename=_KEYS):
    """What a column's metadata says to readers, if it does; what else is there is its writer's."""

    comment: str | None = None
    char_or_varchar: str | None = None
    current_default: str | None = None
    exists_default: str | None = None
    generated: str | None = None
    invariants: str | None = None
    identity_start: int | None = None
    identity_step: int | None = None
    identity_mark: int | None = None
    identity_explicit: bool | None = None
    mapping_id: int | None = None
    mapping_name: str | None = None


class _Field(msgspec.Struct, frozen=True):
    name: Annotated[str, msgspec.Meta(pattern=r"\A[^\0]*\Z", max_length=MAX_NAME_LENGTH)]
    type: "_Type"
    nullable: bool
    metadata: _Metadata


_Type = str | _Struct | _Array | _Map
_SCHEMA = msgspec.json.Decoder(_Struct)


def schema_breach(schema_string: str) -> str | None:
    """What in it some reader would stumble over, or read as something else than others do."""
    if strict_codec.is_too_deep(schema_string):
        return f"the schema is nested more than {strict_codec.MAX_JSON_DEPTH} levels deep"
    try:
        schema = _SCHEMA.decode(schema_string)
    except msgspec.DecodeError as exc:
        return f"the schema cannot be parsed: {exc}"
    if twice := strict_codec.duplicate_key(schema_string):
        return f"the schema cannot be parsed: {twice!r} is there twice in one of its objects"
    unknown = next((name for name in _primitives(schema) if not _is_type(name)), None)
    return None if unknown is None else f"there is no type {unknown!r}"


def _primitives(data_type: _Type) -> list[str]:
    match data_type:
        case _Struct():
            return [name for field in data_type.fields for name in _primitives(field.type)]
        case _Array():
            return _primitives(data_type.element_type)
        case _Map():
            return _primitives(data_type.key_type) + _primitives(data_type.value_type)
        case str():
            return [data_type]


def _is_type(name: str) -> bool:
    found = _DECIMAL.fullmatch(name)
    if found is None:
        return _PRIMITIVE.fullmatch(name) is not None
    precision, scale = map(int, found.groups())
    return 1 <= precision <= _MOST_DIGITS and scale <= precision
