"""Where in a column a null must not be, at any depth."""

import pytest

from headgate.protocol.schema.schema_contents import FieldStep, Items, Step, required_places
from headgate.protocol.schema.types import Array, Field, Map, Primitive, Struct

LONG = Primitive("long")
REQUIRED = Struct((Field("a", LONG), Field("b", LONG, nullable=False)))
B = FieldStep(1, "b")


@pytest.mark.parametrize(
    ("field", "places"),
    [
        (Field("c", LONG), {}),
        (Field("c", LONG, nullable=False), {"c": ()}),
        (Field("c", REQUIRED), {"c.b": (B,)}),
        (Field("c", Array(LONG, contains_null=False), nullable=False),
         {"c": (), "c.element": (Items.ELEMENTS,)}),
        (Field("c", Array(REQUIRED, contains_null=True)), {"c.element.b": (Items.ELEMENTS, B)}),
        (Field("c", Map(REQUIRED, Array(REQUIRED, contains_null=True), value_contains_null=False)),
         {"c.key.b": (Items.KEYS, B), "c.value": (Items.VALUES,),
          "c.value.element.b": (Items.VALUES, Items.ELEMENTS, B)}),
    ],
    ids=["nullable", "column", "field", "elements", "field of elements", "map"],
)  # fmt: skip
def test_places_without_nulls_are_found_from_the_outermost_on(
    field: Field, places: dict[str, tuple[Step, ...]]
) -> None:
    assert [(place.path, place.steps) for place in required_places(field)] == list(places.items())
