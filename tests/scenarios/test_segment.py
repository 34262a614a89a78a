"""The situations of segment.toml."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from headgate.errors import HeadgateError
from headgate.protocol import names, segment

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
    paths = [*NOISE, *(names.published(version) for version in situation["published"])]
    paths += [f"{names.LOG}{name}" for name in situation.get("files", ())]
    sizes = {f"{names.LOG}{name}": 0 for name in situation.get("empty", ())}
    parsed = (names.parse(path, size=sizes.get(path, 1)) for path in paths)
    listing = [file for file in parsed if file is not None]

    def build() -> segment.Segment:
        return segment.build(
            listing, held=situation["held"], latest=situation.get("latest"), target=situation.get("target")
        )

    if "error" in situation:
        with pytest.raises(HeadgateError) as caught:
            build()
        assert caught.value.code == situation["error"]
        assert situation["names"] in caught.value.message
    else:
        chosen = build()
        checkpoint = [file.path.removeprefix(names.LOG) for file in chosen.checkpoint]
        pieces = [
            piece if isinstance(piece, int) else piece.path.removeprefix(names.LOG)
            for piece in chosen.commits
        ]
        assert chosen.version == situation["reads"]
        assert checkpoint == situation.get("checkpoint", [])
        assert pieces == situation.get("commits", list(range(situation["reads"] + 1)))
        # A version that the catalog holds is read from there and never from a file that stands for it.
        assert {piece for piece in pieces if piece in situation["held"]} == set(situation["from_catalog"])
