"""No column of a user begins with what names of our own begin with."""

from dataclasses import astuple

from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.protocol.schema.types import Array, Field, Map, Primitive, Struct
from headgate.spark.data_files import partition_folders
from headgate.spark.session import internal_names

TEXT = Primitive("string")
HOSTILE = st.sampled_from(
    ["__headgate_", "__headgate1_", "__Headgate2_", "__HEADGATE_KIND", "__headgate_kind"]
)
NAMES = st.lists(
    HOSTILE | st.builds(str.__add__, HOSTILE, st.text(max_size=3)) | st.text(max_size=12), max_size=12
)


def nested(name: str) -> list[Struct]:
    """Columns that have one of this name somewhere."""
    inside = Struct((Field(name, TEXT),))
    types = [
        inside,
        Array(inside, contains_null=True),
        Map(inside, TEXT, True),
        Map(TEXT, Array(inside, True), True),
    ]
    return [inside, *(Struct((Field("plain", each),)) for each in types)]


@settings(deadline=None)
@given(NAMES)
def test_names_are_free_whatever_columns_are_called(taken: list[str]) -> None:
    ours = astuple(internal_names.free_names(taken))

    assert len(set(ours)) == len(ours)
    for name in (*ours, *(f"{one}{number}" for one in ours for number in range(3))):
        assert name.lower() not in {each.lower() for each in taken}


@settings(deadline=None)
@given(HOSTILE)
def test_columns_inside_of_others_count(name: str) -> None:
    for columns in nested(name):
        assert not any(each.startswith(name.lower()) for each in astuple(internal_names.free_names(columns)))


def test_without_such_columns_names_are_the_usual_ones() -> None:
    assert (
        internal_names.free_names(["id", "headgate"], Struct((Field("x", TEXT),))).kind == "__headgate_kind"
    )


def test_folders_of_partitions_are_not_called_like_a_stored_column() -> None:
    assert partition_folders.folder_name(0, "tag", ["id"], mapped=True) == "partition-0"
    assert partition_folders.folder_name(0, "tag", ["id", "PARTITION-7"], mapped=True) == "partition1-0"
    assert partition_folders.folder_name(0, "größe", ["partition-0"], mapped=False) == "partition1-0"
    assert partition_folders.folder_name(0, "tag", ["partition-0"], mapped=False) == "tag"
