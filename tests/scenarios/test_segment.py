"""The situations of segment.toml."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from headgate.errors import CorruptLog, HeadgateError, VersionNotFound
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names, log_segment

SITUATIONS = tomllib.loads(Path(__file__).with_name("segment.toml").read_text())
# Nothing in the folder of staged commits is ever evidence (F4), nor are files the log does not know.
NOISE = (
    "_delta_log/_staged_commits/00000000000000000010.0f707846-cd18-4e01-b40e-84ee0ae987b0.json",
    "_delta_log/00000000000000000001.crc",
    "_delta_log/_last_checkpoint",
    "_delta_log/00000000000000000099.json.tmp",
)


@pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS.keys())
def test_segment(situation: dict[str, Any]) -> None:
    paths = [*NOISE, *(file_names.published_path(version) for version in situation["published"])]
    paths += [f"{file_names.LOG_FOLDER}{name}" for name in situation.get("files", ())]
    sizes = {f"{file_names.LOG_FOLDER}{name}": 0 for name in situation.get("empty", ())}
    parsed = (file_names.parse(path, size=sizes.get(path, 1)) for path in paths)
    listing = [file for file in parsed if file is not None]

    def build() -> log_segment.LogSegment:
        return log_segment.build(
            listing, held=situation["held"], latest=situation.get("latest"), target=situation.get("target")
        )

    if "error" in situation:
        with pytest.raises(HeadgateError) as caught:
            build()
        assert caught.value.code == situation["error"]
        assert situation["names"] in caught.value.message
    else:
        chosen = build()
        checkpoint = [file.path.removeprefix(file_names.LOG_FOLDER) for file in chosen.checkpoint]
        pieces = [
            piece if isinstance(piece, int) else piece.path.removeprefix(file_names.LOG_FOLDER)
            for piece in chosen.commits
        ]
        assert chosen.version == situation["reads"]
        assert checkpoint == situation.get("checkpoint", [])
        assert pieces == situation.get("commits", list(range(situation["reads"] + 1)))
        # A version that the catalog holds is read from there and never from a file that stands for it.
        assert {piece for piece in pieces if piece in situation["held"]} == set(situation["from_catalog"])
        last = max((file.version for file in chosen.checkpoint), default=-1)
        assert list(chosen.versions) == list(range(last + 1, situation["reads"] + 1))


def files(*found: str) -> list[file_names.LogFile]:
    parsed = (
        file_names.parse(f"{file_names.LOG_FOLDER}{name.rjust(len(name) + 19, '0')}", size=1)
        for name in found
    )
    return [file for file in parsed if file is not None]


@pytest.mark.parametrize(
    ("listing", "held", "earliest"),
    [
        (["1.json", "0.json"], [], 0),
        (["1.json"], [0], 0),
        (["5.json", "6.json", "7.checkpoint.parquet", "5.checkpoint.parquet"], [8], 5),
        (["0.checkpoint.parquet", "1.json"], [], 0),
        (["0.crc", "3.checkpoint.parquet", "3.json"], [], 3),
        (["1.json", "2.json"], [], None),
        ([], [], None),
    ],
    ids=["listed", "held", "cleaned-up", "checkpoint-0", "checksum-0", "truncated", "empty"],
)
def test_the_earliest_version_that_can_be_read(
    listing: list[str], held: list[Version], earliest: int | None
) -> None:
    assert log_segment.earliest_version(files(*listing), held=held) == earliest


def test_a_compaction_stands_for_several_versions_and_a_commit_for_itself() -> None:
    commit, compaction = files("4.json", "5.00000000000000000007.compacted.json")

    assert log_segment.covered_versions(commit) == (4,)
    assert log_segment.covered_versions(compaction) == (5, 6, 7)


class Asked(frozenset[Version]):
    """Versions that somebody holds, and which he was asked for."""

    def __init__(self, *_: object) -> None:
        self.versions: list[object] = []

    def __contains__(self, version: object) -> bool:
        self.versions.append(version)
        return super().__contains__(version)


def test_nothing_is_looked_for_behind_the_first_gap() -> None:
    """A stray file of an absurd version would keep a reader for years."""
    held = Asked([Version(1)])

    with pytest.raises(CorruptLog, match="version 2 is missing"):
        log_segment.build(files("0.json", "9.json"), held=held)

    assert held.versions == [1, 2]


def test_an_error_says_which_versions_there_are_or_which_is_missing() -> None:
    with pytest.raises(VersionNotFound) as beyond:
        log_segment.build(files("0.json", "1.json"), target=Version(2))
    with pytest.raises(CorruptLog) as gap:
        log_segment.build(files("0.json", "4.json"))

    assert (beyond.value.fields["earliest"], beyond.value.fields["latest"]) == (0, 1)
    assert gap.value.fields["version"] == 1
