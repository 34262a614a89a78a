"""A lost race is explained: who met whom, which rule objects to which file, and what came of it."""

import re
from html import unescape

import pytest

from headgate.catalog.ports.commits import Lost, Proposal, Ratified, TableId
from headgate.catalog.ports.directory import TableName
from headgate.protocol.actions import Action, AppTransaction, CommitInfo, RemoveFile, TxnId
from headgate.protocol.log import codec
from headgate.server.operations.metered_catalog import meter
from tests.support.console_lakes import ConsoleServer
from tests.support.proposals import inline, stamp
from tests.support.tables import create_managed, named_file
from tests.unit.server.console.conftest import Visitor

CONFLICTS = "/console/lakes/main/conflicts"
_COUNT = iter(range(1_000))


@pytest.fixture
def table_id(console: ConsoleServer) -> TableId:
    """A new table with one file, which is version 1."""
    made = create_managed(console.catalog, TableName("sales", f"raced{next(_COUNT)}")).table_id
    assert isinstance(
        console.catalog.propose(commit(made, 1, "WRITE", named_file("first.parquet"))), Ratified
    )
    return made


def commit(table_id: TableId, version: int, operation: str, *actions: Action, **said: str) -> Proposal:
    txn_id = f"{operation} {version} {next(_COUNT)}"
    info = CommitInfo(
        operation=operation,
        operation_parameters=dict(said),
        txn_id=TxnId(txn_id),
        in_commit_timestamp=stamp(version),
    )
    return inline(table_id, version, txn_id, data=codec.encode((info, *actions)))


def removal(path: str) -> RemoveFile:
    return RemoveFile(path=path, data_change=True)


def explained(console: ConsoleServer, visitor: Visitor, winner: Proposal, loser: Proposal) -> str:
    """The page of the race that the second of two proposals lost."""
    metered = meter("main", console.catalog, console.operations.metrics)
    assert isinstance(metered.propose(winner), Ratified)
    assert isinstance(metered.propose(loser), Lost)
    return last_race(visitor)


def last_race(visitor: Visitor) -> str:
    owner = visitor("owner")
    listed = owner.get(CONFLICTS).body.decode()
    newest = re.findall(rf'href="({CONFLICTS}/[0-9a-f]+)"', listed)[0]
    return unescape(owner.get(newest).body.decode())


def test_two_that_remove_one_file_are_told_which_rule_and_which_file(
    console: ConsoleServer, visitor: Visitor, table_id: TableId
) -> None:
    text = explained(
        console,
        visitor,
        commit(table_id, 2, "TRUNCATE", removal("first.parquet")),
        commit(table_id, 2, "DELETE", removal("first.parquet"), predicate="id < 10"),
    )

    assert "delete-vs-delete" in text and "ConcurrentDeleteDelete" in text and "first.parquet" in text
    assert "id < 10" in text and "TRUNCATE" in text
    assert "begins again, from what the table is now" in text and "was not ratified since" in text


def test_a_rule_about_reads_is_said_to_depend_on_them(
    console: ConsoleServer, visitor: Visitor, table_id: TableId
) -> None:
    text = explained(
        console,
        visitor,
        commit(table_id, 2, "MERGE", removal("other.parquet"), named_file("merged.parquet")),
        commit(table_id, 2, "DELETE", removal("first.parquet")),
    )

    assert "append-vs-read" in text and "merged.parquet" in text
    assert "knows which rows it read" in text


def test_who_went_on_after_the_winner_has_nothing_to_do(
    console: ConsoleServer, visitor: Visitor, table_id: TableId
) -> None:
    winner = commit(table_id, 2, "WRITE", named_file("theirs.parquet"))
    loser = commit(table_id, 2, "WRITE", named_file("ours.parquet"))
    assert "may be followed" in explained(console, visitor, winner, loser)

    again = inline(
        table_id, 3, loser.txn_id, data=codec.encode((_stamped(loser.txn_id, 3), named_file("ours.parquet")))
    )
    assert isinstance(console.catalog.propose(again), Ratified)
    assert "It went on after the winners" in last_race(visitor)


def test_an_application_that_both_moved_is_named(
    console: ConsoleServer, visitor: Visitor, table_id: TableId
) -> None:
    moved = AppTransaction(app_id="till", version=7)
    text = explained(console, visitor, commit(table_id, 2, "A", moved), commit(table_id, 2, "B", moved))

    assert "application-transaction" in text and "till" in text


def test_a_race_for_a_hidden_table_is_not_there(
    console: ConsoleServer, visitor: Visitor, table_id: TableId
) -> None:
    explained(console, visitor, commit(table_id, 2, "A"), commit(table_id, 2, "B"))
    race = console.operations.metrics.lost_races.latest("main")[0]

    carol = visitor("carol")
    hidden, absent = (carol.get(f"{CONFLICTS}/{each}") for each in (race.race_id, "0" * 16))
    assert hidden.status == absent.status == 404
    assert race.race_id not in carol.get(CONFLICTS).body.decode()


def _stamped(txn_id: TxnId, version: int) -> CommitInfo:
    return CommitInfo(txn_id=txn_id, in_commit_timestamp=stamp(version))
