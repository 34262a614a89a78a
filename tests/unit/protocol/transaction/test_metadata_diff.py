"""Which changes of metadata a transaction may miss: every row of the list, allowed and refused."""

import msgspec
import pytest

from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import Format, Metadata, Protocol
from headgate.protocol.transaction import metadata_diff
from headgate.protocol.transaction.metadata_diff import SAFE_CHANGES
from tests.support.attempts import table

FEATURES = (
    "rowTracking", "domainMetadata", "columnMapping", "deletionVectors", "v2Checkpoint", "inCommitTimestamp",
    "catalogManaged", "vacuumProtocolCheck",
)  # fmt: skip
BEFORE = table().metadata
PROTOCOL = protocol_upgrade.with_features(table().protocol, FEATURES)
BARE = table().protocol

TRACKED = {"delta.enableRowTracking": "true"}
EXAMPLES: dict[str, tuple[str, dict[str, str], str | None]] = {
    # key: a harmless value, what must be said beside it, and a harmful value
    "delta.enableRowTracking": ("true", {}, "false"),
    "delta.rowTracking.materializedRowIdColumnName": ("_id", TRACKED, None),
    "delta.rowTracking.materializedRowCommitVersionColumnName": ("_version", TRACKED, None),
    "delta.columnMapping.mode": ("name", {}, "id"),
    "delta.columnMapping.maxColumnId": ("3", {}, None),
    "delta.enableDeletionVectors": ("true", {}, "false"),
    "delta.checkpointPolicy": ("v2", {}, "v9"),
    "delta.enableInCommitTimestamps": ("true", {}, "false"),
    "delta.inCommitTimestampEnablementVersion": ("7", {}, None),
    "delta.inCommitTimestampEnablementTimestamp": ("9", {}, None),
    "io.unitycatalog.tableId": ("t", {}, None),
    "headgate.tableName": ("a.b", {}, None),
}
NEEDS_FEATURE = {
    "delta.enableRowTracking", "delta.columnMapping.mode", "delta.enableDeletionVectors",
    "delta.checkpointPolicy", "delta.enableInCommitTimestamps", "io.unitycatalog.tableId",
    "headgate.tableName",
}  # fmt: skip
ONLY_NEW = {
    "delta.inCommitTimestampEnablementVersion", "delta.inCommitTimestampEnablementTimestamp",
    "io.unitycatalog.tableId", "headgate.tableName",
}  # fmt: skip


def having(**changes: object) -> Metadata:
    return msgspec.structs.replace(BEFORE, **changes)


def harmful(after: Metadata, *, before: Metadata = BEFORE, protocol: Protocol = PROTOCOL) -> str | None:
    return metadata_diff.incompatible_change(before, after, protocol)


def test_every_row_has_an_example() -> None:
    assert [row.key for row in SAFE_CHANGES] == list(EXAMPLES)


@pytest.mark.parametrize("key", EXAMPLES)
def test_a_row_allows_its_change(key: str) -> None:
    """S245"""
    value, beside, _ = EXAMPLES[key]

    assert harmful(having(configuration={**beside, key: value})) is None


@pytest.mark.parametrize("key", [key for key, example in EXAMPLES.items() if example[2] is not None])
def test_a_row_does_not_allow_another_value(key: str) -> None:
    """S246, S249"""
    found = harmful(having(configuration={key: EXAMPLES[key][2]}))

    assert found is not None
    assert key in found


@pytest.mark.parametrize("key", EXAMPLES)
def test_a_row_does_not_allow_removing_its_property(key: str) -> None:
    """S246"""
    value, beside, _ = EXAMPLES[key]

    found = harmful(having(configuration=beside), before=having(configuration={**beside, key: value}))

    assert found == f"the property {key}, which was removed"


@pytest.mark.parametrize("key", sorted(NEEDS_FEATURE))
def test_a_row_needs_its_feature(key: str) -> None:
    assert harmful(having(configuration={key: EXAMPLES[key][0]}), protocol=BARE) is not None


@pytest.mark.parametrize("key", sorted(ONLY_NEW))
def test_a_row_for_what_is_newly_added_does_not_allow_a_change(key: str) -> None:
    assert harmful(having(configuration={key: "2"}), before=having(configuration={key: "1"})) is not None


def test_columns_for_row_ids_need_row_tracking() -> None:
    assert harmful(having(configuration={"delta.rowTracking.materializedRowIdColumnName": "_id"})) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"id": "22222222-2222-2222-2222-222222222222"},
        {"name": "orders"},
        {"description": "orders"},
        {"format": Format(provider="csv", options={})},
        {"partition_columns": ("p",)},
        {"created_time": 5},
        {"configuration": {"acme": "1"}},
        {"schema_string": '{"type":"struct","fields":[]}'},
    ],
    ids=lambda change: next(iter(change)),
)
def test_everything_else_is_harmful(change: dict[str, object]) -> None:
    assert harmful(having(**change)) is not None


def test_what_is_neither_allowed_nor_changed_is_harmless() -> None:
    kept = {"acme": "1"}
    after = having(configuration={**kept, "delta.enableDeletionVectors": "true"})

    assert harmful(after, before=having(configuration=kept)) is None


@pytest.mark.parametrize(
    ("before", "after", "tracks"), [({}, TRACKED, True), (TRACKED, TRACKED, False), ({}, {}, False)]
)
def test_row_tracking_is_enabled_once(before: dict[str, str], after: dict[str, str], tracks: bool) -> None:
    was, now = having(configuration=before), having(configuration=after)

    assert metadata_diff.enables_row_tracking(was, now) is tracks


def column(name: str, data_type: object = "long", **metadata: object) -> dict[str, object]:
    keys = {key.replace("_", "."): value for key, value in metadata.items()}
    return {"name": name, "type": data_type, "nullable": True, "metadata": keys}


def schema(*columns: dict[str, object]) -> str:
    return msgspec.json.encode({"type": "struct", "fields": columns}).decode()


MAPPED = {"delta.columnMapping.mode": "name"}
NAMED = {"delta_columnMapping_id": 1, "delta_columnMapping_physicalName": "id"}
INNER, INNER_NAMED = (
    {"type": "struct", "fields": [column("x", **keys)]} for keys in ({}, NAMED)
)  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "mode", "harmless"),
    [
        ([column("id")], [column("id", **NAMED)], MAPPED, True),
        ([column("id")], [column("id", **NAMED)], {}, False),
        ([column("id")], [column("id", **NAMED, comment="c")], MAPPED, False),
        ([column("id")], [column("ID", **NAMED)], MAPPED, False),
        ([column("id")], [column("id", "integer", **NAMED)], MAPPED, False),
        ([column("id")], [column("id", **NAMED), column("new")], MAPPED, False),
        ([column("s", INNER)], [column("s", INNER_NAMED, **NAMED)], MAPPED, False),
        ([column("id"), column("n")], [column("id", **NAMED), column("n", "integer")], MAPPED, False),
        ([column("id")], [{**column("id", **NAMED), "nullable": False}], MAPPED, False),
        ([column("id", a=1, b=2)], [column("id", **NAMED, b=2, a=1)], MAPPED, True),
    ],
    ids=[
        "named", "without-the-mode", "comment", "renamed", "retyped", "one-more", "nested", "second-retyped",
        "not-nullable", "other-order",
    ],
)  # fmt: skip
def test_the_schema_may_only_get_names_at_the_top(
    before: list[dict[str, object]], after: list[dict[str, object]], mode: dict[str, str], harmless: bool
) -> None:
    was = having(schema_string=schema(*before))
    now = having(schema_string=schema(*after), configuration=mode)

    assert (harmful(now, before=was) is None) is harmless
