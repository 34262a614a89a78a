"""What is refused, by name."""

import json

import msgspec
import pytest

from headgate.errors import HeadgateError, UnsupportedFeature
from headgate.protocol import table_features
from headgate.protocol.actions import Metadata, Protocol
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema import schema_contents
from tests.support.commits import MANAGED, PROTOCOL, metadata


def protocol(*, readers: tuple[str, ...] = (), writers: tuple[str, ...] = ()) -> Protocol:
    return Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=readers,
        writer_features=(*readers, *writers),
    )


@pytest.mark.parametrize("fine", [PROTOCOL, MANAGED, protocol(writers=("domainMetadata", "appendOnly"))])
def test_what_we_understand_is_accepted(fine: Protocol) -> None:
    table_features.check_writable(fine, metadata())


def test_an_unknown_reader_feature_refuses_reads_and_is_named() -> None:
    with pytest.raises(UnsupportedFeature, match="quantumFiles") as caught:
        table_features.check_readable(protocol(readers=("quantumFiles", "timestampNtz")), metadata())

    assert caught.value.fields["features"] == ("quantumFiles",)


def test_an_unknown_writer_feature_refuses_writes_only() -> None:
    strange = protocol(writers=("quantumWrites",))

    table_features.check_readable(strange, metadata())
    with pytest.raises(UnsupportedFeature, match="quantumWrites") as caught:
        table_features.check_writable(strange, metadata())
    assert caught.value.code == "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"


@pytest.mark.parametrize(("reader", "writer"), [(4, 7), (3, 8)])
def test_a_newer_protocol_is_refused(reader: int, writer: int) -> None:
    newer = Protocol(min_reader_version=reader, min_writer_version=writer)

    with pytest.raises(UnsupportedFeature) as caught:
        table_features.check_writable(newer, metadata())
    assert caught.value.code == "DELTA_INVALID_PROTOCOL_VERSION"


def test_a_legacy_protocol_is_writable_until_a_feature_is_used() -> None:
    legacy = Protocol(min_reader_version=1, min_writer_version=6)

    table_features.check_writable(legacy, metadata())
    table_features.check_writable(legacy, columns(delta__identity__start=1))
    with pytest.raises(UnsupportedFeature, match="columnMapping"):
        table_features.check_writable(legacy, metadata(delta_columnMapping_mode="name"))


@pytest.mark.parametrize("reader", [protocol(writers=("columnMapping",)), PROTOCOL])
def test_a_mapping_of_columns_that_readers_are_not_told_of_is_refused(reader: Protocol) -> None:
    with pytest.raises(UnsupportedFeature, match="columnMapping") as caught:
        table_features.check_readable(reader, metadata(delta_columnMapping_mode="name"))

    assert caught.value.code == "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH"
    assert caught.value.fields["features"] == ("columnMapping",)


def test_a_mapping_of_columns_is_readable_where_readers_are_told() -> None:
    mapped = metadata(delta_columnMapping_mode="name")

    table_features.check_readable(protocol(readers=("columnMapping",)), mapped)
    table_features.check_readable(Protocol(min_reader_version=2, min_writer_version=5), mapped)


@pytest.mark.parametrize(
    "malformed",
    [
        Protocol(
            min_reader_version=3, min_writer_version=7, reader_features=("timestampNtz",), writer_features=()
        ),
        Protocol(min_reader_version=3, min_writer_version=7, writer_features=()),
        Protocol(min_reader_version=3, min_writer_version=7, reader_features=()),
        Protocol(min_reader_version=3, min_writer_version=6, reader_features=()),
        Protocol(min_reader_version=1, min_writer_version=2, writer_features=("appendOnly",)),
        Protocol(min_reader_version=1, min_writer_version=6, writer_features=("appendOnly",)),
        Protocol(
            min_reader_version=2, min_writer_version=7, reader_features=("timestampNtz",),
            writer_features=("timestampNtz",),
        ),
    ],
)  # fmt: skip
def test_a_protocol_that_contradicts_itself_is_refused(malformed: Protocol) -> None:
    """S331"""
    with pytest.raises(UnsupportedFeature, match="malformed") as caught:
        table_features.check_readable(malformed, metadata())

    assert caught.value.code == "DELTA_INVALID_PROTOCOL_VERSION"
    assert caught.value.fields["features"] == tuple(malformed.reader_features or ())


def test_every_feature_is_one_row() -> None:
    names = [feature.name for feature in table_features.FEATURES]

    assert len(names) == len(set(names))
    assert all(feature.can_read or not feature.can_write for feature in table_features.FEATURES)


@pytest.mark.parametrize(
    ("used", "name"),
    [
        (metadata(delta_enableDeletionVectors="true"), "deletionVectors"),
        (metadata(delta_enableRowTracking="true"), "rowTracking"),
        (metadata(delta_enableChangeDataFeed="true"), "changeDataFeed"),
        (metadata(delta_checkpointPolicy="v2"), "v2Checkpoint"),
    ],
)
def test_what_is_used_but_not_named_refuses_writes(used: Metadata, name: str) -> None:
    """Others would write without regard to it."""
    table_features.check_readable(PROTOCOL, used)
    with pytest.raises(UnsupportedFeature, match=name) as caught:
        table_features.check_writable(PROTOCOL, used)

    assert caught.value.code == "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH"


def test_the_preview_of_a_feature_names_it_too() -> None:
    preview = protocol(readers=("typeWidening-preview",))

    table_features.check_writable(preview, metadata(delta_enableTypeWidening="true"))


def test_columns_that_must_not_be_null_need_not_be_named() -> None:
    """Other writers leave the feature out, and whoever writes checks these columns anyway."""
    schema = '{"type":"struct","fields":[{"name":"id","type":"long","nullable":false,"metadata":{}}]}'

    table_features.check_writable(protocol(writers=("domainMetadata",)), metadata(schema))


READERS = {
    "columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck",
    "catalogManaged", "catalogOwned-preview", "typeWidening", "typeWidening-preview",
    "variantType", "variantType-preview", "variantShredding", "variantShredding-preview",
}  # fmt: skip
RETIRED = {
    "coordinatedCommits", "managedCommit-preview", "managed-commit-preview", "managed-commit-dev",
    "managedCommit",
}  # fmt: skip
OWNERS = {*RETIRED, "coordinatedCommits-preview", "catalogManaged", "catalogOwned-preview"}
REQUIRED = {
    **{key: {"inCommitTimestamp", "vacuumProtocolCheck"} for key in OWNERS},
    **{key: {"domainMetadata"} for key in ("rowTracking", "clustering")},
    **{key: {"columnMapping"} for key in ("icebergCompatV1", "icebergCompatV2")},
    "icebergCompatV3": {"columnMapping", "rowTracking"},
    "variantShredding": {"variantType"},
}
NEVER_WRITTEN = {
    "catalogOwned-preview", "variantShredding", "variantShredding-preview", "icebergCompatV1",
    "icebergCompatV2", "icebergCompatV3", "materializePartitionColumns",
}  # fmt: skip


def columns(data_type: object = "long", *, nullable: bool = True, **said: object) -> Metadata:
    """A table with one column, and these properties of it with ``_`` for ``.``."""
    keys = {key.replace("__", "."): value for key, value in said.items()}
    field = {"name": "c", "type": data_type, "nullable": nullable, "metadata": keys}
    return metadata(json.dumps({"type": "struct", "fields": [field]}))


def nested(data_type: str, **said: object) -> list[Metadata]:
    """A column of that type inside every kind of column there is."""
    inner = {
        "type": "struct",
        "fields": [{"name": "i", "type": data_type, "nullable": True, "metadata": said}],
    }
    array = {"type": "array", "elementType": inner, "containsNull": True}
    by_key = {"type": "map", "keyType": inner, "valueType": "long", "valueContainsNull": True}
    by_value = {"type": "map", "keyType": "long", "valueType": inner, "valueContainsNull": True}
    return [columns(kind) for kind in (inner, array, by_key, by_value)]


REQUIRED_FIELD = {"name": "r", "type": "long", "nullable": False, "metadata": {}}
USING = [
    ("appendOnly", metadata(delta_appendOnly="TRUE")),
    ("invariants", columns(nullable=False)),
    ("invariants", columns(delta__invariants="{}")),
    ("invariants", columns({"type": "struct", "fields": [REQUIRED_FIELD]})),
    ("checkConstraints", metadata(delta_constraints_c="id > 0")),
    ("changeDataFeed", metadata(delta_enableChangeDataFeed="true")),
    ("generatedColumns", columns(delta__generationExpression="1")),
    ("columnMapping", metadata(delta_columnMapping_mode="id")),
    ("identityColumns", columns(delta__identity__start=1)),
    ("deletionVectors", metadata(delta_enableDeletionVectors="true")),
    ("rowTracking", metadata(delta_enableRowTracking="true")),
    ("timestampNtz", columns("timestamp_ntz")),
    *(("timestampNtz", found) for found in nested("timestamp_ntz")),
    *(("identityColumns", found) for found in nested("long", **{"delta.identity.step": 1})),
    ("v2Checkpoint", metadata(delta_checkpointPolicy="v2")),
    ("inCommitTimestamp", metadata(delta_enableInCommitTimestamps="true")),
    ("typeWidening", metadata(delta_enableTypeWidening="true")),
    ("variantType", columns("variant")),
    ("variantShredding", metadata(delta_enableVariantShredding="true")),
    ("icebergCompatV1", metadata(delta_enableIcebergCompatV1="true")),
    ("icebergCompatV2", metadata(delta_enableIcebergCompatV2="true")),
]


@pytest.mark.parametrize(("name", "using"), USING)
def test_what_a_table_uses_is_what_its_protocol_must_name(name: str, using: Metadata) -> None:
    assert table_features.required_features(using) == {name}


@pytest.mark.parametrize(
    "plain",
    [
        metadata(), metadata(delta_appendOnly="false"), metadata(delta_columnMapping_mode="None"),
        metadata(delta_checkpointPolicy="classic"), columns(comment="x"),
    ],
)  # fmt: skip
def test_what_a_table_does_not_use_need_not_be_named(plain: Metadata) -> None:
    assert table_features.required_features(plain) == frozenset()


def test_defaults_are_what_its_protocol_must_name_too() -> None:
    assert table_features.required_features(columns(CURRENT_DEFAULT="1")) == {"allowColumnDefaults"}


def test_the_rows_say_whom_a_feature_concerns_and_what_it_takes() -> None:
    rows = {feature.name: feature for feature in table_features.FEATURES}

    assert {name for name, row in rows.items() if row.reader} == READERS
    assert {name: set(row.requires) for name, row in rows.items() if row.requires} == REQUIRED
    assert {name for name, row in rows.items() if not row.automatic} == {"timestampNtz"}
    assert {name for name, row in rows.items() if row.only_on_request} == {"catalogOwned-preview"}
    assert {name: row.formerly for name, row in rows.items() if row.formerly} == {
        name: (f"{name}-preview",) for name in ("typeWidening", "variantType", "variantShredding")
    }
    assert set(REQUIRED) | READERS | NEVER_WRITTEN < set(rows)


@pytest.mark.parametrize(
    ("writer", "added"),
    [
        (1, set()), (2, {"appendOnly", "invariants"}), (3, {"checkConstraints"}),
        (4, {"changeDataFeed", "generatedColumns"}), (5, {"columnMapping"}), (6, {"identityColumns"}),
    ],
)  # fmt: skip
def test_an_old_writer_version_stands_for_features(writer: int, added: set[str]) -> None:
    def implied(version: int) -> frozenset[str]:
        return table_features.writer_features(Protocol(min_reader_version=1, min_writer_version=version))

    assert implied(writer) - implied(writer - 1) == added


def naming(name: str) -> Protocol:
    """A protocol with a feature, and those that it requires."""
    names, waiting = [], [name]
    while waiting:
        names.append(waiting.pop())
        waiting += sorted(REQUIRED.get(names[-1], set()) - set(names))
    return protocol(
        readers=tuple(found for found in names if found in READERS),
        writers=tuple(found for found in names if found not in READERS),
    )


@pytest.mark.parametrize(
    ("found", "listed"),
    [
        (Protocol(min_reader_version=1, min_writer_version=2), {"appendOnly", "invariants"}),
        (Protocol(min_reader_version=1, min_writer_version=7, writer_features=("x",)), {"x"}),
        (
            Protocol(
                min_reader_version=3, min_writer_version=7, reader_features=("r",), writer_features=("w",)
            ),
            {"r", "w"},
        ),
    ],
    ids=str,
)
def test_what_a_client_must_know_is_named_or_implied(found: Protocol, listed: set[str]) -> None:
    assert table_features.supported_features(found) == listed


def test_columns_are_mapped_only_if_readers_are_told() -> None:
    untold, told = (Protocol(min_reader_version=reader, min_writer_version=5) for reader in (1, 2))

    assert table_features.supported_features(told) - table_features.supported_features(untold) == {
        "columnMapping"
    }


@pytest.mark.parametrize("name", sorted(NEVER_WRITTEN))
def test_what_we_cannot_write_is_refused_by_name(name: str) -> None:
    named = naming(name)

    table_features.check_maintainable(named, metadata())
    with pytest.raises(UnsupportedFeature) as caught:
        table_features.check_writable(named, metadata())

    assert caught.value.fields["features"] == (name,)
    assert caught.value.code == "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"


@pytest.mark.parametrize("name", ["variantType", "variantType-preview"])
def test_variants_are_written_under_either_name_and_not_under_none(name: str) -> None:
    table_features.check_writable(protocol(readers=(name,)), columns("variant"))
    with pytest.raises(UnsupportedFeature) as caught:
        table_features.check_writable(protocol(writers=("appendOnly",)), columns("variant"))

    assert caught.value.fields["features"] == ("variantType",)


@pytest.mark.parametrize(
    ("name", "using"),
    [
        ("invariants", columns(delta__invariants="{}")),
        ("checkConstraints", metadata(delta_constraints_c="id > 0")),
        ("generatedColumns", columns(delta__generationExpression="1")),
        ("identityColumns", columns(delta__identity__start=1)),
        ("columnMapping", metadata(delta_columnMapping_mode="name")),
        ("allowColumnDefaults", columns(CURRENT_DEFAULT="1")),
        ("clustering", metadata()),
    ],
)
def test_what_rows_are_checked_for_can_be_written(name: str, using: Metadata) -> None:
    table_features.check_writable(naming(name), using)


@pytest.mark.parametrize(
    "named", [Protocol(min_reader_version=1, min_writer_version=2), protocol(writers=())]
)
def test_a_default_that_the_protocol_does_not_name_stands_in_nobodys_way(named: Protocol) -> None:
    """Delta Spark reads and writes such a table too, which another client left so."""
    table_features.check_readable(named, columns(CURRENT_DEFAULT="1"))
    table_features.check_writable(named, columns(CURRENT_DEFAULT="1"))


def test_a_log_is_not_touched_where_a_writer_must_know_more() -> None:
    newer = Protocol(min_reader_version=1, min_writer_version=8)

    for refused, code in (
        (protocol(writers=("quantumWrites",)), "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"),
        (newer, "DELTA_INVALID_PROTOCOL_VERSION"),
    ):
        with pytest.raises(UnsupportedFeature) as caught:
            table_features.check_maintainable(refused, metadata())
        assert caught.value.code == code
    with pytest.raises(UnsupportedFeature, match="cannot read"):
        table_features.check_maintainable(protocol(readers=("quantumFiles",)), metadata())


def test_a_feature_is_found_whatever_the_case() -> None:
    found = table_features.find_feature("ROWtracking")

    assert found is not None
    assert found.name == "rowTracking"
    assert table_features.find_feature("quantumFiles") is None
    assert table_features.field_metadata_keys(columns(comment="x")) == {"comment"}


@pytest.mark.parametrize(("reader", "writer", "operation"), [(4, 7, "read"), (3, 8, "write")])
def test_a_newer_protocol_is_refused_however_well_formed(reader: int, writer: int, operation: str) -> None:
    newer = msgspec.structs.replace(protocol(), min_reader_version=reader, min_writer_version=writer)

    with pytest.raises(UnsupportedFeature, match=f"the newest that Headgate can {operation}"):
        table_features.check_writable(newer, metadata())


def test_a_preview_is_read_only_if_asked_for() -> None:
    preview = protocol(readers=("catalogOwned-preview",))

    with pytest.raises(UnsupportedFeature, match="read_previews") as caught:
        table_features.check_readable(preview, metadata())
    table_features.check_readable(preview, metadata(), previews=("catalogOwned-preview",))

    assert caught.value.fields["features"] == ("catalogOwned-preview",)


def test_what_is_used_and_named_is_written() -> None:
    tracked = protocol(writers=("rowTracking", "domainMetadata", "checkpointProtection"))

    table_features.check_writable(tracked, metadata(delta_enableRowTracking="true"))


def test_every_column_is_told_the_nested_ones_too() -> None:
    schema = schema_json.parse(nested("long")[0].schema_string)

    assert [field.name for field in schema_contents.all_fields(schema)] == ["c", "i"]


_NEEDED_BY_PROPERTIES = {
    "delta_appendOnly": ("true", "appendOnly"),
    "delta_constraints_c": ("id > 0", "checkConstraints"),
    "delta_enableChangeDataFeed": ("true", "changeDataFeed"),
    "delta_columnMapping_mode": ("name", "columnMapping"),
    "delta_enableDeletionVectors": ("true", "deletionVectors"),
    "delta_enableRowTracking": ("true", "rowTracking"),
    "delta_checkpointPolicy": ("v2", "v2Checkpoint"),
    "delta_enableInCommitTimestamps": ("true", "inCommitTimestamp"),
    "delta_enableTypeWidening": ("true", "typeWidening"),
    "delta_enableVariantShredding": ("true", "variantShredding"),
    "delta_enableIcebergCompatV1": ("true", "icebergCompatV1"),
    "delta_enableIcebergCompatV2": ("true", "icebergCompatV2"),
    "delta_enableIcebergCompatV3": ("true", "icebergCompatV3"),
    "delta_coordinatedCommits_commitCoordinator-preview": ("x", "coordinatedCommits-preview"),
    "delta_enableMaterializePartitionColumnsFeature": ("true", "materializePartitionColumns"),
}


@pytest.mark.parametrize("name", _NEEDED_BY_PROPERTIES)
def test_a_property_whose_feature_the_protocol_lacks_refuses_reads(name: str) -> None:
    """As Delta Spark does, and like it only of protocols that name their features."""
    value, feature = _NEEDED_BY_PROPERTIES[name]

    with pytest.raises(UnsupportedFeature, match=feature) as caught:
        table_features.check_readable(protocol(), metadata(**{name: value}))
    assert caught.value.code == "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH"
    if feature != "columnMapping":
        table_features.check_readable(PROTOCOL, metadata(**{name: value}))


@pytest.mark.parametrize(
    ("found", "feature"),
    [
        ({"type": "timestamp_ntz"}, "timestampNtz"),
        ({"type": "variant"}, "variantType"),
        ({"metadata": {"delta.invariants": "{}"}}, "invariants"),
        ({"metadata": {"delta.generationExpression": "1"}}, "generatedColumns"),
        ({"metadata": {"delta.identity.start": 1}}, "identityColumns"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_column_whose_feature_the_protocol_lacks_refuses_reads(
    found: dict[str, object], feature: str
) -> None:
    column = {"name": "c", "type": "long", "nullable": True, "metadata": {}, **found}
    schema = json.dumps({"type": "struct", "fields": [column]})

    with pytest.raises(UnsupportedFeature, match=feature):
        table_features.check_readable(protocol(), metadata(schema))
    table_features.check_readable(PROTOCOL, metadata(schema))


@pytest.mark.parametrize(
    ("alone", "feature"),
    [
        ("rowTracking", "domainMetadata"),
        ("clustering", "domainMetadata"),
        ("icebergCompatV1", "columnMapping"),
        ("coordinatedCommits-preview", "inCommitTimestamp"),
    ],
)
def test_a_feature_without_the_one_it_requires_refuses_reads(alone: str, feature: str) -> None:
    with pytest.raises(UnsupportedFeature, match=feature):
        table_features.check_readable(protocol(writers=(alone,)), metadata())


@pytest.mark.parametrize("retired", sorted(RETIRED))
def test_an_older_table_may_name_a_retired_feature_alone(retired: str) -> None:
    table_features.check_readable(protocol(writers=(retired,)), metadata())


def deep(levels: int) -> Metadata:
    """A table of a column that is so many arrays of arrays."""
    kind: object = "long"
    for _ in range(levels):
        kind = {"type": "array", "elementType": kind, "containsNull": True}
    return columns(kind)


@pytest.mark.parametrize(
    ("unread", "code"),
    [(metadata("no schema"), "DELTA_STATE_RECOVER_ERROR"), (deep(300), "HEADGATE_SCHEMA_TOO_DEEP")],
    ids=["no schema", "too deep"],
)
def test_columns_that_cannot_be_parsed_are_not_judged_by_their_features_until_somebody_writes(
    unread: Metadata, code: str
) -> None:
    table_features.check_readable(protocol(), unread)
    with pytest.raises(HeadgateError) as caught:
        table_features.check_writable(protocol(), unread)

    assert caught.value.code == code
