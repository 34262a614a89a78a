"""The properties that Delta has: their names, their defaults, who sets them, and what they bring."""

import pytest

from headgate.errors import InvalidRequest
from headgate.protocol.metadata import table_properties
from headgate.protocol.metadata.table_properties import PROPERTIES, TIMESTAMP_PROPERTIES, Setter

USER, CLIENT, ELSEWHERE = Setter.USER, Setter.CLIENT, Setter.ELSEWHERE
KNOWN: dict[str, tuple[str | None, Setter, str | None]] = {
    "delta.appendOnly": ("false", USER, "appendOnly"),
    "delta.autoOptimize": (None, USER, None),
    "delta.autoOptimize.autoCompact": (None, USER, None),
    "delta.autoOptimize.optimizeWrite": (None, USER, None),
    "delta.checkpoint.writeStatsAsJson": ("true", USER, None),
    "delta.checkpoint.writeStatsAsStruct": ("false", USER, None),
    "delta.checkpointInterval": ("10", USER, None),
    "delta.checkpointPolicy": ("classic", USER, "v2Checkpoint"),
    "delta.checkpointRetentionDuration": ("interval 2 days", USER, None),
    "delta.columnMapping.maxColumnId": ("0", CLIENT, None),
    "delta.columnMapping.mode": ("none", USER, "columnMapping"),
    "delta.compatibility.symlinkFormatManifest.enabled": ("false", ELSEWHERE, None),
    "delta.coordinatedCommits.commitCoordinator-preview": (None, CLIENT, "coordinatedCommits-preview"),
    "delta.coordinatedCommits.commitCoordinatorConf-preview": (None, CLIENT, None),
    "delta.coordinatedCommits.tableConf-preview": (None, CLIENT, None),
    "delta.dataSkippingNumIndexedCols": ("32", USER, None),
    "delta.dataSkippingStatsColumns": (None, USER, None),
    "delta.deletedFileRetentionDuration": ("interval 1 week", USER, None),
    "delta.dropFeatureTruncateHistory.retentionDuration": ("interval 24 hours", USER, None),
    "delta.enableChangeDataFeed": ("false", USER, "changeDataFeed"),
    "delta.enableDeletionVectors": ("false", USER, "deletionVectors"),
    "delta.enableExpiredLogCleanup": ("true", USER, None),
    "delta.enableFullRetentionRollback": ("true", USER, None),
    "delta.enableIcebergCompatV1": ("false", USER, "icebergCompatV1"),
    "delta.enableIcebergCompatV2": ("false", USER, "icebergCompatV2"),
    "delta.enableInCommitTimestamps": ("false", USER, "inCommitTimestamp"),
    "delta.enableRowTracking": ("false", USER, "rowTracking"),
    "delta.enableTypeWidening": ("false", USER, "typeWidening"),
    "delta.enableVariantShredding": ("false", USER, "variantShredding"),
    "delta.inCommitTimestampEnablementTimestamp": (None, CLIENT, None),
    "delta.inCommitTimestampEnablementVersion": (None, CLIENT, None),
    "delta.isolationLevel": ("Serializable", USER, None),
    "delta.logRetentionDuration": ("interval 30 days", USER, None),
    "delta.parquet.compression.codec": ("zstd", USER, None),
    "delta.randomizeFilePrefixes": ("false", USER, None),
    "delta.randomPrefixLength": ("2", USER, None),
    "delta.requireCheckpointProtectionBeforeVersion": ("0", CLIENT, None),
    "delta.rowTracking.materializedRowCommitVersionColumnName": (None, CLIENT, None),
    "delta.rowTracking.materializedRowIdColumnName": (None, CLIENT, None),
    "delta.rowTrackingSuspended": ("false", USER, None),
    "delta.setTransactionRetentionDuration": (None, USER, None),
    "delta.targetFileSize": (None, USER, None),
    "delta.tuneFileSizesForRewrites": (None, USER, None),
    "delta.universalFormat.enabledFormats": (None, ELSEWHERE, None),
}


def test_every_property_of_delta_is_known_with_its_default_and_what_it_brings() -> None:
    assert {row.name: (row.default, row.setter, row.brings) for row in PROPERTIES} == KNOWN


def test_the_properties_of_timestamps_go_together() -> None:
    assert {
        "delta.enableInCommitTimestamps",
        "delta.inCommitTimestampEnablementVersion",
        "delta.inCommitTimestampEnablementTimestamp",
    } == TIMESTAMP_PROPERTIES


@pytest.mark.parametrize(
    ("name", "present", "spelled"),
    [
        ("Team", ["team"], "Team"),
        ("team", [], "team"),
        ("DELTA.APPENDONLY", [], "delta.appendOnly"),
        ("delta.FROMthefuture", ["delta.appendOnly", "delta.fromTheFuture"], "delta.fromTheFuture"),
        ("delta.fromTheFuture", ["delta.appendOnly"], "delta.fromTheFuture"),
    ],
)
def test_names_of_delta_ignore_case_and_those_of_users_do_not(
    name: str, present: list[str], spelled: str
) -> None:
    assert table_properties.stored_name(name, dict.fromkeys(present, "")) == spelled


def test_an_interval_may_be_nothing_but_not_less() -> None:
    table_properties.check_property("delta.logRetentionDuration", "interval 0 days")

    with pytest.raises(InvalidRequest):
        table_properties.check_property("delta.logRetentionDuration", "interval -1 millisecond")
