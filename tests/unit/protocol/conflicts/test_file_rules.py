"""Races for files that the words of conflicts.toml cannot tell: odd partition values, late scans."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec
import pytest

from headgate.errors import ConcurrentAppend, ConcurrentDeleteDelete, ConcurrentDeleteRead, HeadgateError
from headgate.protocol.actions import Action, Commit, CommitInfo, RemoveFile, commit_from_actions
from headgate.protocol.conflicts import rebase
from headgate.protocol.log.replay import State
from headgate.protocol.predicates import from_sql
from headgate.protocol.schema import json as schema_json
from headgate.protocol.transaction.attempt import Attempt, ReadSet
from headgate.table.transaction import Change, Operation
from tests.support.altered import new
from tests.support.attempts import BASE, added, side, table
from tests.support.routes import ROUTES, open_table

DAY = "2024-05-01 10:00:00"
SAME_DAY = ("2024-05-01 10:00:00", "2024-05-01T10:00:00.000000Z", "2024-05-01 10:00:00.000000")
ANOTHER = "2024-05-02 10:00:00"


def winner(state: State, *actions: Action) -> Commit:
    theirs = side("theirs", [], state).as_winner()
    return commit_from_actions(theirs.version, (theirs.info or CommitInfo(), *actions))


@pytest.mark.parametrize("values", [None, {}], ids=["absent", "empty"])
@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["reads:p = 1", "reads-file:a", "append:p=1"], ConcurrentDeleteRead),
        (["reads-all", "append:p=1"], ConcurrentDeleteRead),
        (["delete:a"], ConcurrentDeleteDelete),
    ],
    ids=["file read", "whole table read", "both removed"],
)
def test_a_removal_that_does_not_say_its_partition_conflicts_like_any_other(
    words: list[str], error: type[HeadgateError], values: Mapping[str, str] | None
) -> None:
    """S226"""
    state = table(["partitioned:p"])
    gone = RemoveFile(path="a", data_change=True, partition_values=values)

    with pytest.raises(error, match="a was removed"):
        rebase.rebase(side("ours", words, state).attempt, [winner(state, gone)])


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("hurts", [True, False])
def test_a_scan_of_an_old_snapshot_is_as_old_as_the_snapshot(route: str, hurts: bool) -> None:
    """S230: although it began after the other commit was there."""
    place, ours = new(route, "partitioned:p")
    base = ours.snapshot()
    theirs = open_table(place, route)
    theirs.commit(Change(Operation("WRITE"), (added("b", {"p": "1"}),)), base=theirs.snapshot())

    scanned = ours.snapshot(version=base.version)
    assert scanned.files.columns.num_rows == 0
    schema = schema_json.parse(base.state.metadata.schema_string)
    reads = ReadSet(predicates=(from_sql.parse(f"p = {1 if hurts else 2}", schema),))
    change = Change(Operation("WRITE"), (added("a", {"p": "2"}),), reads)

    if not hurts:
        assert ours.commit(change, base=scanned) == 2
        return
    with pytest.raises(ConcurrentAppend, match="version 1"):
        ours.commit(change, base=scanned)


# --- overwriting the partitions that have new rows


def by_moment() -> State:
    """A table with partitions of moments."""
    state = table(["partitioned:p"])
    schema = msgspec.json.decode(state.metadata.schema_string)
    for column in schema["fields"]:
        column["type"] = "timestamp" if column["name"] == "p" else column["type"]
    text = msgspec.json.encode(schema).decode()
    return replace(state, metadata=msgspec.structs.replace(state.metadata, schema_string=text))


def overwriting(state: State) -> Attempt:
    """Writes rows of DAY in place of those that were there, one file."""
    blank = side("ours", ["operation:WRITE"], state).attempt
    schema = schema_json.parse(state.metadata.schema_string)
    condition = from_sql.parse(f"p = TIMESTAMP '{DAY}Z'", schema)
    actions = (RemoveFile(path="old", data_change=True), added("new", {"p": DAY}))
    reads = ReadSet(predicates=(condition,), files=frozenset({"old"}))
    return replace(blank, reads=reads).with_actions(actions)


@pytest.mark.parametrize("text", SAME_DAY)
def test_overwriting_a_partition_conflicts_with_new_rows_of_it_however_its_value_is_written(
    text: str,
) -> None:
    """S261"""
    state = by_moment()

    with pytest.raises(ConcurrentAppend):
        rebase.rebase(overwriting(state), [winner(state, added("b", {"p": text}))])


def test_overwriting_a_partition_conflicts_with_removals_from_it() -> None:
    """S261"""
    state = by_moment()

    with pytest.raises(ConcurrentDeleteRead):
        rebase.rebase(overwriting(state), [winner(state, RemoveFile(path="old", data_change=True))])


@pytest.mark.parametrize(
    "theirs",
    [added("b", {"p": ANOTHER}), RemoveFile(path="another", data_change=True)],
    ids=["add", "remove"],
)
def test_overwriting_a_partition_does_not_mind_other_partitions(theirs: Action) -> None:
    """S261"""
    state = by_moment()

    assert rebase.rebase(overwriting(state), [winner(state, theirs)]).target == BASE + 2
