"""Version 0: what a new table says of itself."""

import pytest

from headgate.errors import InvalidRequest, UnsupportedFeature
from headgate.protocol.actions import Commit, Version
from headgate.protocol.log import codec, file_names
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from tests.support.faulty_store import DictStore
from tests.support.routes import CountingWorld
from tests.support.tables import SCHEMA

STAMPS = "delta.enableInCommitTimestamps"
BOTH = pytest.mark.parametrize("managed", [True, False], ids=["managed", "by path"])


def made(properties: dict[str, str] | None = None, *, managed: bool, schema: Struct = SCHEMA) -> Commit:
    content = create.version_0(
        TableDefinition(schema, None, properties or {}), managed=managed, world=CountingWorld()
    )
    return codec.decode(Version(0), content)


def test_a_managed_table_has_what_its_catalog_needs() -> None:
    """S101, E1–E3; S116: nothing that nobody asked for."""
    for asked in ({}, {"delta.feature.catalogManaged": "supported"}, {STAMPS: "true"}):
        found = made(asked, managed=True)

        assert found.protocol is not None
        assert found.metadata is not None
        assert found.protocol.reader_features == ("catalogManaged", "vacuumProtocolCheck")
        assert found.protocol.writer_features == (
            "catalogManaged",
            "inCommitTimestamp",
            "vacuumProtocolCheck",
        )
        assert found.metadata.configuration == {STAMPS: "true"}


def test_a_managed_table_without_timestamps_is_refused() -> None:
    """S103, E2"""
    with pytest.raises(InvalidRequest) as caught:
        made({STAMPS: "false"}, managed=True)

    assert caught.value.code == "DELTA_CANNOT_MODIFY_CATALOG_MANAGED_DEPENDENCIES"


@BOTH
def test_a_status_other_than_supported_is_refused(managed: bool) -> None:
    """S102, E4, P49"""
    with pytest.raises(InvalidRequest) as caught:
        made({"delta.feature.catalogManaged": "enabled"}, managed=managed)

    assert caught.value.code == "DELTA_UNSUPPORTED_FEATURE_STATUS"


def test_a_table_that_only_a_catalog_could_make_is_not_made_by_path() -> None:
    """P50"""
    with pytest.raises(InvalidRequest, match="create_table"):
        made({"delta.feature.catalogManaged": "supported"}, managed=False)


def test_what_a_catalog_requires_is_said_whether_or_not_the_user_says_it() -> None:
    """S111, E8"""
    required = {"io.unitycatalog.tableId": "abc"}
    for asked in ({}, required):
        content = create.version_0(
            TableDefinition(SCHEMA, None, asked, required), managed=True, world=CountingWorld()
        )
        metadata = codec.decode(Version(0), content).metadata
        assert metadata is not None
        assert metadata.configuration == {**required, STAMPS: "true"}

    for wrong in (required, {}):
        definition = TableDefinition(SCHEMA, None, {"io.unitycatalog.tableId": "xyz"}, wrong)
        with pytest.raises(InvalidRequest) as caught:
            create.version_0(definition, managed=True, world=CountingWorld())
        assert caught.value.code == "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"


@BOTH
def test_properties_bring_their_features(managed: bool) -> None:
    asked = {"delta.enableRowTracking": "true", "delta.ENABLEdeletionVectors": "true", "comment": "sales"}

    found = made(asked, managed=managed)

    assert found.protocol is not None
    assert found.metadata is not None
    assert {"rowTracking", "domainMetadata", "deletionVectors"} <= set(found.protocol.writer_features or ())
    assert "deletionVectors" in (found.protocol.reader_features or ())
    assert found.metadata.description == "sales"
    assert found.metadata.configuration["delta.enableDeletionVectors"] == "true"
    assert len([key for key in found.metadata.configuration if "materialized" in key]) == 2


def test_timestamps_from_the_beginning_say_nothing_of_since_when() -> None:
    """C3, I8"""
    found = made({STAMPS: "true"}, managed=False)

    assert found.info is not None
    assert found.metadata is not None
    assert found.info.in_commit_timestamp is not None
    assert not {ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION} & found.metadata.configuration.keys()


def test_an_ordinary_table_shuts_out_nobody() -> None:
    """The weakest form that says what is needed."""
    plain = made(managed=False)
    strict = made(managed=False, schema=Struct((Field("id", Primitive("long"), nullable=False),)))

    for found in (plain, strict):
        assert found.protocol is not None
        assert (found.protocol.min_reader_version, found.protocol.min_writer_version) == (1, 2)


@BOTH
def test_a_table_that_could_not_be_written_is_not_made(managed: bool) -> None:
    store = DictStore()
    definition = TableDefinition(SCHEMA, None, {"delta.enableIcebergCompatV2": "true"})

    with pytest.raises(UnsupportedFeature, match="icebergCompatV2"):
        create.write_version_0(store, definition, managed=managed, world=CountingWorld())

    assert not list(store.list_from(file_names.LOG_FOLDER))
