"""Columns on the wire: two spellings in, one out, and what is nobody's business stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.catalog.wire.delta_columns import columns_from_wire, columns_to_wire
from headgate.errors import InvalidRequest
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

_PRIMITIVES = st.sampled_from(["long", "string", "decimal(10,2)", "timestamp_ntz"]).map(Primitive)


def _nested(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    return st.one_of(
        st.builds(Array, inner, st.booleans()),
        st.builds(Map, inner, inner, st.booleans()),
        _structs(inner),
    )


def _structs(types: st.SearchStrategy[DataType]) -> st.SearchStrategy[Struct]:
    fields = st.builds(
        Field,
        st.sampled_from(["a", "elementType", "key-type", "fields", "type"]),
        types,
        st.booleans(),
        st.dictionaries(st.sampled_from(["elementType", "key-type", "comment"]), st.text(max_size=3)),
    )
    return st.lists(fields, max_size=3).map(lambda found: Struct(tuple(found)))


@given(_structs(st.recursive(_PRIMITIVES, _nested, max_leaves=6)))
def test_both_spellings_are_the_same_columns(schema: Struct) -> None:
    assert columns_from_wire(columns_to_wire(schema)) == schema
    assert columns_from_wire(schema_json.to_json_value(schema)) == schema


def test_nested_types_are_written_with_hyphens() -> None:
    schema = Struct((Field("m", Map(Primitive("string"), Array(Primitive("long"), False), True)),))

    assert columns_to_wire(schema)["fields"][0]["type"] == {
        "type": "map",
        "key-type": "string",
        "value-type": {"type": "array", "element-type": "long", "contains-null": False},
        "value-contains-null": True,
    }


@pytest.mark.parametrize(
    "columns",
    [
        None,
        "long",
        7,
        [],
        {},
        {"type": "struct"},
        {"type": "struct", "fields": [7]},
        {"type": "struct", "fields": [{"name": "a", "type": {"type": "array"}, "nullable": True}]},
        {"type": "array", "element-type": "long", "contains-null": True},
    ],
    ids=str,
)
def test_what_are_no_columns_is_refused(columns: object) -> None:
    with pytest.raises(InvalidRequest):
        columns_from_wire(columns)


def test_columns_that_are_too_deep_are_refused() -> None:
    deep: object = "long"
    for _ in range(5_000):
        deep = {"type": "array", "element-type": deep, "contains-null": True}

    with pytest.raises(InvalidRequest):
        columns_from_wire({"type": "struct", "fields": [{"name": "a", "type": deep, "nullable": True}]})
