"""The names of log files."""

import pytest

from headgate.protocol import names
from headgate.protocol.actions import Version

UUID = "3a0d65cd-4056-49b8-937b-95f9e3ee90e5"


def test_published_and_staged_names_are_zero_padded() -> None:
    assert names.published(Version(7)) == "_delta_log/00000000000000000007.json"
    assert names.staged_file(Version(7), UUID) == f"00000000000000000007.{UUID}.json"
    assert names.staged_version(names.staged_file(Version(7), UUID)) == 7


@pytest.mark.parametrize(
    "name",
    [
        f"7.{UUID}.json",
        f"00000000000000000007.{UUID.upper()}.json",
        "00000000000000000007.json",
        f"../00000000000000000007.{UUID}.json",
        f"00000000000000000007.{UUID}.json/..",
        f"00000000000000000007.{UUID}.json\n",
        "00000000000000000007.x.json",
        "",
    ],
)
def test_other_names_are_not_staged_commits(name: str) -> None:
    assert names.staged_version(name) is None


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("_delta_log/00000000000000000002.json", names.Kind.PUBLISHED),
        ("_delta_log/00000000000000000002.checkpoint.parquet", names.Kind.CHECKPOINT),
        ("_delta_log/00000000000000000002.crc", names.Kind.CHECKSUM),
        (f"_delta_log/00000000000000000002.checkpoint.{UUID}.json", names.Kind.CHECKPOINT),
    ],
)
def test_files_of_the_log_are_recognised(path: str, kind: names.Kind) -> None:
    assert names.parse(path) == names.LogFile(kind, Version(2), path)


@pytest.mark.parametrize(
    "path",
    [
        "00000000000000000002.json",
        f"_delta_log/_staged_commits/00000000000000000002.{UUID}.json",
        f"_delta_log/00000000000000000002.{UUID}.json",
        "_delta_log/00000000000000000002.00000000000000000002.compacted.json",
        "_delta_log/_last_checkpoint",
        "_delta_log/2.json",
    ],
)
def test_other_files_are_not(path: str) -> None:
    assert names.parse(path) is None


def test_a_part_and_a_compaction_say_what_they_cover() -> None:
    part = names.parse("_delta_log/00000000000000000002.checkpoint.0000000001.0000000003.parquet")
    compaction = names.parse("_delta_log/00000000000000000002.00000000000000000005.compacted.json", size=7)

    assert part is not None
    assert (part.kind, part.version, part.part, part.parts) == (names.Kind.CHECKPOINT, 2, 1, 3)
    assert compaction is not None
    assert (compaction.kind, compaction.start, compaction.version) == (names.Kind.COMPACTED, 2, 5)
    assert compaction.size == 7
