"""What becomes of metadata when properties are set and unset, and what a catalog does not let go."""

from collections.abc import Callable
from itertools import count

import msgspec
import pytest

from headgate.errors import InvalidRequest
from headgate.protocol.actions import Metadata
from headgate.protocol.metadata import alter_properties
from headgate.protocol.metadata.alter_properties import PropertyChanges
from headgate.protocol.property_values import ROW_COMMIT_VERSION_COLUMN, ROW_ID_COLUMN
from tests.support.commits import metadata

STAMPS = "delta.enableInCommitTimestamps"
KNOWN = "io.unitycatalog.tableId"
DEPENDENCIES = "DELTA_CANNOT_MODIFY_CATALOG_MANAGED_DEPENDENCIES"
FIXED = "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"
TRACKED = metadata(delta_enableRowTracking="True")
CHANGE_COLUMNS = ("_change_type", "_commit_version", "_commit_timestamp")


def code(act: Callable[..., object], *given: object, **named: object) -> str:
    with pytest.raises(InvalidRequest) as caught:
        act(*given, **named)
    return caught.value.code


def with_properties(properties: dict[str, str], description: str | None = None) -> Metadata:
    return msgspec.structs.replace(metadata(), configuration=properties, description=description)


def test_what_is_asked_for_is_stored_or_wished_of_the_protocol() -> None:
    asked = alter_properties.parse(
        {
            "Delta.AppendOnly": "true",
            "Team": "sales",
            "comment": "orders",
            "delta.minReaderVersion": "3",
            "delta.MINWriterVersion": "5",
            "Delta.Feature.DomainMetadata": "Supported",
        }
    )

    assert asked == PropertyChanges(
        {"delta.appendOnly": "true", "Team": "sales"}, frozenset({"domainMetadata"}), 5, "orders"
    )
    assert alter_properties.parse({}) == PropertyChanges()
    managed = alter_properties.parse({"delta.feature.catalogManaged": "supported"})
    assert managed.features == {"catalogManaged"}
    assert alter_properties.parse({"delta.minWriterVersion": "5", "delta.minReaderVersion": "1"}).writer == 5


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("delta.minReaderVersion", ("1", "3"), ("0", "4", "", "-1", "two")),
        ("delta.minWriterVersion", ("1", "7"), ("0", "8", "", "-1", "two")),
    ],
)
def test_the_least_versions_are_those_there_are(
    name: str, good: tuple[str, ...], bad: tuple[str, ...]
) -> None:
    for value in good:
        assert alter_properties.parse({name: value}).configuration == {}
    for value in bad:
        assert code(alter_properties.parse, {name: value}) == "DELTA_INVALID_PROTOCOL_VERSION"


@pytest.mark.parametrize(
    "name",
    ["location", "owner", "provider", "external", "is_managed_location", "table_type", "collation"],
)
def test_what_the_table_is_itself_is_no_property_of_it(name: str) -> None:
    refused = code(alter_properties.parse, {"team": "sales", name: "x"})

    assert refused == "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY"


def test_values_are_text_and_no_credentials() -> None:
    numbers: dict[str, str] = msgspec.json.decode(b'{"team":1}')

    with pytest.raises(InvalidRequest, match="in quotes"):
        alter_properties.parse(numbers)
    assert code(alter_properties.parse, {"fs.secret": "x"}) == "HEADGATE_SECRET_IN_LOG"


def test_the_comment_becomes_the_description_and_stays_if_none_is_given() -> None:
    before = with_properties({"a": "1", "b": "2"}, "old")

    assert alter_properties.set_properties(before, PropertyChanges({"b": "3"})) == with_properties(
        {"a": "1", "b": "3"}, "old"
    )
    assert alter_properties.set_properties(before, PropertyChanges(comment="")).description == ""


def test_what_is_unset_is_gone_and_the_rest_stays() -> None:
    before = with_properties({"delta.appendOnly": "true", "a": "1", "b": "2"}, "old")

    left = alter_properties.unset_properties(before, ["comment", "DELTA.appendonly", "a"], if_exists=False)

    assert left == with_properties({"b": "2"})


def test_what_is_not_there_is_unset_only_if_that_is_all_right() -> None:
    before = with_properties({"a": "1"})
    absent = ["A", "delta.columnMapping.maxColumnId"]

    for name in absent:
        assert code(alter_properties.unset_properties, before, [name], if_exists=False) == (
            "DELTA_UNSET_NON_EXISTENT_PROPERTY"
        )
    assert alter_properties.unset_properties(before, absent, if_exists=True) == before


@pytest.mark.parametrize("name", ["delta.columnMapping.maxColumnId", "delta.universalFormat.enabledFormats"])
def test_what_is_not_a_users_to_set_is_not_a_users_to_unset(name: str) -> None:
    before = with_properties({name: "1"})

    assert code(alter_properties.unset_properties, before, [name], if_exists=True) == FIXED


@pytest.mark.parametrize("column", CHANGE_COLUMNS)
def test_changes_are_recorded_only_in_tables_without_their_columns(column: str) -> None:
    fields = f'{{"name":"{column}","type":"long","nullable":true,"metadata":{{}}}}'
    schema = f'{{"type":"struct","fields":[{fields}]}}'

    alter_properties.check_against_columns(metadata(schema, delta_enableChangeDataFeed="false"))
    alter_properties.check_against_columns(metadata(delta_enableChangeDataFeed="TRUE"))
    assert code(
        alter_properties.check_against_columns, metadata(schema, delta_enableChangeDataFeed="TRUE")
    ) == ("DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS")


@pytest.mark.parametrize(
    "name",
    [STAMPS, "delta.INCommitTimestampEnablementVersion", "delta.inCommitTimestampEnablementTimestamp"],
)
def test_the_timestamps_of_a_managed_table_stay_as_they_are(name: str) -> None:
    """E6"""
    before = with_properties({STAMPS: "true"})

    assert code(alter_properties.check_managed_change, before, [name]) == DEPENDENCIES


@pytest.mark.parametrize("name", [KNOWN, "ucTableId", "headgate.tableName"])
def test_how_the_catalog_knows_a_table_is_neither_changed_nor_unset(name: str) -> None:
    """E8"""
    before = with_properties({name: "t", "team": "sales"})

    alter_properties.check_managed_change(before, [name], PropertyChanges({name: "t"}))
    alter_properties.check_managed_change(before, ["team"], PropertyChanges({"team": "it"}))
    alter_properties.check_managed_change(before, ["team"])
    assert code(alter_properties.check_managed_change, before, [name], PropertyChanges({name: "u"})) == FIXED
    assert code(alter_properties.check_managed_change, before, [name]) == FIXED


def test_a_table_says_which_one_it_is_to_its_catalog() -> None:
    said = alter_properties.catalog_identity("t", "Sales.Orders")

    assert said == {KNOWN: "t", "headgate.tableName": "sales.orders"}


def test_a_new_managed_table_has_timestamps_and_what_its_catalog_requires() -> None:
    required = {KNOWN: "t", "delta.checkpointPolicy": "v2"}

    for asked in ({"team": "sales"}, {"team": "sales", STAMPS: "TRUE", KNOWN: "t"}):
        assert alter_properties.properties_of_new_managed_table(asked, required) == {
            "team": "sales", STAMPS: "true", **required,
        }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({STAMPS: "false"}, DEPENDENCIES),
        ({KNOWN: "u"}, FIXED),
        ({"ucTableId": "u"}, FIXED),
        ({"delta.checkpointPolicy": "classic"}, FIXED),
    ],
)
def test_a_new_managed_table_is_not_asked_to_be_another(asked: dict[str, str], expected: str) -> None:
    required = {KNOWN: "t", "delta.checkpointPolicy": "v2"}

    assert code(alter_properties.properties_of_new_managed_table, asked, required) == expected


def test_a_table_that_tracks_rows_has_columns_for_their_ids() -> None:
    numbers = map(str, count())

    named = alter_properties.with_materialized_row_columns(TRACKED, lambda: next(numbers))

    assert named.configuration == {
        **TRACKED.configuration,
        ROW_ID_COLUMN: "_row-id-col-0",
        ROW_COMMIT_VERSION_COLUMN: "_row-commit-version-col-1",
    }
    assert alter_properties.with_materialized_row_columns(named, lambda: next(numbers)) is named
    plain = metadata(delta_enableRowTracking="false")
    assert alter_properties.with_materialized_row_columns(plain, lambda: next(numbers)) is plain


@pytest.mark.parametrize("name", [ROW_ID_COLUMN, ROW_COMMIT_VERSION_COLUMN])
def test_a_column_that_has_a_name_for_its_ids_keeps_it(name: str) -> None:
    half = with_properties({**TRACKED.configuration, name: "mine"})

    named = alter_properties.with_materialized_row_columns(half, lambda: "new").configuration

    assert named[name] == "mine"
    assert named.keys() > {ROW_ID_COLUMN, ROW_COMMIT_VERSION_COLUMN}
