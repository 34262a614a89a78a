"""Transactions over several tables, on a real catalog and without Spark."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql.types import LongType, StructField, StructType

import headgate
from headgate.catalog.ports.directory import TableName
from headgate.errors import (
    ConcurrentAppend,
    ConflictError,
    GroupConflict,
    HeadgateError,
    InvalidRequest,
    SharedLog,
    TableExists,
    TableNotFound,
    UnsupportedFeature,
    VersionNotFound,
)
from headgate.lake.lake import Lake
from headgate.lake.transaction import LakeTransaction
from headgate.protocol.actions import AddFile, EpochMillis, RemoveFile, Version
from headgate.protocol.conflicts import rebase
from headgate.protocol.log import codec, file_names
from headgate.protocol.transaction.attempt import Attempt, ReadSet
from headgate.settings import Publish, Settings
from headgate.table.read import snapshot
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation
from tests.support import commits
from tests.support.tables import append_change, create_managed, named_file
from tests.support.waiting import PATIENCE_SECONDS

TABLES = ("s.a", "s.b", "s.c")
COLUMNS = StructType([StructField("id", LongType())])
_PREPARE = rebase.prepare
_LOAD = snapshot.load_snapshot


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    opened = headgate.connect(tmp_path, settings=Settings(publish=Publish.ON_DEMAND))
    with closing(opened):
        for name in TABLES:
            create_managed(opened._catalog, TableName(*name.split(".")))
        yield opened


def append(table: headgate.Table, *paths: str) -> None:
    """Add files, having read nothing."""
    table.log.commit(append_change(*map(named_file, paths)), base=table.log.newest_known())


def remove(table: headgate.Table, path: str) -> None:
    """Take a file away, having read it."""
    base = table.log.snapshot()
    gone = RemoveFile(path=path, data_change=True)
    reads = ReadSet(files=frozenset({path}))
    table.log.commit(Change(Operation("DELETE"), (gone,), reads), base=base)


def files(table: headgate.Table, *, read: bool = False) -> set[str]:
    """The files of a table; ``read`` as a scan of all rows does."""
    found = table.log.snapshot()
    if read:
        table.log.scanned(found, None, tuple)
    return set(found.files.columns["path"].to_pylist())


def test_what_a_transaction_did_is_seen_by_others_once_it_commits_and_then_all_of_it(lake: Lake) -> None:
    with lake.transaction() as tx:
        append(tx.table("s.a"), "1")
        append(tx.table("s.b"), "2")

        assert [files(tx.table(name)) for name in TABLES] == [{"1"}, {"2"}, set()]
        assert [files(lake.table(name)) for name in TABLES] == [set(), set(), set()]

    assert [files(lake.table(name)) for name in TABLES] == [{"1"}, {"2"}, set()]
    assert tx.versions == {"s.a": 1, "s.b": 1}


def test_a_lone_append_is_prepared_once_and_stamped_when_it_is_proposed(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: list[str] = []

    def prepare(attempt: Attempt, *, file_time: EpochMillis | None = None) -> Attempt:
        prepared.append(attempt.operation)
        return _PREPARE(attempt, file_time=file_time)

    monkeypatch.setattr(rebase, "prepare", prepare)
    with lake.transaction(["s.a"]) as tx:
        append(tx.table("s.a"), "1")
        participant = tx._tables["s.a"]
        later = participant.collector.collected[0].timestamp + 5_000
        monkeypatch.setattr(participant.world, "now_ms", lambda: later)

    assert prepared == ["WRITE"]
    assert lake.table("s.a").log.snapshot().state.in_commit_timestamp == later
    assert files(lake.table("s.a")) == {"1"}


def test_an_append_beside_a_read_is_combined_with_what_was_read(lake: Lake) -> None:
    append(lake.table("s.a"), "old")
    with pytest.raises(GroupConflict), lake.transaction(["s.a"]) as tx:
        append(tx.table("s.a"), "1")
        files(tx.table("s.a"), read=True)
        append(lake.table("s.a"), "meanwhile")

    assert files(lake.table("s.a")) == {"old", "meanwhile"}


def test_several_changes_of_one_table_are_one_version(lake: Lake) -> None:
    append(lake.table("s.a"), "old")

    with lake.transaction() as tx:
        table = tx.table("s.a")
        append(table, "1", "2")
        remove(table, "1")
        remove(table, "old")
        table.set_properties({"acme": "x"})
        append(table, "3")
        table.set_properties({"acme": "y", "other": "z"})

        assert files(table) == {"2", "3"}
        assert table.properties()["acme"] == "y"

    newest = lake.table("s.a")
    assert newest.version() == 2
    assert files(newest) == {"2", "3"}
    content = newest.log._committer.frontier().unpublished[Version(2)].where
    done = codec.decode(Version(2), content.content)  # type: ignore[union-attr]
    assert {add.path for add in done.adds} == {"2", "3"}
    assert [gone.path for gone in done.removes] == ["old"]
    assert done.metadata is not None
    assert {"acme": "y", "other": "z"}.items() <= done.metadata.configuration.items()
    assert done.info is not None
    assert done.info.operation == "TRANSACTION"
    assert json.loads(done.info.operation_parameters["operations"])[0] == "WRITE"  # type: ignore[index]


def test_domains_set_twice_say_what_was_said_last_and_those_that_came_and_went_never_were(lake: Lake) -> None:
    with lake.transaction() as tx:
        table = tx.table("s.a")
        table.set_domain("kept", "1")
        table.set_domain("gone", "1")
        table.set_domain("kept", "2")
        table.remove_domain("gone")

        assert dict(table.domains()) == {"kept": "2"}

    assert dict(lake.table("s.a").domains()) == {"kept": "2"}
    held = lake.table("s.a").log._committer.frontier().unpublished[Version(1)].where
    assert b"gone" not in held.content  # type: ignore[union-attr]


def test_each_commit_names_its_group_and_all_its_tables(lake: Lake) -> None:
    with lake.transaction() as tx:
        append(tx.table("s.a"), "1")
        append(tx.table("s.b"), "2")
        files(tx.table("s.c"), read=True)

    ids = sorted(entry.table_id for entry in lake.tables() if entry.name.table in "ab")
    infos = []
    for name in ("s.a", "s.b"):
        lake.table(name).publish()
        published = lake.table(name).log.store.read(file_names.published_path(Version(1)))
        infos.append(json.loads(published.splitlines()[0])["commitInfo"])
    assert [info["groupTables"] for info in infos] == [ids, ids]
    assert infos[0]["groupId"] == infos[1]["groupId"] != infos[0]["txnId"] != infos[1]["txnId"]


def test_large_commits_of_a_group_are_staged(tmp_path: Path) -> None:
    small = Settings(publish=Publish.ON_DEMAND, inline_limit_bytes=0)
    with closing(headgate.connect(tmp_path, settings=small)) as lake:
        for name in TABLES:
            create_managed(lake._catalog, TableName(*name.split(".")))
        with lake.transaction() as tx:
            append(tx.table("s.a"), "1")
            append(tx.table("s.b"), "2")

        assert [files(lake.table(name)) for name in TABLES[:2]] == [{"1"}, {"2"}]
        staged = lake.table("s.a").log.store.list_from(file_names.STAGED_FOLDER)
        assert len(list(staged)) == 1


def test_an_error_inside_undoes_everything_and_its_files_are_gone(lake: Lake) -> None:
    table = None
    with pytest.raises(ZeroDivisionError), lake.transaction() as tx:
        table = tx.table("s.a")
        path = f"{table.log.world.uuid()}/part.parquet"
        table.log.store.put(path, b"rows")
        append(table, path, "somebody-elses")
        append(tx.table("s.b"), "2")
        raise ZeroDivisionError

    store = lake.table("s.a").log.store
    assert [files(lake.table(name)) for name in TABLES] == [set(), set(), set()]
    assert not list(store.list_from(path.partition("/")[0]))
    with pytest.raises(InvalidRequest, match="rolled back"):
        table.version()
    with pytest.raises(InvalidRequest, match="rolled back"):
        tx.table("s.a")


def test_a_refused_transaction_deletes_its_files_and_those_of_nobody_else(lake: Lake) -> None:
    tx = lake.transaction(["s.a"])
    table = tx.table("s.a")
    files(table, read=True)
    ours, theirs = f"{table.log.world.uuid()}/part.parquet", "theirs.parquet"
    for path in (ours, theirs):
        table.log.store.put(path, b"rows")
    append(table, ours, theirs)
    append(lake.table("s.a"), "meanwhile")

    with pytest.raises(GroupConflict):
        tx.commit()

    left = [item.path for item in lake.table("s.a").log.store.list_from("") if "parquet" in item.path]
    assert left == [theirs]


def test_a_transaction_sees_its_tables_as_they_were_together(lake: Lake) -> None:
    tx = lake.transaction(["s.a", "s.b"])
    with lake.transaction() as other:
        append(other.table("s.a"), "1")
        append(other.table("s.b"), "1")

    assert [files(tx.table("s.a")), files(tx.table("s.b"))] == [set(), set()]
    assert tx.table("s.a").version() == 0
    with pytest.raises(VersionNotFound):
        tx.table("s.a").log.snapshot(version=1)


def test_a_table_opened_later_brings_idle_ones_with_it(lake: Lake) -> None:
    tx = lake.transaction()
    early = tx.table("s.a")
    with lake.transaction() as other:
        append(other.table("s.a"), "1")
        append(other.table("s.b"), "1")

    late = tx.table("s.b")

    assert [files(early), files(late)] == [{"1"}, {"1"}]


def test_a_table_opened_later_is_refused_if_what_was_read_is_no_longer_true(lake: Lake) -> None:
    for isolation in ("serializable", "snapshot"):
        tx = lake.transaction(isolation=isolation)
        files(tx.table("s.a"), read=True)
        append(lake.table("s.a"), f"{isolation}-1")

        with pytest.raises(GroupConflict, match=r"s\.a") as caught:
            tx.table("s.b")

        assert caught.value.message.count("s.a") == 1, "the name of the one table is said once"
        assert isinstance(caught.value.fields["conflicts"]["s.a"], ConcurrentAppend)  # type: ignore[index]


def test_a_read_that_would_mix_two_moments_is_refused(lake: Lake) -> None:
    tx = lake.transaction()
    append(tx.table("s.a"), "ours")  # so that it is not idle
    append(lake.table("s.a"), "theirs")
    tx.table("s.b")

    with pytest.raises(ConcurrentAppend):
        files(tx.table("s.a"), read=True)


def test_appends_to_several_tables_lose_to_no_appends(lake: Lake) -> None:
    tx = lake.transaction(["s.a", "s.b"])
    append(tx.table("s.a"), "1")
    append(tx.table("s.b"), "1")
    for number in range(3):
        append(lake.table("s.a"), f"other-{number}")

    assert tx.commit() == {"s.a": 4, "s.b": 1}
    assert "1" in files(lake.table("s.a"))


def test_who_lost_is_rebased_where_its_rules_allow(lake: Lake) -> None:
    append(lake.table("s.a"), "x", "y")
    tx = lake.transaction(["s.a", "s.b"])
    remove(tx.table("s.b"), "nothing")
    append(tx.table("s.a"), "mine")
    tx.table("s.a").set_domain("d", "1")
    append(lake.table("s.a"), "other")

    assert tx.commit() == {"s.a": 3, "s.b": 1}
    assert files(lake.table("s.a")) == {"x", "y", "mine", "other"}


def test_a_conflict_in_one_table_refuses_all_and_names_every_loser(lake: Lake) -> None:
    append(lake.table("s.a"), "x")
    append(lake.table("s.b"), "y")
    tx = lake.transaction(TABLES)
    remove(tx.table("s.a"), "x")
    remove(tx.table("s.b"), "y")
    append(tx.table("s.c"), "z")
    remove(lake.table("s.a"), "x")
    remove(lake.table("s.b"), "y")

    with pytest.raises(GroupConflict, match=r"(?s)s\.a.*version 2.*s\.b.*version 2") as caught:
        tx.commit()

    assert set(caught.value.fields["conflicts"]) == {"s.a", "s.b"}  # type: ignore[call-overload]
    assert files(lake.table("s.c")) == set()
    with pytest.raises(InvalidRequest, match="refused"):
        tx.commit()


def test_of_two_transactions_that_read_both_tables_and_write_one_each_one_loses(lake: Lake) -> None:
    """I11: no write skew."""
    one, two = lake.transaction(["s.a", "s.b"]), lake.transaction(["s.a", "s.b"])
    for tx, target in ((one, "s.a"), (two, "s.b")):
        seen = [files(tx.table(name), read=True) for name in ("s.a", "s.b")]
        append(tx.table(target), f"{len(seen[0])}{len(seen[1])}")

    one.commit()
    with pytest.raises(GroupConflict, match=r"s\.a"):
        two.commit()

    assert files(lake.table("s.b")) == set()


def test_snapshot_isolation_lets_tables_move_that_were_only_read(lake: Lake) -> None:
    tx = lake.transaction(["s.a", "s.b"], isolation="snapshot")
    files(tx.table("s.a"), read=True)
    append(tx.table("s.b"), "1")
    append(lake.table("s.a"), "other")

    assert tx.commit() == {"s.b": 1}


def test_domains_that_were_looked_up_must_not_have_changed(lake: Lake) -> None:
    lake.table("s.a").set_domain("mark", "1")
    for isolation, refused in (("serializable", True), ("snapshot", False)):
        tx = lake.transaction(["s.a", "s.b"], isolation=isolation)
        assert tx.table("s.a").domain("mark") is not None
        append(tx.table("s.b"), isolation)
        lake.table("s.a").set_domain("mark", isolation)

        if refused:
            with pytest.raises(GroupConflict, match="mark"):
                tx.commit()
        else:
            tx.commit()


def test_tables_that_were_only_read_may_get_what_was_not_read(lake: Lake) -> None:
    append(lake.table("s.a"), "x")
    tx = lake.transaction(["s.a", "s.b"])
    files(tx.table("s.a"), read=True)
    append(tx.table("s.b"), "1")
    lake.table("s.a").set_domain("other", "1")

    assert tx.commit() == {"s.b": 1}


def test_a_rearrangement_does_not_hide_what_was_read_beside_it(lake: Lake) -> None:
    append(lake.table("s.a"), "x")
    tx = lake.transaction(["s.a", "s.b"])
    table = tx.table("s.a")
    files(table, read=True)
    moved = (RemoveFile(path="x", data_change=False), _same_rows("y"))
    table.log.commit(Change(Operation("OPTIMIZE", changes_data=False), moved), base=table.log.snapshot())
    append(tx.table("s.b"), "depends on it")
    append(lake.table("s.a"), "meanwhile")

    with pytest.raises(GroupConflict, match="meanwhile"):
        tx.commit()


def test_a_transaction_that_only_reads_commits_nothing_and_asks_nobody(lake: Lake) -> None:
    tx = lake.transaction(["s.a"])
    files(tx.table("s.a"), read=True)
    append(lake.table("s.a"), "meanwhile")

    assert tx.commit() == {}


def test_old_versions_are_no_part_of_what_was_read(lake: Lake) -> None:
    append(lake.table("s.a"), "x")
    tx = lake.transaction(["s.a", "s.b"])
    table = tx.table("s.a").log
    table.scanned(table.snapshot(version=0), None, tuple)
    append(tx.table("s.b"), "1")
    append(lake.table("s.a"), "meanwhile")

    assert tx.commit() == {"s.b": 1}


def test_tables_are_made_and_dropped_with_the_rest(lake: Lake) -> None:
    with lake.transaction() as tx:
        made = tx.create_table("s.new", COLUMNS, properties={"acme": "1"})
        append(made, "1")
        append(tx.table("s.new"), "2")
        tx.create_table("s.empty", COLUMNS)
        tx.drop_table("s.c")
        append(tx.table("s.a"), "1")

        with pytest.raises(TableNotFound):
            tx.table("s.c")
        assert {str(entry.name) for entry in lake.tables()} == set(TABLES)

    assert {str(entry.name) for entry in lake.tables()} == {"s.a", "s.b", "s.new", "s.empty"}
    assert tx.versions == {"s.a": 1, "s.new": 1, "s.empty": 0}
    assert files(lake.table("s.new")) == {"1", "2"}
    assert lake.table("s.new").properties()["acme"] == "1"


def test_a_table_takes_the_name_of_one_that_is_dropped(lake: Lake) -> None:
    append(lake.table("s.a"), "old")
    with lake.transaction() as tx:
        rows = files(tx.table("s.a"), read=True)
        tx.drop_table("s.a")
        append(tx.create_table("s.a", COLUMNS), *(f"new-{path}" for path in rows))

    assert files(lake.table("s.a")) == {"new-old"}
    assert lake.table("s.a").version() == 1


def test_a_table_that_is_replaced_must_not_have_moved_if_it_was_read(lake: Lake) -> None:
    tx = lake.transaction()
    files(tx.table("s.a"), read=True)
    tx.drop_table("s.a")
    tx.create_table("s.a", COLUMNS)
    append(lake.table("s.a"), "meanwhile")

    with pytest.raises(GroupConflict, match="meanwhile"):
        tx.commit()

    assert files(lake.table("s.a")) == {"meanwhile"}


def test_a_table_that_is_made_and_dropped_never_was(lake: Lake) -> None:
    with lake.transaction() as tx:
        append(tx.create_table("s.new", COLUMNS), "1")
        tx.drop_table("s.new")

    assert tx.versions == {}
    with pytest.raises(TableNotFound):
        lake.table("s.new")


def test_a_name_that_others_took_meanwhile_refuses_all(lake: Lake) -> None:
    tx = lake.transaction()
    tx.create_table("s.new", COLUMNS)
    append(tx.table("s.a"), "1")
    create_managed(lake._catalog, TableName("s", "new"))

    with pytest.raises(TableExists):
        tx.commit()

    assert files(lake.table("s.a")) == set()


@pytest.mark.parametrize(
    ("misuse", "error", "says"),
    [
        (lambda lake, tx: lake.transaction().__enter__(), InvalidRequest, "around this one"),
        (lambda lake, tx: tx.table("delta.`/tmp/x`"), InvalidRequest, "only tables of the lake"),
        (lambda lake, tx: tx.table("s.nobody"), TableNotFound, "s.nobody"),
        (lambda lake, tx: tx.create_table("s.a", COLUMNS), TableExists, "s.a"),
        (lambda lake, tx: (append(tx.table("s.a"), "1"), tx.drop_table("s.a")), InvalidRequest, "written"),
        (lambda lake, tx: tx.table("s.a").publish(), InvalidRequest, "inside a transaction"),
        (lambda lake, tx: tx.table("s.a").checkpoint(), InvalidRequest, "inside a transaction"),
        (lambda lake, tx: tx.table("s.a").compact_log(0, 1), InvalidRequest, "inside a transaction"),
        (lambda lake, tx: lake.transaction(isolation="none"), InvalidRequest, "serializable or snapshot"),
        (lambda lake, tx: append(lake.snapshot(["s.a"]).table("s.a"), "1"), InvalidRequest, "for reading"),
        (lambda lake, tx: lake.snapshot(["s.a"]).table("s.b"), TableNotFound, "which has s.a"),
    ],
)  # fmt: skip
def test_what_a_transaction_cannot_do_is_refused(
    lake: Lake, misuse: Callable[[Lake, LakeTransaction], object], error: type[HeadgateError], says: str
) -> None:
    with pytest.raises(error, match=says), lake.transaction() as tx:
        misuse(lake, tx)

    assert [lake.table(name).version() for name in TABLES] == [0, 0, 0]


def test_another_transaction_may_follow_in_the_same_thread(lake: Lake) -> None:
    for _ in range(2):
        with lake.transaction() as tx:
            append(tx.table("s.a"), "1")

    assert lake.table("s.a").version() == 2


def test_an_operation_that_is_refused_halfway_cannot_be_committed_in_part(lake: Lake) -> None:
    append(lake.table("s.a"), "x")
    tx = lake.transaction()
    table = tx.table("s.a")

    with pytest.raises(UnsupportedFeature, match="ROW TRACKING BACKFILL must be the only change"):
        table.set_properties({"delta.enableRowTracking": "true"})
    with pytest.raises(InvalidRequest, match="part of an operation was refused"):
        tx.commit()

    assert lake.table("s.a").version() == 1


def test_a_refused_operation_that_did_nothing_leaves_the_rest_as_it_was(lake: Lake) -> None:
    with lake.transaction() as tx:
        with pytest.raises(InvalidRequest, match="inside a transaction"):
            tx.table("s.a").publish()
        append(tx.table("s.a"), "1")

    assert tx.versions == {"s.a": 1}


def test_a_cut_of_the_lake_never_shows_half_a_transaction(lake: Lake) -> None:
    """I19: an amount moves between two tables, and its sum stays the same in every snapshot."""
    append(lake.table("s.a"), *(f"{number}" for number in range(12)))
    done = threading.Event()

    def move() -> None:
        for number in range(12):
            with lake.transaction(["s.a", "s.b"]) as tx:
                remove(tx.table("s.a"), f"{number}")
                append(tx.table("s.b"), f"{number}")
        done.set()

    def look() -> int:
        cuts = 0
        while not done.is_set():
            cut = lake.snapshot(["s.b", "s.a"])
            here, there = files(cut.table("s.a")), files(cut.table("s.b"))
            assert len(here) + len(there) == 12
            assert not here & there
            cuts += 1
        return cuts

    with ThreadPoolExecutor(3) as pool:
        looking = [pool.submit(look) for _ in range(2)]
        pool.submit(move).result(PATIENCE_SECONDS)
        assert sum(each.result(PATIENCE_SECONDS) for each in looking) > 2
    assert files(lake.table("s.b")) == {f"{number}" for number in range(12)}


@dataclass
class Planned:
    """A transaction of the model: what it reads, then what it writes, and what it saw."""

    reads: frozenset[str]
    writes: frozenset[str]
    saw: dict[str, set[str]] = field(default_factory=dict)


def empty(lake: Lake) -> None:
    """Take all files away, so that the next example begins like the first."""
    for name in TABLES:
        base = lake.table(name).log.snapshot()
        gone = [RemoveFile(path=path, data_change=True) for path in files(lake.table(name))]
        lake.table(name).log.commit(Change(Operation("DELETE"), tuple(gone)), base=base)


def play(lake: Lake, plans: Sequence[Planned], order: Sequence[int]) -> list[int]:
    """Have transactions take their three steps in this order; those that committed, in theirs."""
    running = [lake.transaction() for _ in plans]
    left = [["read", "write", "commit"] for _ in plans]
    committed = []
    for number in order:
        tx, plan, step = running[number], plans[number], left[number].pop(0)
        if tx._over is not None:
            continue
        try:
            if step == "read":
                plan.saw = {name: files(tx.table(name), read=True) for name in sorted(plan.reads)}
            elif step == "write":
                for name in sorted(plan.writes):
                    append(tx.table(name), f"{number}")
            else:
                tx.commit()
                committed.append(number)
        except ConflictError:
            tx.rollback()
    return committed


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_transactions_are_as_if_run_one_after_another(lake: Lake, data: st.DataObject) -> None:
    """I11: whatever order their steps take, those that commit saw what they would have seen one by one."""
    empty(lake)
    some = st.frozensets(st.sampled_from(TABLES), max_size=3)
    plans = [Planned(data.draw(some), data.draw(some)) for _ in range(data.draw(st.integers(2, 4)))]
    order = data.draw(st.permutations([number for number in range(len(plans)) for _ in range(3)]))

    committed = play(lake, plans, order)

    moments: list[dict[str, set[str]]] = [{name: set() for name in TABLES}]
    for number in committed:
        plan, now = plans[number], moments[-1]
        if plan.writes:
            assert plan.saw == {name: now[name] for name in plan.reads}
            added = {name: {f"{number}"} for name in plan.writes}
            moments.append({name: now[name] | added.get(name, set()) for name in TABLES})
    for plan in (plans[number] for number in committed if not plans[number].writes):
        assert any(plan.saw == {name: moment[name] for name in plan.reads} for moment in moments)
    assert {name: files(lake.table(name)) for name in TABLES} == moments[-1]


def _same_rows(path: str) -> AddFile:
    return msgspec.structs.replace(commits.add(path), data_change=False)


def test_a_table_to_which_others_publish_takes_no_part_but_may_be_read_at_its_moment(lake: Lake) -> None:
    lake.table("s.a").publish()
    lake._catalog.share_log(TableName("s", "a"))
    written, read = lake.transaction(), lake.transaction()
    append(written.table("s.a"), "1")
    files(read.table("s.a"), read=True)
    append(read.table("s.b"), "1")

    for tx in (written, read):
        with pytest.raises(SharedLog, match=r"s\.a"):
            tx.commit()
    with lake.transaction(isolation="snapshot") as tx:
        files(tx.table("s.a"), read=True)
        append(tx.table("s.b"), "2")

    assert files(lake.table("s.a")) == set()
    assert files(lake.table("s.b")) == {"2"}


# --- where a table stands still, its log unread


def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The snapshots that are loaded from here on, by the versions that are asked for."""
    loaded: list[str] = []

    def load(*args: object, **kwargs: object) -> Snapshot:
        found = _LOAD(*args, **kwargs)  # type: ignore[arg-type]
        loaded.append(f"{found.version}")
        return found

    monkeypatch.setattr(snapshot, "load_snapshot", load)
    return loaded


def test_appends_of_a_transaction_read_no_log(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = loads(monkeypatch)

    for path in ("1", "2"):
        with lake.transaction(["s.a", "s.b"]) as tx:
            append(tx.table("s.a"), path)
            append(tx.table("s.a"), f"{path} more")
            append(tx.table("s.b"), path)

    assert loaded == []
    assert [files(lake.table(name)) for name in ("s.a", "s.b")] == [
        {"1", "1 more", "2", "2 more"},
        {"1", "2"},
    ]


def test_files_of_a_version_that_was_told_are_read_when_the_transaction_is_over(lake: Lake) -> None:
    append(lake.table("s.a"), "old")
    with lake.transaction(["s.a"]) as tx:
        began = tx.table("s.a").log.newest_known()
        append(tx.table("s.a"), "1")

    route, kept = lake._transaction_access.open(lake._context.resolve("s.a"))
    assert kept.newest_known().files.is_unread
    append(lake.table("s.a"), "later")

    assert began.files.columns["path"].to_pylist() == ["old"]
    assert set(kept.newest_known().files.columns["path"].to_pylist()) == {"old", "1"}
    assert route.frontier().latest == 3


def test_what_is_read_late_is_as_it_was_when_the_table_was_opened(lake: Lake) -> None:
    append(lake.table("s.a"), "old")
    with lake.transaction(["s.a", "s.b"]) as tx:
        append(lake.table("s.a"), "meanwhile")
        lake.table("s.a").publish()

        assert files(tx.table("s.a")) == {"old"}
        append(tx.table("s.a"), "1")
        assert files(tx.table("s.a")) == {"old", "1"}

    assert files(lake.table("s.a")) == {"old", "meanwhile", "1"}


def test_what_a_transaction_has_loaded_is_known_to_the_next(lake: Lake) -> None:
    append(lake.table("s.a"), "old")
    with lake.transaction(["s.a"]) as tx:
        files(tx.table("s.a"))
        remove(tx.table("s.a"), "old")

    _, kept = lake._transaction_access.open(lake._context.resolve("s.a"))

    assert kept.loaded_snapshot is not None and kept.loaded_snapshot.version == 2
    assert set(kept.loaded_snapshot.files.columns["path"].to_pylist()) == set()


def test_what_only_the_transaction_sees_is_known_to_nobody_else(lake: Lake) -> None:
    tx = lake.transaction(["s.a"])
    append(tx.table("s.a"), "1")
    assert files(tx.table("s.a")) == {"1"}
    tx.rollback()

    _, kept = lake._transaction_access.open(lake._context.resolve("s.a"))

    assert kept.newest_known().version == 0
    assert files(lake.table("s.a")) == set()


def test_an_idle_table_that_moves_along_is_appended_to_where_it_stands_then(lake: Lake) -> None:
    with lake.transaction(["s.a"]) as tx:
        append(lake.table("s.a"), "meanwhile")
        tx.table("s.b")
        append(tx.table("s.a"), "1")
        (written,) = tx._tables["s.a"].collector.collected

        assert (written.base, written.target) == (1, 2)

    assert files(lake.table("s.a")) == {"meanwhile", "1"}


def test_a_file_that_was_added_and_removed_again_needs_the_files_that_were_there(lake: Lake) -> None:
    append(lake.table("s.a"), "old")
    with lake.transaction(["s.a"]) as tx:
        append(tx.table("s.a"), "old", "new")
        remove(tx.table("s.a"), "old")
        remove(tx.table("s.a"), "new")

    assert files(lake.table("s.a")) == set()
