"""The ready-made handlers of metadata domains."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import DomainConflict
from headgate.protocol.actions import DomainMetadata
from headgate.protocol.domains import rules
from headgate.protocol.domains.handlers import last_writer_wins, max_of, merge_disjoint_keys, union
from headgate.protocol.domains.rules import Handler

NAME = "acme.x"
READY_MADE: dict[str, Handler] = {
    "last_writer_wins": last_writer_wins,
    "max_of": max_of(),
    "max_of a key": max_of("offset"),
    "union": union,
    "merge_disjoint_keys": merge_disjoint_keys,
}
CAREFUL = {name: handler for name, handler in READY_MADE.items() if handler is not last_writer_wins}

Merge = Callable[[str | None, str, str], str]


def domain(configuration: str, *, removed: bool = False) -> DomainMetadata:
    return DomainMetadata(domain=NAME, configuration=configuration, removed=removed)


def merging(handler: Handler) -> Merge:
    """The handler on configurations alone."""

    def merge(base: str | None, winner: str, mine: str) -> str:
        before = None if base is None else domain(base)
        return rules.resolve_domain({NAME: handler}, before, domain(winner), domain(mine)).configuration

    return merge


def test_last_writer_wins_whatever_the_sides_are() -> None:
    assert last_writer_wins(None, domain("a"), domain("b")) == domain("b")
    assert last_writer_wins(None, domain("a"), domain("a", removed=True)).removed
    assert not last_writer_wins(None, domain("a", removed=True), domain("b")).removed


@pytest.mark.parametrize("handler", READY_MADE.values(), ids=READY_MADE.keys())
def test_two_removals_are_a_removal(handler: Handler) -> None:
    merged = handler(domain("not even json"), domain("{", removed=True), domain("{", removed=True))

    assert merged.removed


@pytest.mark.parametrize("handler", CAREFUL.values(), ids=CAREFUL.keys())
@pytest.mark.parametrize("remover", ["the winner", "this one"])
def test_a_removal_against_a_value_is_refused(handler: Handler, remover: str) -> None:
    by_winner = remover == "the winner"

    with pytest.raises(DomainConflict, match=f"{remover} removes it"):
        handler(domain("1"), domain("1", removed=by_winner), domain("1", removed=not by_winner))


@pytest.mark.parametrize(
    ("key", "winner", "mine", "merged"),
    [
        (None, "4", "9", "9"),
        (None, "9", "4", "9"),
        (None, "-1.5e1", "-15.1", "-1.5e1"),
        (None, '"10"', '"9"', '"10"'),
        (None, "9007199254740993", "9007199254740992.5", "9007199254740993"),
        ("offset", '{"offset": 7, "from": "a"}', '{"offset": 5, "from": "b"}', '{"offset": 7, "from": "a"}'),
        ("offset", '{"offset": 7, "from": "a"}', '{"offset": 7, "from": "b"}', '{"offset": 7, "from": "b"}'),
        ("offset", '{"offset":"10"}', '{"offset":"9"}', '{"offset":"10"}'),
    ],
    ids=["mine", "winner", "fractions", "text", "beyond doubles", "key", "a tie is ours", "a key with text"],
)
def test_the_greater_number_stands(key: str | None, winner: str, mine: str, merged: str) -> None:
    assert merging(max_of(key))(None, winner, mine) == merged


@pytest.mark.parametrize(
    ("key", "broken", "words"),
    [
        (None, "true", "should be a number, and 'true' is none"),
        (None, "NaN", "should be a number"),
        (None, "", "should be a number"),
        (None, '"', "should be a number"),
        (None, "1_000", "should be a number"),
        ("offset", "{", "is not a JSON object"),
        ("offset", "[1]", "is not a JSON object"),
        ("offset", "{}", "has no key 'offset'"),
        ("offset", '{"offset":null}', "its key 'offset' should be a number, and 'null' is none"),
        ("offset", '{"offset":"2026-01-01"}', "should be a number"),
    ],
)
@pytest.mark.parametrize("side", ["winner", "mine"])
def test_what_is_not_a_number_is_refused(key: str | None, broken: str, words: str, side: str) -> None:
    good = "1" if key is None else '{"offset":1}'
    winner, mine = (broken, good) if side == "winner" else (good, broken)

    with pytest.raises(DomainConflict, match=words):
        merging(max_of(key))(None, winner, mine)


@pytest.mark.parametrize(
    ("winner", "mine", "merged"),
    [
        ('["b","a"]', '["c","a"]', '["b","a","c"]'),
        ("[]", "[]", "[]"),
        ("[1]", "[true, 1.0, 1]", "[1,true,1.0]"),
        ('[{"a":1,"b":2}]', '[{"b": 2, "a": 1}]', '[{"a":1,"b":2}]'),
        ("[1, 1]", "[2, 2]", "[1,2]"),
        ("[0.1]", "[0.10000000000000000001]", "[0.1,0.10000000000000000001]"),
        ("[0.1]", '[["0.1"]]', '[0.1,["0.1"]]'),
    ],
    ids=["order", "empty", "types differ", "objects are equal by content", "duplicates", "digits are kept",
         "an array is no number"],
)  # fmt: skip
def test_the_union_has_each_element_once(winner: str, mine: str, merged: str) -> None:
    assert merging(union)('["gone"]', winner, mine) == merged


@pytest.mark.parametrize("broken", ["{}", "1", "[1", ""])
def test_what_is_not_an_array_is_refused(broken: str) -> None:
    with pytest.raises(DomainConflict, match="is not a JSON array"):
        merging(union)(None, "[]", broken)


@pytest.mark.parametrize(
    ("base", "winner", "mine", "merged"),
    [
        (None, '{"a":1}', '{"b":2}', '{"a":1,"b":2}'),
        ('{"a":1,"b":1}', '{"a":2,"b":1}', '{"a":1,"b":3}', '{"a":2,"b":3}'),
        ('{"a":1,"b":1}', '{"b":1}', '{"a":1,"b":2}', '{"b":2}'),
        ('{"a":1,"b":1}', '{"a":1,"b":2}', '{"b":1}', '{"b":2}'),
        ('{"a":1}', "{}", "{}", "{}"),
        ('{"a":1}', '{"a":2}', '{"a": 2}', '{"a":2}'),
        (None, '{"a":1.10}', '{"b":12345678901234567890}', '{"a":1.10,"b":12345678901234567890}'),
        ('{"a":null}', '{"a":null}', "{}", "{}"),
    ],
    ids=["both add", "each changes one", "winner deletes", "we delete", "both delete", "both do the same",
         "digits are kept", "null is not absent"],
)  # fmt: skip
def test_changes_of_different_keys_are_merged(base: str | None, winner: str, mine: str, merged: str) -> None:
    assert merging(merge_disjoint_keys)(base, winner, mine) == merged


@pytest.mark.parametrize(
    ("base", "winner", "mine"),
    [
        (None, '{"k":1}', '{"k":2}'),
        ('{"k":1}', '{"k":2}', '{"k":3}'),
        ('{"k":1}', "{}", '{"k":2}'),
        ('{"k":1}', '{"k":2}', "{}"),
        (None, '{"k":1}', '{"k":true}'),
        ('{"k":1}', '{"k":null}', "{}"),
    ],
    ids=["both add", "both change", "deleted and changed", "changed and deleted", "1 is not true", "null"],
)
def test_different_changes_of_one_key_are_refused(base: str | None, winner: str, mine: str) -> None:
    with pytest.raises(DomainConflict, match="both change 'k'"):
        merging(merge_disjoint_keys)(base, winner, mine)


@pytest.mark.parametrize("broken", ["[]", "{", "null"])
def test_what_is_not_an_object_is_refused(broken: str) -> None:
    for sides in ((broken, "{}", "{}"), ("{}", broken, "{}"), ("{}", "{}", broken)):
        with pytest.raises(DomainConflict, match="is not a JSON object"):
            merging(merge_disjoint_keys)(*sides)


def test_a_refusal_shows_the_beginning_of_a_long_configuration() -> None:
    shown = "1" * 77 + "…"

    with pytest.raises(DomainConflict, match=f"'{shown}' is not a JSON array"):
        merging(union)(None, "[]", "1" * 81)
    with pytest.raises(DomainConflict, match=f"'{'1' * 80}' is not a JSON array"):
        merging(union)(None, "[]", "1" * 80)


OBJECTS = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 2), max_size=4)


@given(OBJECTS, OBJECTS, OBJECTS)
def test_a_merge_of_keys_is_right_or_refused(
    base: dict[str, int], winner: dict[str, int], mine: dict[str, int]
) -> None:
    def changed(side: dict[str, int], key: str) -> bool:
        return side.get(key) != base.get(key)

    contested = {
        key for key in "abcd"
        if changed(winner, key) and changed(mine, key) and winner.get(key) != mine.get(key)
    }  # fmt: skip
    expected = {
        key: value
        for key in "abcd"
        if (value := (mine if changed(mine, key) else winner).get(key)) is not None
    }
    merge = merging(merge_disjoint_keys)
    texts = [json.dumps(side) for side in (base, winner, mine)]

    if contested:
        with pytest.raises(DomainConflict):
            merge(*texts)
    else:
        assert json.loads(merge(*texts)) == expected
        assert merge(*texts) == merge(*texts)


@given(st.lists(st.integers(-9, 99), min_size=2, max_size=6))
def test_the_greatest_of_a_fold_is_the_greatest_of_all(marks: list[int]) -> None:
    mine = domain(str(marks[0]))
    for mark in marks[1:]:
        mine = rules.resolve_domain({NAME: max_of()}, None, domain(str(mark)), mine)

    assert mine.configuration == str(max(marks))


@given(st.lists(st.lists(st.sampled_from("abcdef")), min_size=2, max_size=5))
def test_the_union_of_a_fold_loses_nothing(sets: list[list[str]]) -> None:
    mine = domain(json.dumps(sets[0]))
    for theirs in sets[1:]:
        mine = rules.resolve_domain({NAME: union}, None, domain(json.dumps(theirs)), mine)

    merged = json.loads(mine.configuration)
    assert set(merged) == {element for elements in sets for element in elements}
    assert len(merged) == len(set(merged))


def test_a_refusal_names_the_handler() -> None:
    with pytest.raises(DomainConflict, match=r"handlers\.max_of\('offset'\) refuses"):
        merging(max_of("offset"))(None, "{}", "{}")
    with pytest.raises(DomainConflict, match=r"handlers\.union refuses"):
        merging(union)(None, "{}", "{}")
