"""Changes of columns: what else must stay as it is, and by which code a refusal is known."""

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from headgate.errors import InvalidRequest
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import DomainMetadata, Metadata
from headgate.protocol.domains import lifecycle
from headgate.protocol.log.replay import State
from headgate.protocol.metadata import alter_columns
from headgate.protocol.metadata.alter_columns import After, First
from headgate.protocol.schema.column_path import parse_path
from headgate.protocol.schema.types import Field, Map, Primitive, Struct
from tests.unit.protocol.metadata.test_alter_columns import SCHEMA, schema_of, state, top, with_properties

INT, LONG, STRING = (Primitive(name) for name in ("integer", "long", "string"))
WIDENS = {"delta__enableTypeWidening": "true"}
NOT_CHANGED = "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP"


def refusal(change: Callable[[], object]) -> str:
    with pytest.raises(InvalidRequest) as caught:
        change()
    return caught.value.code


@pytest.mark.parametrize("text", ["a`bc", "`a`bc"])
def test_between_two_parts_there_is_a_dot(text: str) -> None:
    with pytest.raises(InvalidRequest, match="is not a column"):
        parse_path(text)


def test_refusals_are_known_by_their_codes() -> None:
    table, narrow = state(), state(Struct((Field("c", LONG),)), partitions=())

    codes = {
        "NOT NULL": refusal(lambda: alter_columns.add_columns(table, (), [Field("n", LONG, nullable=False)])),
        "taken": refusal(lambda: alter_columns.add_columns(table, (), [Field("ID", LONG)])),
        "behind": refusal(lambda: alter_columns.add_columns(table, (), [Field("n", LONG)], After("nowhere"))),
        "no widening": refusal(lambda: alter_columns.change_column_type(narrow, ("c",), STRING)),
        "not wider": refusal(
            lambda: alter_columns.change_column_type(with_properties(narrow, **WIDENS), ("c",), INT)
        ),
    }

    assert codes == {
        "NOT NULL": NOT_CHANGED,
        "taken": "DELTA_DUPLICATE_COLUMNS_FOUND",
        "behind": "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
        "no widening": NOT_CHANGED,
        "not wider": NOT_CHANGED,
    }


def test_a_name_is_not_empty() -> None:
    with pytest.raises(InvalidRequest, match="renamed to nothing"):
        alter_columns.rename_column(state(), ("id",), "")


def test_renaming_one_column_renames_no_other() -> None:
    assert top(alter_columns.rename_column(state(), ("id",), "key")) == [
        "key", "Day", "address", "lines", "by_name"
    ]  # fmt: skip
    nested = schema_of(alter_columns.rename_column(state(), ("address", "city"), "town")).find("address")
    assert nested is not None
    assert isinstance(nested.type, Struct)
    assert [field.name for field in nested.type.fields] == ["street", "town"]


def test_renaming_touches_the_partition_column_of_that_name_only() -> None:
    parts = Struct((Field("p", STRING), Field("q", STRING), Field("s", Struct((Field("p", LONG),)))))
    table = state(parts, partitions=("p", "q"))

    assert alter_columns.rename_column(table, ("p",), "r").partition_columns == ("r", "q")
    assert alter_columns.rename_column(table, ("s", "p"), "r").partition_columns == ("p", "q")


def test_the_list_of_columns_with_statistics_follows_inside_and_others_stay() -> None:
    table = with_properties(state(), delta__dataSkippingStatsColumns="id,address.city", mine="x")

    after = alter_columns.rename_column(table, ("address", "city"), "town").configuration

    assert after["delta.dataSkippingStatsColumns"] == "id,address.town"
    assert after["mine"] == "x"


@pytest.mark.parametrize(
    ("features", "told"),
    [
        (("typeWidening-preview",), {"tableVersion": 8}),
        (("typeWidening-preview", "typeWidening"), {}),
        ((), {}),
    ],
)
def test_only_the_preview_of_widening_tells_the_version(
    features: tuple[str, ...], told: dict[str, int]
) -> None:
    table = with_properties(state(Struct((Field("c", INT),)), partitions=()), **WIDENS)
    table = replace(table, protocol=protocol_upgrade.with_features(table.protocol, features))
    assert table.version == 7

    (column,) = schema_of(alter_columns.change_column_type(table, ("c",), LONG)).fields

    assert column.metadata["delta.typeChanges"] == [{"fromType": "integer", "toType": "long", **told}]


def test_columns_are_added_to_the_keys_of_a_map_too() -> None:
    keyed = Map(Struct((Field("a", LONG),)), LONG, value_contains_null=True)
    table = state(Struct((Field("m", keyed),)), partitions=())

    (column,) = schema_of(alter_columns.add_columns(table, ("m", "key"), [Field("b", LONG)])).fields

    assert isinstance(column.type, Map)
    assert isinstance(column.type.key, Struct)
    assert [field.name for field in column.type.key.fields] == ["a", "b"]


def _change(how: str) -> Callable[[State], Metadata]:
    inside = ("address", "city")
    return {
        "rename": lambda table: alter_columns.rename_column(table, inside, "town"),
        "drop": lambda table: alter_columns.drop_columns(table, [inside]),
        "retype": lambda table: alter_columns.change_column_type(
            with_properties(table, **WIDENS), inside, STRING
        ),
    }[how]


@pytest.mark.parametrize("how", ["rename", "drop", "retype"])
def test_what_is_computed_from_a_struct_depends_on_its_parts(how: str) -> None:
    change = _change(how)
    held = with_properties(state(), delta__constraints__there="address IS NOT NULL")
    other = with_properties(state(), delta__constraints__there="city IS NOT NULL")

    assert refusal(lambda: change(held)) == "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"
    change(other)  # about a column of that name, and this is a part of another


def test_a_generated_column_does_not_depend_on_itself() -> None:
    def generated(expression: str) -> State:
        metadata = {"delta.generationExpression": expression}
        return state(Struct((*SCHEMA.fields, Field("g", LONG, metadata=metadata))))

    assert refusal(lambda: alter_columns.drop_columns(generated("id + 1"), [("id",)])) == (
        "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE"
    )
    assert "address" not in top(alter_columns.drop_columns(generated("id + 1"), [("address",)]))
    assert "g" not in top(alter_columns.drop_columns(generated("g + 1"), [("g",)]))


def test_a_column_that_is_not_there_is_not_dropped_from_a_clustered_table() -> None:
    clustering = lifecycle.CLUSTERING_DOMAIN
    told = msgspec.json.encode({"clusteringColumns": [["id"]]}).decode()
    domain = DomainMetadata(domain=clustering, configuration=told, removed=False)
    table = replace(state(), domains={clustering: domain})

    assert (
        refusal(lambda: alter_columns.drop_columns(table, [("absent",)]))
        == "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"
    )


def test_an_identity_column_is_not_added_nor_gets_another_type_nor_goes_inside() -> None:
    """Rows that are there would have no value, or ones of another type."""
    code = "DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED"
    said = {"delta.identity.start": 1, "delta.identity.step": 1, "delta.identity.allowExplicitInsert": False}
    numbered = Field("n", LONG, metadata=said)
    inside = Struct((Field("s", Struct((numbered,))), Field("c", INT)))
    table = with_properties(state(Struct((numbered, Field("c", INT))), partitions=()), **WIDENS)

    assert refusal(lambda: alter_columns.add_columns(state(), (), [numbered])) == code
    assert (
        refusal(lambda: alter_columns.change_column_type(table, ("n",), Primitive("decimal(20,0)"))) == code
    )
    assert refusal(lambda: alter_columns.move_column(state(inside, partitions=()), ("c",), First())) == code
