"""The situations of conflicts.toml, each in both orders of the race."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from headgate.errors import HeadgateError
from headgate.protocol.conflicts import rebase
from headgate.protocol.conflicts.race import ConflictRule, Race
from headgate.protocol.log import replay
from tests.support.attempts import BASE, Side, side, table

SITUATIONS = tomllib.loads(Path(__file__).with_name("conflicts.toml").read_text())
RULES = tuple(step for step in rebase.STEPS if isinstance(step, ConflictRule))


def sides(situation: dict[str, Any]) -> tuple[Side, Side]:
    state = table(situation.get("table", ()))
    return side("ours", situation["ours"], state), side("theirs", situation["theirs"], state)


@pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS.keys())
def test_ours_follows_theirs(situation: dict[str, Any]) -> None:
    ours, theirs = sides(situation)

    check(ours, theirs, situation["result"], situation.get("says", ()))


@pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS.keys())
def test_theirs_follows_ours(situation: dict[str, Any]) -> None:
    ours, theirs = sides(situation)

    check(theirs, ours, situation["reversed"])


def check(loser: Side, winner: Side, result: str, says: tuple[str, ...] = ()) -> None:
    if result == "ok":
        assert rebase.rebase(loser.attempt, [winner.as_winner()]).target == BASE + 2
        return
    with pytest.raises(HeadgateError) as caught:
        rebase.rebase(loser.attempt, [winner.as_winner()])
    assert caught.value.code == result
    assert caught.value.sqlstate is not None
    if "winner" in caught.value.fields:  # a lost race, not something Headgate cannot do
        for part in (f"version {BASE + 1}", loser.attempt.operation, winner.attempt.operation, *says):
            assert part in caught.value.message
        fields = caught.value.fields
        assert fields["rule"] in {"domains", *(rule.name for rule in RULES)}
        assert (fields["operation"], fields["winner_operation"]) == (
            loser.attempt.operation, winner.attempt.operation,
        )  # fmt: skip
        assert "run the operation again" in caught.value.message


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_objects_in_some_situation_and_is_silent_in_another(rule: ConflictRule) -> None:
    answers = set()
    for situation in SITUATIONS.values():
        for loser, winner in (sides(situation), sides(situation)[::-1]):
            commit = winner.as_winner()
            after = replay.advance(loser.attempt.follows, commit)
            answers.add(rule.objection(Race(loser.attempt, commit, after)) is not None)

    assert answers == {True, False}
