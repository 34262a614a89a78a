"""The names of log files."""

from collections.abc import Callable

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


@pytest.mark.parametrize(
    ("path", "file"),
    [
        (names.published(Version(7)), (names.Kind.PUBLISHED, 7, None)),
        (names.checksum(Version(7)), (names.Kind.CHECKSUM, 7, None)),
        (names.classic_checkpoint(Version(7)), (names.Kind.CHECKPOINT, 7, None)),
        (names.uuid_checkpoint(Version(7), UUID), (names.Kind.CHECKPOINT, 7, None)),
        (names.compacted(Version(7), Version(12)), (names.Kind.COMPACTED, 12, 7)),
    ],
    ids=["published", "checksum", "checkpoint", "v2 checkpoint", "compaction"],
)
def test_what_we_name_we_recognise(path: str, file: tuple[names.Kind, int, int | None]) -> None:
    found = names.parse(path)

    assert found is not None
    assert (found.kind, found.version, found.start) == file
    assert names.is_v2_checkpoint(path) is (UUID in path)


@pytest.mark.parametrize("name", [names.published, names.checksum, names.classic_checkpoint])
def test_a_listing_from_a_version_has_all_its_files_and_none_of_older_ones(
    name: Callable[[Version], str],
) -> None:
    assert name(Version(9)) < names.before(Version(10)) < name(Version(10))
