"""Which partition values a file may have."""

from typing import Any

import msgspec
import pytest

from headgate.catalog.ports.commits import TableId, TableState
from headgate.catalog.ratification.partitioning_cache import PartitioningCache
from headgate.protocol.actions import AddFile, Metadata, Version
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema import partitioning
from headgate.protocol.schema.types import Field, Primitive, Struct
from tests.support.commits import MANAGED, add, metadata

TABLE, OTHER = TableId("one"), TableId("other")


def by(*columns: str, mapped: bool = False, **properties: str) -> Metadata:
    """A table with these columns, such as ``p long``, that is partitioned by them all."""

    def field(number: int, column: str) -> Field:
        name, _, kind = column.partition(" ")
        keys = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": f"col-{number}"}
        return Field(name, Primitive(kind), metadata=keys if mapped else {})

    schema = Struct(tuple(field(number, column) for number, column in enumerate(columns)))
    names = tuple(column.name for column in schema.fields)
    plain = metadata(schema_json.render(schema), **properties)
    return msgspec.structs.replace(plain, partition_columns=names)


def placed(values: dict[str, str | None]) -> AddFile:
    return msgspec.structs.replace(add("a"), partition_values=values)


@pytest.mark.parametrize(
    ("kind", "text", "fits"),
    [
        ("long", "9223372036854775807", True),
        ("long", "9223372036854775808", False),
        ("byte", "128", False),
        ("long", "1.5", False),
        ("date", "2026-01-31", True),
        ("date", "2026-02-31", False),
        ("boolean", "true", True),
        ("boolean", "1", False),
        ("timestamp", "2026-01-31 10:00:00.5", True),
        ("timestamp", "2026-01-31T10:00:00.500000Z", True),
        ("timestamp", "soon", False),
        ("decimal(3,1)", "1.5", True),
        ("decimal(3,1)", "NaN", False),
        ("double", "NaN", True),
        ("string", "anything", True),
        ("long", None, True),
        ("long", "", True),
    ],
)
def test_a_value_is_one_of_its_column(kind: str, text: str | None, *, fits: bool) -> None:
    found = partitioning.partitioning_of(by(f"p {kind}"))

    assert found.fits({"p": text}) is fits
    told = found.unreadable_value({"p": text})
    assert (told is None) is fits
    assert told is None or (repr(text) in told and " for p, which is no " in told)


@pytest.mark.parametrize(
    ("values", "misnamed"), [({}, True), ({"p": "1"}, True), ({"p": "1", "q": "1"}, False)]
)
def test_a_file_has_a_value_of_every_partition_column(values: dict[str, str], *, misnamed: bool) -> None:
    found = partitioning.partitioning_of(by("p long", "q string"))

    assert found.has_wrong_columns(values) is misnamed
    assert found.fits(values) is not misnamed
    assert found.has_wrong_columns({**values, "r": "1"})


def test_a_mapped_column_goes_by_its_physical_name() -> None:
    found = partitioning.partitioning_of(by("p date", "q long", mapped=True, delta_columnMapping_mode="name"))

    assert found.types == {"col-0": Primitive("date"), "col-1": Primitive("long")}
    assert partitioning.partitioning_of(by("p date", "q long", mapped=True)).types.keys() == {"p", "q"}


def test_a_partition_column_that_the_schema_lacks_has_no_values() -> None:
    lacking = msgspec.structs.replace(by("p long"), partition_columns=("p", "q"))

    assert partitioning.partitioning_of(lacking).types == {"p": Primitive("long")}


def test_a_table_that_is_not_partitioned_has_files_without_values() -> None:
    found = partitioning.partitioning_of(metadata())

    assert found.fits({}) and not found.fits({"p": None})


def told(described: Metadata) -> TableState:
    return TableState(MANAGED, described)


@pytest.mark.parametrize(
    ("described", "values", "fit"),
    [
        (by("p long"), {"p": "1"}, True),
        (by("p long"), {"p": "x"}, False),
        (by("p long"), {}, False),
        (None, {"p": "x"}, True),
    ],
)
def test_what_is_known_of_a_table_is_remembered_until_it_changes(
    described: Metadata | None, values: dict[str, Any], *, fit: bool
) -> None:
    known, adds = PartitioningCache(), [placed(values)]
    assert not known.fit(TABLE, Version(3), adds)

    known.learn(TABLE, Version(3), None if described is None else told(described))

    assert known.fit(TABLE, Version(3), adds) is fit
    assert not known.fit(TABLE, Version(4), adds)
    assert not known.fit(OTHER, Version(3), adds)
    known.learn(TABLE, Version(4), told(by("q date")))
    assert not known.fit(TABLE, Version(4), adds)
    assert not known.fit(TABLE, Version(3), adds)
    assert known.fit(TABLE, Version(4), [placed({"q": "2026-01-31"})])
    assert not known.fit(TABLE, Version(4), [placed({"q": "2026-01-31"}), placed({"q": "x"})])


def test_only_so_many_tables_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.catalog.ratification.partitioning_cache._MOST_TABLES", 2)
    known = PartitioningCache()
    tables = [TableId(str(number)) for number in range(3)]

    for table, remembered in zip(tables, (1, 2, 1), strict=True):
        known.learn(table, Version(0), None)
        assert known.fit(table, Version(0), [])
        assert sum(known.fit(each, Version(0), []) for each in tables) == remembered
