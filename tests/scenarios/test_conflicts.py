"""The situations of conflicts.toml."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from headgate.errors import ConflictError
from headgate.protocol import conflicts
from headgate.protocol.conflicts import Ours, Reads
from tests.support.commits import actions_of, commit

SITUATIONS = tomllib.loads(Path(__file__).with_name("conflicts.toml").read_text())


@pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS.keys())
def test_conflict(situation: dict[str, Any]) -> None:
    reads = Reads(whole_table="overwrite" in situation["ours"])
    ours = Ours(reads, commit(8, *actions_of(situation["ours"])))
    winner = commit(8, *actions_of(situation["winner"]))

    if situation["result"] == "ok":
        conflicts.check(ours, winner)
    else:
        with pytest.raises(ConflictError) as caught:
            conflicts.check(ours, winner)
        assert caught.value.code == situation["result"]
        assert "version 8" in caught.value.message
        assert "run the operation again" in caught.value.message


def test_every_rule_objects_in_some_situation() -> None:
    used = set()
    for situation in SITUATIONS.values():
        ours = Ours(
            Reads(whole_table="overwrite" in situation["ours"]), commit(8, *actions_of(situation["ours"]))
        )
        winner = commit(8, *actions_of(situation["winner"]))
        used |= {rule.name for rule in conflicts.RULES if rule.objection(ours, winner)}

    assert used == {rule.name for rule in conflicts.RULES}
