"""The names of log files."""

from collections.abc import Callable

import pytest

from headgate.protocol.actions import Version
from headgate.protocol.log import file_names

UUID = "3a0d65cd-4056-49b8-937b-95f9e3ee90e5"


def test_published_and_staged_names_are_zero_padded() -> None:
    assert file_names.published_path(Version(7)) == "_delta_log/00000000000000000007.json"
    assert file_names.staged_file_name(Version(7), UUID) == f"00000000000000000007.{UUID}.json"
    assert file_names.staged_version(file_names.staged_file_name(Version(7), UUID)) == 7


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
    assert file_names.staged_version(name) is None


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("_delta_log/00000000000000000002.json", file_names.LogFileKind.PUBLISHED),
        ("_delta_log/00000000000000000002.checkpoint.parquet", file_names.LogFileKind.CHECKPOINT),
        ("_delta_log/00000000000000000002.crc", file_names.LogFileKind.CHECKSUM),
        (f"_delta_log/00000000000000000002.checkpoint.{UUID}.json", file_names.LogFileKind.CHECKPOINT),
    ],
)
def test_files_of_the_log_are_recognised(path: str, kind: file_names.LogFileKind) -> None:
    assert file_names.parse(path) == file_names.LogFile(kind, Version(2), path)


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
    assert file_names.parse(path) is None


def test_a_part_and_a_compaction_say_what_they_cover() -> None:
    part = file_names.parse("_delta_log/00000000000000000002.checkpoint.0000000001.0000000003.parquet")
    compaction = file_names.parse(
        "_delta_log/00000000000000000002.00000000000000000005.compacted.json", size=7
    )

    assert part is not None
    assert (part.kind, part.version, part.part, part.parts) == (file_names.LogFileKind.CHECKPOINT, 2, 1, 3)
    assert compaction is not None
    assert (compaction.kind, compaction.start, compaction.version) == (file_names.LogFileKind.COMPACTED, 2, 5)
    assert compaction.size == 7


@pytest.mark.parametrize(
    ("path", "file"),
    [
        (file_names.published_path(Version(7)), (file_names.LogFileKind.PUBLISHED, 7, None)),
        (file_names.checksum_path(Version(7)), (file_names.LogFileKind.CHECKSUM, 7, None)),
        (file_names.classic_checkpoint_path(Version(7)), (file_names.LogFileKind.CHECKPOINT, 7, None)),
        (file_names.uuid_checkpoint_path(Version(7), UUID), (file_names.LogFileKind.CHECKPOINT, 7, None)),
        (file_names.compaction_path(Version(7), Version(12)), (file_names.LogFileKind.COMPACTED, 12, 7)),
    ],
    ids=["published", "checksum", "checkpoint", "v2 checkpoint", "compaction"],
)
def test_what_we_name_we_recognise(path: str, file: tuple[file_names.LogFileKind, int, int | None]) -> None:
    found = file_names.parse(path)

    assert found is not None
    assert (found.kind, found.version, found.start) == file
    assert file_names.is_v2_checkpoint(path) is (UUID in path)


@pytest.mark.parametrize(
    "name", [file_names.published_path, file_names.checksum_path, file_names.classic_checkpoint_path]
)
def test_a_listing_from_a_version_has_all_its_files_and_none_of_older_ones(
    name: Callable[[Version], str],
) -> None:
    assert name(Version(9)) < file_names.path_before(Version(10)) < name(Version(10))
