"""What can be asked of a table by its properties."""

from pathlib import Path

import pytest

import headgate
from headgate.errors import InvalidRequest
from headgate.protocol import property_values, protocol_upgrade, table_features
from headgate.protocol.actions import Protocol
from headgate.protocol.metadata import alter_properties, table_properties
from headgate.protocol.metadata.table_properties import PROPERTIES, Setter
from tests.support.commits import metadata

SOURCES = Path(headgate.__file__).parent
LEGACY = Protocol(min_reader_version=1, min_writer_version=2)
ROWS = pytest.mark.parametrize("row", PROPERTIES, ids=lambda row: row.name)
NTZ = '{"type":"struct","fields":[{"name":"t","type":%s,"nullable":true,"metadata":{}}]}'


def code(asked: dict[str, str]) -> str:
    with pytest.raises(InvalidRequest) as caught:
        alter_properties.parse(asked)
    return caught.value.code


def test_every_property_is_one_row() -> None:
    names = [row.name.lower() for row in PROPERTIES]

    assert len(names) == len(set(names))
    assert names == sorted(names)


@ROWS
def test_every_default_is_a_value_the_property_can_have(row: table_properties.Property) -> None:
    if row.default is not None:
        assert row.kind.accepts(row.default)
    if row.default is not None and row.setter is not Setter.CLIENT:
        stored = alter_properties.parse({row.name.upper(): row.default}).configuration
        assert stored == {row.name: row.default}


@ROWS
def test_no_property_can_be_what_it_cannot_be(row: table_properties.Property) -> None:
    refused = code({row.name: "\x00"}) if row.kind is not table_properties.TEXT else None

    if row.setter is Setter.CLIENT:
        assert code({row.name: "1"}) == "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"
    elif refused is not None:
        assert refused == "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"


def test_what_is_said_to_be_kept_for_others_is_what_the_code_does_not_mention() -> None:
    lists = ("table_properties.py", "property_values.py", "drop_feature.py")
    text = "".join(path.read_text() for path in SOURCES.rglob("*.py") if path.name not in lists)
    constants = {
        value: name
        for name, value in vars(property_values).items()
        if name.isupper() and isinstance(value, str)
    }

    for row in PROPERTIES:
        if row.setter is Setter.USER and row.brings is None:
            spelled = f"property_values.{constants[row.name]}" if row.name in constants else f'"{row.name}"'
            assert (spelled in text) is row.obeyed, row.name


def test_the_feature_a_property_is_said_to_bring_is_the_one_it_brings() -> None:
    for row in PROPERTIES:
        if row.brings is None or row.kind is table_properties.TEXT:
            continue
        value = {"delta.checkpointPolicy": "v2", "delta.columnMapping.mode": "name"}.get(row.name, "true")
        plain, used = metadata(), metadata(**{row.name.replace(".", "_"): value})
        assert table_features.required_features(used) - table_features.required_features(plain) == {
            row.brings
        }


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("delta.appendOnly", ["true", "FALSE"], ["yes", "", "1"]),
        (
            "delta.logRetentionDuration",
            ["interval 7 days", "1 week 2 hours"],
            ["7", "interval 1 month", "-1 day"],
        ),
        ("delta.checkpointInterval", ["1", "100"], ["0", "-1", "ten"]),
        ("delta.dataSkippingNumIndexedCols", ["-1", "0", "32"], ["-2", "all"]),
        ("delta.targetFileSize", ["1048576", "100mb", "1g", "64KB"], ["0", "big", "-1", "mb"]),
        ("delta.checkpointPolicy", ["v2", "classic"], ["v3"]),
        ("delta.parquet.compression.codec", ["zstd", "SNAPPY"], ["rar"]),
    ],
)
def test_values_are_checked(name: str, good: list[str], bad: list[str]) -> None:
    for value in good:
        assert alter_properties.parse({name: value}).configuration == {name: value}
    for value in bad:
        assert code({name: value}) == "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"


def test_only_the_strictest_isolation_can_be_asked_for() -> None:
    """S238"""
    with pytest.raises(InvalidRequest, match="must be Serializable"):
        alter_properties.parse({"delta.isolationLevel": "WriteSerializable"})

    assert alter_properties.parse({"delta.isolationLevel": "Serializable"}).configuration


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"delta.colour": "red"}, "DELTA_UNKNOWN_CONFIGURATION"),
        ({"DELTA.Colour": "red"}, "DELTA_UNKNOWN_CONFIGURATION"),
        ({"delta.constraints.c": "id > 0"}, "DELTA_ADD_CONSTRAINTS"),
        ({"delta.universalFormat.enabledFormats": "iceberg"}, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"),
        ({"delta.coordinatedCommits.commitCoordinator-preview": "x"}, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"),
        ({"delta.minReaderVersion": "4"}, "DELTA_INVALID_PROTOCOL_VERSION"),
        ({"delta.minWriterVersion": "seven"}, "DELTA_INVALID_PROTOCOL_VERSION"),
        ({"delta.feature.quantumFiles": "supported"}, "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG"),
        ({"delta.feature.domainMetadata": "disabled"}, "DELTA_UNSUPPORTED_FEATURE_STATUS"),
        ({"delta.appendOnly": "true", "delta.appendonly": "true"}, "DELTA_ILLEGAL_OPTION"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_by_name(asked: dict[str, str], expected: str) -> None:
    assert code(asked) == expected


@pytest.mark.parametrize("status", ["enabled", "ENABLED", "disabled", "true"])
def test_a_catalog_managed_table_is_asked_for_in_one_word(status: str) -> None:
    """S102, E4"""
    assert code({"delta.feature.catalogManaged": status}) == "DELTA_UNSUPPORTED_FEATURE_STATUS"
    assert alter_properties.parse({"delta.feature.domainMetadata": "enabled"}).features == {"domainMetadata"}


def test_unknown_properties_of_the_log_are_kept_and_can_be_unset() -> None:
    """P52"""
    before = metadata(delta_fromTheFuture="1")
    asked = alter_properties.parse({"team": "sales"})

    assert alter_properties.set_properties(before, asked).configuration == {
        "delta.fromTheFuture": "1",
        "team": "sales",
    }
    assert (
        alter_properties.unset_properties(before, ["delta.FROMthefuture"], if_exists=False).configuration
        == {}
    )


def test_what_the_client_keeps_cannot_be_unset() -> None:
    before = metadata(delta_requireCheckpointProtectionBeforeVersion="5")

    with pytest.raises(InvalidRequest) as caught:
        alter_properties.unset_properties(
            before, ["delta.requireCheckpointProtectionBeforeVersion"], if_exists=True
        )

    assert caught.value.code == "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"


def test_changes_are_not_recorded_where_a_column_has_the_name_of_one_of_theirs() -> None:
    taken = metadata(NTZ.replace('"t"', '"_Change_Type"') % '"string"')

    with pytest.raises(InvalidRequest, match="rename") as caught:
        alter_properties.set_properties(taken, alter_properties.parse({"delta.enableChangeDataFeed": "true"}))

    assert caught.value.code == "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS"


@pytest.mark.parametrize(
    "column", ['"timestamp_ntz"', '{"type":"array","elementType":"timestamp_ntz","containsNull":true}']
)
def test_timestamps_without_a_zone_must_be_asked_for_on_an_existing_table(column: str) -> None:
    """S332"""
    changed = metadata(NTZ % column)

    with pytest.raises(InvalidRequest, match="add_feature") as caught:
        protocol_upgrade.protocol_for_changed_table(LEGACY, changed)
    assert caught.value.code == "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"

    asked = protocol_upgrade.protocol_for_changed_table(LEGACY, changed, asked=["timestampNtz"])
    assert protocol_upgrade.protocol_for_changed_table(asked, changed) is asked
    assert protocol_upgrade.protocol_for_new_table(changed).reader_features == ("timestampNtz",)


@pytest.mark.parametrize(
    ("writer", "expected"),
    [(0, (1, 2)), (2, (1, 2)), (3, (1, 3)), (4, (1, 4)), (5, (2, 5)), (6, (2, 6)), (7, (1, 2))],
)
def test_a_protocol_takes_the_weakest_form(writer: int, expected: tuple[int, int]) -> None:
    for found in (
        protocol_upgrade.protocol_for_new_table(metadata(), writer=writer),
        protocol_upgrade.protocol_for_changed_table(LEGACY, metadata(), writer=writer),
    ):
        assert (found.min_reader_version, found.min_writer_version) == expected
        assert found.writer_features is None


def test_a_legacy_feature_alone_does_not_bring_its_bundle() -> None:
    recorded = metadata(delta_enableChangeDataFeed="true")

    assert protocol_upgrade.protocol_for_changed_table(LEGACY, recorded) == Protocol(
        min_reader_version=1,
        min_writer_version=7,
        writer_features=("appendOnly", "changeDataFeed", "invariants"),
    )


def test_a_preview_will_do_in_place_of_the_feature() -> None:
    widening = metadata(delta_enableTypeWidening="true")
    preview = protocol_upgrade.with_features(LEGACY, ["typeWidening-preview"])

    assert protocol_upgrade.protocol_for_changed_table(preview, widening) is preview


def test_readers_of_mapped_columns_stay_at_the_version_that_implies_them() -> None:
    mapped = Protocol(min_reader_version=2, min_writer_version=5)
    tracked = protocol_upgrade.with_features(mapped, ["rowTracking"])

    left = protocol_upgrade.without_feature(tracked, "rowTracking")

    assert (left.min_reader_version, left.reader_features) == (2, None)
    assert set(left.writer_features or ()) > {"columnMapping", "domainMetadata"}
    assert protocol_upgrade.without_feature(left, "domainMetadata") == mapped


def test_the_last_feature_that_is_dropped_leaves_a_legacy_protocol() -> None:
    named = protocol_upgrade.with_features(LEGACY, ["deletionVectors"])

    assert protocol_upgrade.without_feature(named, "deletionVectors") == LEGACY
