"""Features leave a table without leaving anything that others could trip over."""

import pytest

from headgate.errors import InvalidRequest, UserError
from headgate.protocol.actions import RemoveFile, Version
from headgate.protocol.domains.rules import SetDomain
from headgate.protocol.log import file_names
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION
from headgate.protocol.property_values import PROTECTED_BEFORE
from headgate.protocol.table_features import FEATURES
from headgate.table.alter import set_properties
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change
from tests.support.altered import configuration, named, new, write
from tests.support.attempts import added, with_vector
from tests.support.routes import ROUTES, open_table

each_route = pytest.mark.parametrize("route", ROUTES)
IN_USE = "HEADGATE_FEATURE_IN_USE"
STAMPS = "delta.enableInCommitTimestamps"


@each_route
def test_dropping_domains(route: str) -> None:
    """S211: clean; with a leaked domain; with row tracking; after that is gone."""
    _, table = new(route)
    set_properties.add_feature(table, "domainMetadata")
    set_properties.drop_feature(table, "domainMetadata")
    assert "domainMetadata" not in named(table)

    table.change_domains([SetDomain("acme.owner", "sales")])
    set_properties.drop_feature(table, "domainMetadata")
    assert not table.domains()
    assert "domainMetadata" not in named(table)

    set_properties.add_feature(table, "rowTracking")
    with pytest.raises(InvalidRequest, match="rowTracking") as caught:
        set_properties.drop_feature(table, "domainMetadata")
    assert caught.value.code == "DELTA_FEATURE_DROP_DEPENDENT_FEATURE"

    set_properties.drop_feature(table, "rowTracking")
    set_properties.drop_feature(table, "domainMetadata")
    assert "domainMetadata" not in named(table)


def test_dropping_timestamps_takes_what_was_said_of_them() -> None:
    """I8"""
    _, table = new("filesystem")
    set_properties.set_properties(table, {STAMPS: "true"})

    version = set_properties.drop_feature(table, "inCommitTimestamp")

    assert not {STAMPS, ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP} & configuration(table).keys()
    assert table.snapshot().state.protocol.min_writer_version == 2
    assert table.snapshot().state.in_commit_timestamp is None
    assert version == 2


@each_route
@pytest.mark.parametrize(
    ("feature", "key", "value"),
    [
        ("deletionVectors", "delta.enableDeletionVectors", "true"),
        ("v2Checkpoint", "delta.checkpointPolicy", "v2"),
        ("typeWidening", "delta.enableTypeWidening", "true"),
    ],
)
def test_what_readers_had_to_know_is_dropped_behind_a_protected_checkpoint(
    route: str, feature: str, key: str, value: str
) -> None:
    place, table = new(route)
    set_properties.set_properties(table, {key: value})
    write(table, added("a", {}))

    version = set_properties.drop_feature(table, feature)

    assert feature not in named(table)
    assert feature not in (table.snapshot().state.protocol.reader_features or ())
    assert "checkpointProtection" in named(table)
    assert configuration(table)[PROTECTED_BEFORE] == str(version)
    assert key not in configuration(table)
    checkpoints = [
        found.path for found in place.store.list_from(file_names.LOG_FOLDER) if "checkpoint" in found.path
    ]
    for at in (version - 1, version):
        assert f"{file_names.LOG_FOLDER}{at:020d}.checkpoint.parquet" in checkpoints
    assert table.snapshot(version=version - 3).state.protocol.has(feature)


@each_route
def test_deletion_vectors_that_are_there_stand_against_dropping(route: str) -> None:
    _, table = new(route)
    set_properties.set_properties(table, {"delta.enableDeletionVectors": "true"})
    write(table, with_vector(added("a", {}), "v"))
    before = table.snapshot().version

    with pytest.raises(InvalidRequest, match="deletion vectors") as caught:
        set_properties.drop_feature(table, "deletionVectors")

    assert caught.value.code == IN_USE
    assert table.snapshot().version == before


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("quantumFiles", "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE"),
        ("deletionVectors", "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"),
        ("timestampNtz", "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE"),
        ("appendOnly", IN_USE),
        (
            "checkpointProtection",
            "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION",
        ),
    ],
)
def test_what_cannot_be_dropped_is_named(name: str, code: str) -> None:
    _, table = new(
        "filesystem", "feature:timestampNtz", "set:delta.appendOnly=true", "feature:checkpointProtection",
        f"set:{PROTECTED_BEFORE}=5",
    )  # fmt: skip

    with pytest.raises(UserError, match=name) as caught:
        set_properties.drop_feature(table, name)

    assert caught.value.code == code
    assert table.snapshot().version == 0


@pytest.mark.parametrize(
    ("feature", "key", "value"),
    [
        ("deletionVectors", "delta.enableDeletionVectors", "true"),
        ("v2Checkpoint", "delta.checkpointPolicy", "v2"),
        ("typeWidening", "delta.enableTypeWidening", "true"),
    ],
)
def test_a_feature_goes_with_its_history_when_that_is_old_enough(
    monkeypatch: pytest.MonkeyPatch, feature: str, key: str, value: str
) -> None:
    place, table = new("filesystem")
    set_properties.set_properties(table, {key: value})
    write(table, added("a", {}))
    table.checkpoint()

    with pytest.raises(InvalidRequest, match="can still be read") as caught:
        set_properties.drop_feature(table, feature, truncate_history=True)
    assert caught.value.code == "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD"
    assert key not in configuration(table)
    assert feature in named(table)

    monkeypatch.setattr(place.world, "now_ms", lambda: 3 * 24 * 60 * 60 * 1000)
    monkeypatch.setattr(place.store, "first_ms", 3 * 24 * 60 * 60 * 1000)
    set_properties.drop_feature(table, feature, truncate_history=True)

    assert table.snapshot().state.protocol.min_writer_version == 2
    assert PROTECTED_BEFORE not in configuration(table)
    assert table.snapshot().files.columns.num_rows == 1
    with pytest.raises(UserError):
        table.snapshot(version=1)


def test_the_protection_of_checkpoints_goes_when_what_it_protects_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place, table = new("filesystem", "feature:deletionVectors")
    write(table, added("a", {}))
    set_properties.drop_feature(table, "deletionVectors")

    with pytest.raises(InvalidRequest) as caught:
        set_properties.drop_feature(table, "checkpointProtection", truncate_history=True)
    assert caught.value.code == "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD"

    monkeypatch.setattr(place.world, "now_ms", lambda: 3 * 24 * 60 * 60 * 1000)
    monkeypatch.setattr(place.store, "first_ms", 3 * 24 * 60 * 60 * 1000)
    set_properties.drop_feature(table, "checkpointProtection", truncate_history=True)

    assert table.snapshot().state.protocol.min_writer_version == 2
    assert PROTECTED_BEFORE not in configuration(table)
    assert table.snapshot().files.columns.num_rows == 1


def test_a_version_with_deletion_vectors_keeps_the_feature_until_it_is_gone() -> None:
    """The property may have been off all the time: the vectors count."""
    _, table = new("filesystem", "set:delta.enableDeletionVectors=true")
    write(table, with_vector(added("a", {}), "v"))
    set_properties.unset_properties(table, ["delta.enableDeletionVectors"])
    gone = RemoveFile(
        path="a", data_change=True, deletion_vector=with_vector(added("a", {}), "v").deletion_vector
    )
    write(table, gone)

    with pytest.raises(InvalidRequest, match="version 3") as caught:
        set_properties.drop_feature(table, "deletionVectors", truncate_history=True)

    assert caught.value.code == "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD"


@each_route
def test_the_history_is_truncated_only_where_that_helps_and_is_allowed(route: str) -> None:
    _, table = new(route, "feature:deletionVectors", "feature:domainMetadata")

    with pytest.raises(InvalidRequest, match="no history") as caught:
        set_properties.drop_feature(table, "domainMetadata", truncate_history=True)
    assert caught.value.code == "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED"
    if route != "filesystem":
        with pytest.raises(InvalidRequest, match="belongs to its catalog"):
            set_properties.drop_feature(table, "deletionVectors", truncate_history=True)
    assert table.snapshot().version == 0


def test_a_drop_that_loses_to_an_append_looks_again_and_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    place, table = new("filesystem", "feature:domainMetadata")
    other = open_table(place, "filesystem")
    commit, lost = OpenedTable.commit, list[Version]()

    def late(self: OpenedTable, change: Change, *, base: Snapshot) -> Version:
        if self is table and not lost:
            lost.append(write(other, added("a", {})))
        return commit(self, change, base=base)

    monkeypatch.setattr(OpenedTable, "commit", late)
    version = set_properties.drop_feature(table, "domainMetadata")

    assert (lost, version) == ([1], 2)
    assert "domainMetadata" not in named(table)


def test_a_drop_that_loses_to_a_use_of_the_feature_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    place, table = new("filesystem", "feature:deletionVectors")
    other = open_table(place, "filesystem")
    commit, lost = OpenedTable.commit, list[Version]()

    def late(self: OpenedTable, change: Change, *, base: Snapshot) -> Version:
        if self is table and not lost:
            lost.append(set_properties.set_properties(other, {"delta.enableDeletionVectors": "true"}))
        return commit(self, change, base=base)

    monkeypatch.setattr(OpenedTable, "commit", late)
    with pytest.raises(UserError, match="uses it again"):
        set_properties.drop_feature(table, "deletionVectors")

    assert "deletionVectors" in named(table)


def test_every_feature_that_is_required_can_be_named() -> None:
    known = {feature.name for feature in FEATURES}

    assert {name for feature in FEATURES for name in (*feature.requires, *feature.formerly)} <= known
