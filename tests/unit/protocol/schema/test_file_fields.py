"""Finding the columns of a table among the fields of a data file."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from headgate.errors import CorruptLog, UnsupportedFeature
from headgate.protocol.schema import file_fields
from headgate.protocol.schema.column_mapping import COLUMN_ID, PHYSICAL_NAME, ColumnMappingMode
from headgate.protocol.schema.types import Field, Primitive

NONE, NAME, ID = ColumnMappingMode.NONE, ColumnMappingMode.NAME, ColumnMappingMode.ID
PLAIN = Field("Day", Primitive("date"))
MAPPED = Field("Day", Primitive("date"), metadata={COLUMN_ID: 7, PHYSICAL_NAME: "col-7"})


@dataclass(frozen=True)
class Stored:
    """A field of a file."""

    name: str
    metadata: Mapping[bytes, bytes] | None = None


def numbered(name: str, number: int) -> Stored:
    return Stored(name, {b"PARQUET:field_id": str(number).encode()})


@pytest.mark.parametrize(
    ("field", "file", "mode", "place"),
    [
        (PLAIN, (Stored("id"), Stored("Day")), NONE, 1),
        (PLAIN, (Stored("day"), Stored("Day")), NONE, 1),
        (PLAIN, (Stored("id"), Stored("DAY")), NONE, 1),
        (PLAIN, (Stored("id"),), NONE, None),
        (MAPPED, (Stored("Day"), Stored("col-7")), NAME, 1),
        (MAPPED, (numbered("Day", 1), numbered("x", 7)), ID, 1),
        (MAPPED, (Stored("col-7"), numbered("x", 1)), ID, None),
    ],
    ids=["same", "same before alike", "alike", "absent", "physical", "by id", "name is no id"],
)
def test_a_column_is_found(
    field: Field, file: tuple[Stored, ...], mode: ColumnMappingMode, place: int | None
) -> None:
    assert file_fields.find_field(field, file, mode, "a.parquet") == place


def test_a_column_that_a_file_has_twice_is_refused() -> None:
    with pytest.raises(CorruptLog, match=r"the data file a\.parquet has column 'Day' of the table 2 times"):
        file_fields.find_field(PLAIN, (Stored("day"), Stored("DAY")), NONE, "a.parquet")


def test_a_file_without_ids_is_refused_where_columns_are_found_by_these() -> None:
    file_fields.check_field_ids((Stored("a"),), NAME, "a.parquet")
    file_fields.check_field_ids((Stored("a"), numbered("b", 7)), ID, "a.parquet")

    with pytest.raises(UnsupportedFeature, match=r"the data file a\.parquet has none"):
        file_fields.check_field_ids((Stored("a"), Stored("b", {})), ID, "a.parquet")
