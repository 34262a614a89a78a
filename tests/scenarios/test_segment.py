"""The situations of segment.toml."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from headgate.errors import HeadgateError
from headgate.protocol import names, segment
from headgate.protocol.actions import Version

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
    listing = [*NOISE, *(names.published(version) for version in situation["published"])]

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
        assert list(chosen.versions) == list(range(situation["reads"] + 1))
        assert chosen.from_catalog == {Version(version) for version in situation["from_catalog"]}
