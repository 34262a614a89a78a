"""The checker would notice: for each kind of lie there is a history that tells it, and is caught."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from tests.linear.checker import RULES, History, check
from tests.linear.history import FOREVER, Kind, Operation, Told, digest, total

LOG = ("start", "a", "b", "c")


def _append(txn: str, begin: int, end: int, version: int = -1, told: Told = Told.DONE) -> Operation:
    return Operation("p", 0, Kind.APPEND, begin, end, told, txn, version=version)


def _tail(begin: int, end: int, version: int, published: int = 0) -> Operation:
    return Operation("q", 0, Kind.TAIL, begin, end, Told.DONE, version=version, published=published)


def _load(begin: int, end: int, *files: str) -> Operation:
    return Operation(
        "q",
        0,
        Kind.LOAD,
        begin,
        end,
        Told.DONE,
        version=len(files),
        files=len(files),
        digest=total(map(digest, files)),
    )


def _outcome(txn: str, begin: int, end: int, told: Told, version: int = -1) -> Operation:
    return Operation("q", 0, Kind.OUTCOME, begin, end, told, txn, version=version)


GOOD: tuple[Operation, ...] = (
    _append("a", 10, 20, 1),
    _append("b", 15, 40, 2),
    _append("c", 50, FOREVER, told=Told.UNKNOWN),
    _append("d", 50, 60, 3, Told.LOST),
    _tail(12, 14, 0),
    _tail(12, 30, 1),
    _tail(41, 42, 2, 1),
    _tail(70, 80, 3, 2),
    _load(25, 35, "a", "b"),
    _load(70, 80, "a", "b", "c"),
    _outcome("a", 11, 12, Told.OPEN),
    _outcome("c", 70, 80, Told.DONE, 3),
)


@dataclass(frozen=True, slots=True)
class Lie:
    """What is done to the good history, and the rule that must notice."""

    rule: str
    name: str
    more: Sequence[Operation] = ()
    log: Sequence[str] = LOG
    without: Sequence[Operation] = ()


LIES: tuple[Lie, ...] = (
    Lie("acknowledged", "a commit is lost", [_append("e", 90, 95, 4)]),
    Lie("acknowledged", "a commit is at another version", [_append("b", 15, 41, 1)]),
    Lie("acknowledged", "an outcome is at another version", [_outcome("a", 30, 31, Told.DONE, 2)]),
    Lie("once", "a commit is doubled", log=(*LOG, "a")),
    Lie("refused", "a commit that lost is there", [_append("e", 51, 60, 3, Told.LOST)], (*LOG, "e")),
    Lie("proposed", "a commit of nobody is there", log=(*LOG, "e")),
    Lie("real-time", "a tail is stale", [_tail(41, 45, 1)]),
    Lie("real-time", "a load is stale", [_load(45, 46, "a")]),
    Lie("real-time", "a tail goes back", [_tail(55, 56, 3), _tail(57, 58, 2)]),
    Lie("real-time", "a tail sees what is yet to be proposed", [_tail(1, 2, 1)]),
    Lie("real-time", "a loser saw less than was acknowledged", [_append("e", 81, 90, 2, Told.LOST)]),
    Lie("real-time", "an earlier commit has a later version",
        [_append("late", 100, 110, 4), _append("early", 90, 95, 5)], (*LOG, "late", "early")),
    Lie("real-time", "a publication reports less than was acknowledged",
        [Operation("p", 0, Kind.PUBLISH, 60, 61, Told.DONE, version=1)]),
    Lie("contents", "a load misses a file", [
        Operation("q", 0, Kind.LOAD, 45, 48, Told.DONE, version=2, files=1, digest=digest("a"))]),
    Lie("contents", "a load has a file of another version", [_load(45, 48, "a", "c")]),
    Lie("contents", "a tail holds another commit", [
        Operation("q", 0, Kind.TAIL, 45, 48, Told.DONE, version=2, txns=((2, "x"),))]),
    Lie("outcomes", "an acknowledged commit is called open", [_outcome("a", 30, 31, Told.OPEN)]),
    Lie("outcomes", "an acknowledged commit is called lost", [_outcome("a", 30, 31, Told.LOST)]),
    Lie("outcomes", "a commit is found before it is proposed", [_outcome("a", 1, 2, Told.DONE, 1)]),
    Lie("watermark", "what is published is not so any more", [_tail(90, 91, 3, 1)]),
    Lie("watermark", "more is published than ratified", [_tail(90, 91, 3, 4)]),
    Lie("watermark", "a publication is forgotten", [
        Operation("p", 0, Kind.PUBLISH, 81, 82, Told.DONE, version=3, published=3), _tail(90, 91, 3, 2)]),
)  # fmt: skip


def test_a_good_history_is_linearizable() -> None:
    assert list(check(History(0, GOOD, LOG))) == []


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
def test_a_lie_is_caught(lie: Lie) -> None:
    history = History(0, (*GOOD, *lie.more), lie.log)

    assert lie.rule in {violation.rule for violation in check(history)}


def test_every_rule_catches_a_lie() -> None:
    rules = {rule.__name__.strip("_").replace("_", "-") for rule in RULES}

    assert {lie.rule for lie in LIES} == rules


def test_what_nobody_saw_end_may_have_happened_at_any_time() -> None:
    unknown = _append("d", 50, FOREVER, told=Told.UNKNOWN)

    assert not list(check(History(0, (*GOOD[:3], *GOOD[4:], unknown), LOG)))
    assert not list(check(History(0, (*GOOD[:3], *GOOD[4:], unknown), (*LOG, "d"))))


def test_a_repeated_proposal_counts_from_its_first_attempt() -> None:
    """The first attempt may be the one that was ratified, although only the second was answered."""
    seen = [_append("e", 81, FOREVER, told=Told.UNKNOWN), _tail(90, 91, 4, 2), _append("e", 95, 99, 4)]

    assert not list(check(History(0, (*GOOD, *seen), (*LOG, "e"))))
    assert list(check(History(0, (*GOOD, *seen[1:]), (*LOG, "e"))))
