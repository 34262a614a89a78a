"""Which columns have statistics, and which a table may be clustered by."""

import pytest

from headgate.errors import InvalidRequest
from headgate.protocol.actions import Format, Metadata
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import clustering
from headgate.protocol.property_values import COLUMN_MAPPING_MODE as MODE
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import COLUMN_ID, PHYSICAL_NAME
from headgate.protocol.schema.types import Array, Field, Primitive, Struct
from headgate.protocol.stats import indexed_columns

LONG, TEXT = Primitive("long"), Primitive("string")
NESTED = Struct((Field("x", LONG), Field("y", Struct((Field("z", TEXT),)))))
SCHEMA = Struct(
    (Field("a", LONG), Field("p", TEXT), Field("l", Array(LONG, contains_null=True)), Field("s", NESTED))
)


def metadata(schema: Struct = SCHEMA, *partition_by: str, **configuration: str) -> Metadata:
    return Metadata(
        id="",
        format=Format(provider="parquet", options={}),
        schema_string=schema_json.render(schema),
        partition_columns=partition_by,
        configuration={key.replace("_", "."): value for key, value in configuration.items()},
    )


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("a", [("a",)]),
        ("a, s.x ,b", [("a",), ("s", "x"), ("b",)]),
        ("`a.b`.`c``d`, `e, f`", [("a.b", "c`d"), ("e, f",)]),
        ("", []),
    ],
)
def test_lists_of_columns(text: str, paths: list[tuple[str, ...]]) -> None:
    assert list(indexed_columns.parse_stats_columns(text)) == paths


def test_what_is_no_list_of_columns_is_refused() -> None:
    for text in ("`a", "a..b", ",a"):
        with pytest.raises(InvalidRequest):
            indexed_columns.parse_stats_columns(text)


def test_the_first_columns_are_counted_without_partitions() -> None:
    asked = metadata(SCHEMA, "P", delta_dataSkippingNumIndexedCols="3")

    assert indexed_columns.indexed_paths(asked) == {("a",), ("l",), ("s", "x")}
    many = Struct(tuple(Field(f"c{number}", LONG) for number in range(40)))
    assert len(indexed_columns.indexed_paths(metadata(many))) == 32
    assert len(indexed_columns.indexed_paths(metadata(many, delta_dataSkippingNumIndexedCols="-1"))) == 40
    assert indexed_columns.indexed_paths(metadata(many, delta_dataSkippingNumIndexedCols="0")) == set()


def test_columns_are_named_with_all_that_is_in_them_and_clustering_is_always_among_them() -> None:
    asked = metadata(delta_dataSkippingStatsColumns="S.Y, a")

    assert indexed_columns.indexed_paths(asked) == {("s", "y", "z"), ("a",)}
    assert indexed_columns.indexed_paths(asked, [("s", "x")]) == {("s", "y", "z"), ("a",), ("s", "x")}


def test_mapped_columns_are_clustered_and_counted_by_physical_names() -> None:
    """S215"""
    inner = Struct((Field("x", LONG, metadata={COLUMN_ID: 2, PHYSICAL_NAME: "px"}),))
    schema = Struct((Field("s", inner, metadata={COLUMN_ID: 1, PHYSICAL_NAME: "ps"}),))
    mapped = metadata(schema, **{MODE.replace(".", "_"): "name"})

    assert clustering.physical_columns(["S.x"], mapped) == (("ps", "px"),)
    assert indexed_columns.indexed_paths(mapped) == {("ps", "px")}
    assert clustering.logical_names([("ps", "px"), ("gone",)], mapped) == ("s.x", "gone")


@pytest.mark.parametrize(
    ("names", "partition_by", "properties", "code"),
    [
        (["b"], (), {}, "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"),
        (["a.b"], (), {}, "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"),
        (["a", "A"], (), {}, "DELTA_DUPLICATE_COLUMNS_FOUND"),
        (["l"], (), {}, "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"),
        (["s"], (), {}, "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"),
        (["a", "p", "s.x", "s.y.z", "l"], (), {}, "DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS"),
        (["a"], ("p",), {}, "DELTA_CLUSTER_BY_WITH_PARTITIONED_BY"),
        (
            ["a"],
            (),
            {"delta_dataSkippingStatsColumns": "p"},
            "DELTA_CLUSTERING_COLUMN_MISSING_STATS",
        ),
    ],
)
def test_clusterings_that_cannot_be(
    names: list[str], partition_by: tuple[str, ...], properties: dict[str, str], code: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        clustering.physical_columns(names, metadata(SCHEMA, *partition_by, **properties))

    assert caught.value.code == code


def test_a_column_that_cannot_be_clustered_by_is_named() -> None:
    with pytest.raises(
        InvalidRequest, match=r"'s\.y' is struct<z: string>, of which there are no statistics"
    ):
        clustering.physical_columns(["S.Y"], metadata())


def test_clusterings_that_can_be() -> None:
    many = Struct(tuple(Field(f"c{number}", LONG) for number in range(40)))

    four = clustering.physical_columns(["a", "p, s.x", "s.y.z"], metadata())
    assert four == (("a",), ("p",), ("s", "x"), ("s", "y", "z"))
    assert clustering.physical_columns([], metadata(SCHEMA, "p")) == ()
    assert clustering.physical_columns(["c39"], metadata(many)) == (("c39",),)
    assert clustering.physical_columns(["a"], metadata(delta_dataSkippingStatsColumns="a")) == (("a",),)
    assert clustering.domain_from_names(["s.x"], metadata()) == lifecycle.clustering_domain([("s", "x")])


def test_a_table_that_was_ever_clustered_gets_no_partitions() -> None:
    told = clustering.partitioning_error()

    assert told.code == "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE"
    assert "leave the partitioning out" in told.message
