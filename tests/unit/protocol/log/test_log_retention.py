"""What the properties of a table ask of those who keep its log in order."""

import pytest

from headgate.errors import InvalidRequest
from headgate.protocol import protocol_upgrade
from headgate.protocol.log import log_retention
from headgate.protocol.log.log_retention import LogSettings
from tests.support.commits import PROTOCOL, metadata

SECOND, DAY = 1_000, 86_400_000
WITH_BOTH = protocol_upgrade.with_features(PROTOCOL, ("v2Checkpoint", "checkpointProtection"))


def test_the_defaults_are_those_of_the_specification() -> None:
    assert log_retention.log_settings(PROTOCOL, metadata()) == LogSettings(
        v2_checkpoints=False,
        stats_as_json=True,
        stats_as_struct=False,
        tombstone_retention_ms=7 * DAY,
        txn_retention_ms=None,
        log_retention_ms=30 * DAY,
        protected_before=0,
        compression="zstd",
    )


def test_every_property_is_obeyed() -> None:
    asked = metadata(
        delta_checkpointPolicy="V2",
        delta_checkpoint_writeStatsAsJson="false",
        delta_checkpoint_writeStatsAsStruct="TRUE",
        delta_deletedFileRetentionDuration="interval 1 second",
        delta_setTransactionRetentionDuration="interval 2 seconds",
        delta_logRetentionDuration="interval 3 seconds",
        delta_requireCheckpointProtectionBeforeVersion="5",
        delta_parquet_compression_codec="Snappy",
    )

    assert log_retention.log_settings(WITH_BOTH, asked) == LogSettings(
        v2_checkpoints=True,
        stats_as_json=False,
        stats_as_struct=True,
        tombstone_retention_ms=SECOND,
        txn_retention_ms=2 * SECOND,
        log_retention_ms=3 * SECOND,
        protected_before=5,
        compression="snappy",
    )


def test_a_feature_and_its_property_go_together() -> None:
    asked = metadata(delta_checkpointPolicy="v2", delta_requireCheckpointProtectionBeforeVersion="5")
    without = log_retention.log_settings(PROTOCOL, asked)
    unasked = log_retention.log_settings(WITH_BOTH, metadata(delta_checkpointPolicy="classic"))

    assert (without.v2_checkpoints, without.protected_before) == (False, 0)
    assert (unasked.v2_checkpoints, unasked.protected_before) == (False, 0)


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        ("none", "none"),
        ("uncompressed", "none"),
        ("gzip", "gzip"),
        ("lz4_raw", "lz4"),
        ("zstd", "zstd"),
        ("lzo", "zstd"),
    ],
)
def test_codecs_that_are_unknown_give_way_to_the_usual_one(asked: str, used: str) -> None:
    assert (
        log_retention.log_settings(PROTOCOL, metadata(delta_parquet_compression_codec=asked)).compression
        == used
    )


@pytest.mark.parametrize(
    ("text", "versions"), [(None, 10), ("1", 1), ("25", 25), ("0", 10), ("-3", 10), ("many", 10), ("", 10)]
)
def test_how_far_a_checkpoint_may_be_behind(text: str | None, versions: int) -> None:
    found = metadata() if text is None else metadata(delta_checkpointInterval=text)

    assert log_retention.checkpoint_interval(found) == versions


def test_numbers_and_intervals_have_two_hundred_characters_at_most() -> None:
    longest, longer = ("1".rjust(length, "0") for length in (200, 201))

    assert log_retention.checkpoint_interval(metadata(delta_checkpointInterval=longest)) == 1
    assert log_retention.checkpoint_interval(metadata(delta_checkpointInterval=longer)) == 10
    assert log_retention.interval_ms(f"{longest[4:]} day") == DAY
    with pytest.raises(InvalidRequest, match="is no interval"):
        log_retention.interval_ms(f"{longer[4:]} day")


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("interval 2000 microseconds", 2),
        ("interval 3 milliseconds", 3),
        ("interval 1 second", SECOND),
        ("INTERVAL 2 Minutes", 120 * SECOND),
        ("1 hour", 3_600 * SECOND),
        (" interval 1 day 12 hours ", 36 * 3_600 * SECOND),
        ("interval 2 weeks", 14 * DAY),
        ("interval 1 day -1 hour", 23 * 3_600 * SECOND),
    ],
)
def test_how_long_an_interval_is(text: str, length: int) -> None:
    assert log_retention.interval_ms(text) == length


@pytest.mark.parametrize(
    "text",
    [
        "",
        "interval",
        "interval 1 month",
        "1",
        "days",
        "1 day and a bit",
        "about 1 day",
        "1 day, 1 hour",
        "1 day 1 month",
    ],
)
def test_what_is_no_interval_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="interval"):
        log_retention.interval_ms(text)
