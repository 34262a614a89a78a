"""Cloning in a lake, step by step: what a failure or a crash at any of them leaves, and who may do it."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

import headgate
from headgate import Lake, Table
from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import Unknown
from headgate.catalog.ports.directory import TableName
from headgate.errors import (
    CommitUnknown,
    ConcurrentWrite,
    HeadgateError,
    InvalidRequest,
    NotAllowed,
    StorageUnavailable,
    TableExists,
    TableNotFound,
    UnsupportedFeature,
    VersionNotFound,
)
from headgate.protocol.actions import AddFile
from headgate.settings import Publish, Settings
from headgate.storage import local
from headgate.storage.local import LocalStore
from headgate.table.alter.create import TableDefinition
from tests.support.tables import SCHEMA, append_change, create_filesystem, open_filesystem, parquet_file

SETTINGS = Settings(publish=Publish.ON_DEMAND, max_unanswered=1)


@contextmanager
def connected(folder: Path, **asked: Any) -> Iterator[Lake]:
    with headgate.connect(folder, settings=SETTINGS, **asked) as opened:
        yield opened


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with connected(tmp_path / "lake") as opened:
        prepare(opened)
        yield opened


def prepare(lake: Lake) -> None:
    """``s.t`` with two files, and ``s.o`` with one."""
    lake.create_schema("s")
    for name, files in (("t", (1, 2)), ("o", (9,))):
        table = lake._creation.create(TableName("s", name), TableDefinition(SCHEMA))
        for number in files:
            append(table, number)


def append(table: Table, number: int) -> None:
    table.log.commit(append_change(file(table, number)), base=table.log.snapshot())


def file(table: Table, number: int) -> AddFile:
    return parquet_file(table.location, f"f{number}.parquet", [number] * number)


def files(table: Table) -> list[str]:
    """The names of the live files, by which one knows their rows."""
    return sorted(Path(path).name for path in table.log.snapshot().files.columns["path"].to_pylist())


def data(place: str) -> list[str]:
    """The data files below a table's place, live or not."""
    return sorted(path.name for path in Path(place).rglob("f*.parquet"))


def is_whole(lake: Lake, name: str) -> bool:
    (report,) = lake.check(name)
    return not [finding for finding in report.findings if "orphans" not in finding.rule]


def test_the_history_tells_of_what_it_is_a_clone(lake: Lake) -> None:
    clone = lake.clone("s.t", "s.c", version=1)

    (entry,) = clone.log.history()

    assert entry.info.operation == "CLONE"
    assert entry.info.operation_parameters == {"source": "s.t", "sourceVersion": "1", "isShallow": "false"}
    size = lake.table("s.t").log.snapshot(version=1).files.columns["size"].to_pylist()[0]
    assert entry.info.operation_metrics == {
        "sourceTableSize": str(size), "sourceNumOfFiles": "1", "numRemovedFiles": "0",
        "numCopiedFiles": "1", "removedFilesSize": "0", "copiedFilesSize": str(size),
    }  # fmt: skip
    assert files(clone) == ["f1.parquet"]


def test_a_clone_over_a_table_takes_its_files_away(lake: Lake) -> None:
    before = lake.table("s.o").log.snapshot()

    clone = lake.clone("s.t", "s.o", replace=True)

    assert files(clone) == ["f1.parquet", "f2.parquet"]
    metrics = clone.log.history(limit=1)[0].info.operation_metrics or {}
    assert (metrics["numRemovedFiles"], metrics["numCopiedFiles"]) == ("1", "2")
    now = clone.log.snapshot()
    assert (now.version, now.state.metadata.id) == (before.version + 1, before.state.metadata.id)
    assert clone.log.snapshot(version=1).files.columns["path"].to_pylist() == ["f9.parquet"]
    assert is_whole(lake, "s.o")


def test_a_name_that_is_taken_is_refused_unless_replaced(lake: Lake) -> None:
    with pytest.raises(TableExists):
        lake.clone("s.t", "s.o")
    with pytest.raises(TableNotFound):
        lake.clone("s.nothing", "s.c")
    with pytest.raises(InvalidRequest) as itself:
        lake.clone("s.t", "s.t", replace=True)

    assert itself.value.code == "DELTA_UNSUPPORTED_CLONE_REPLACE_SAME_TABLE"
    assert files(lake.clone("s.t", "s.new", replace=True)) == ["f1.parquet", "f2.parquet"]


def test_a_shallow_clone_over_the_original_changes_nothing_of_its_files(lake: Lake) -> None:
    lake.clone("s.t", "s.c", shallow=True)
    original = lake.table("s.t")
    append(original, 3)

    lake.clone("s.c", "s.t", replace=True, shallow=True)

    assert sorted(original.log.snapshot().files.columns["path"].to_pylist()) == ["f1.parquet", "f2.parquet"]
    metrics = original.log.history(limit=1)[0].info.operation_metrics or {}
    assert metrics["numRemovedFiles"] == "1"


def test_a_table_is_given_open_as_well(lake: Lake, tmp_path: Path) -> None:
    place = str(tmp_path / "plain")
    create_filesystem(LocalStore(place))
    plain = open_filesystem(place)
    plain.commit(append_change(parquet_file(place, "f5.parquet", [5])), base=plain.snapshot())

    by_table = lake.clone(Table(f"delta.`{place}`", plain), "s.a", shallow=True)
    by_name = lake.clone(f"delta.`{place}`", "s.b")
    of_lake = lake.clone(lake.table("s.t"), "s.c", shallow=True)

    assert (files(by_table), files(by_name)) == (["f5.parquet"], ["f5.parquet"])
    assert files(of_lake) == ["f1.parquet", "f2.parquet"]
    with pytest.raises(TableNotFound):
        lake.clone(tmp_path / "nowhere", "s.d")


def test_whoever_commits_meanwhile_wins_and_no_copy_is_left(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = lake.table("s.o")
    rival, copied = file(target, 8), LocalStore.put_parts

    def copying(store: LocalStore, path: str, parts: Any) -> None:
        monkeypatch.undo()
        target.log.commit(append_change(rival), base=target.log.snapshot())
        copied(store, path, parts)

    monkeypatch.setattr(LocalStore, "put_parts", copying)
    with pytest.raises(ConcurrentWrite):
        lake.clone("s.t", "s.o", replace=True)

    assert files(target) == ["f8.parquet", "f9.parquet"] == data(target.location)


def test_after_an_unknown_outcome_no_copy_is_deleted(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    target, catalog = lake.table("s.o"), type(lake._catalog)
    propose = catalog.propose

    def unanswered(self: Any, proposal: Any) -> Any:
        propose(self, proposal)
        return Unknown("the answer was lost")

    monkeypatch.setattr(catalog, "propose", unanswered)
    monkeypatch.setattr(catalog, "outcome_of", lambda *_, **__: Unknown("nobody answers"))
    with pytest.raises(CommitUnknown):
        lake.clone("s.t", "s.o", replace=True)
    monkeypatch.undo()

    assert files(target) == ["f1.parquet", "f2.parquet"]
    assert is_whole(lake, "s.o")


def test_a_copy_that_fails_leaves_nothing(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    target = lake.table("s.o")
    copied = LocalStore.put_parts

    def failing(store: LocalStore, path: str, parts: Any) -> None:
        if path.endswith("f2.parquet"):
            raise StorageUnavailable("the disk is full", path=path, operation="put")
        copied(store, path, parts)

    monkeypatch.setattr(LocalStore, "put_parts", failing)
    for name, replace in (("s.o", True), ("s.new", False)):
        with pytest.raises(StorageUnavailable):
            lake.clone("s.t", name, replace=replace)

    assert data(target.location) == files(target) == ["f9.parquet"]
    assert len(list(Path(target.location).parent.rglob("f1.parquet"))) == 1


@pytest.mark.parametrize("shallow", [True, False])
def test_a_version_whose_files_are_gone_is_refused(lake: Lake, shallow: bool) -> None:
    source = lake.table("s.t")
    lake.clone("s.o", "s.t", replace=True)
    (Path(source.location) / "f2.parquet").unlink()

    with pytest.raises(InvalidRequest) as refused:
        lake.clone("s.t", "s.c", version=2, shallow=shallow)

    assert refused.value.code == "DELTA_FILE_NOT_FOUND_DETAILED"
    assert "f2.parquet" in refused.value.message
    assert [str(entry.name) for entry in lake.tables("s")] == ["s.o", "s.t"]


def test_a_version_that_no_lease_keeps_any_more_is_cloned_while_it_is_there(lake: Lake) -> None:
    lake.permit("s.t", "data cleanup")
    lake.table("s.t").vacuum(timedelta(0), enforce_retention=False)
    with pytest.raises(VersionNotFound):
        lake.lease("s.t", version=1)

    assert files(lake.clone("s.t", "s.c", version=1)) == ["f1.parquet"]


def test_no_vacuum_takes_files_that_are_being_copied(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.permit("s.t", "data cleanup")
    source = lake.table("s.t")
    copied = LocalStore.put_parts

    def copying(store: LocalStore, path: str, parts: Any) -> None:
        monkeypatch.undo()
        lake.clone("s.o", "s.t", replace=True)
        assert source.vacuum(timedelta(0), enforce_retention=False).paths == ()
        copied(store, path, parts)

    monkeypatch.setattr(LocalStore, "put_parts", copying)

    assert files(lake.clone("s.t", "s.c")) == ["f1.parquet", "f2.parquet"]
    assert files(source) == ["f9.parquet"]


def test_who_may_read_the_source_and_make_tables_may_clone(lake: Lake, tmp_path: Path) -> None:
    lake.grant("CREATE", on="s", to="ada")
    with connected(tmp_path / "lake", principal="ada") as ada:
        for shallow in (True, False):
            with pytest.raises(TableNotFound):
                ada.clone("s.t", "s.c", shallow=shallow)
        lake.grant("READ", on="s.t", to="ada")
        shallow_clone = ada.clone("s.t", "s.c", shallow=True)
        second = ada.clone("s.c", "s.d", shallow=True)

        assert files(shallow_clone) == files(second) == ["f1.parquet", "f2.parquet"]
        with pytest.raises(NotAllowed):  # what is at a path no table stands for
            ada.clone(outside(tmp_path), "s.e", shallow=True)
        assert files(ada.clone(outside(tmp_path), "s.e")) == ["f7.parquet"]
        lake.grant("READ", on="s.o", to="ada")
        with pytest.raises(HeadgateError):  # which takes more than reading it
            ada.clone("s.t", "s.o", replace=True, shallow=True)
    assert files(lake.table("s.o")) == ["f9.parquet"]


def outside(folder: Path) -> str:
    place = str(folder / "outside")
    if not Path(place).exists():
        create_filesystem(LocalStore(place))
        table = open_filesystem(place)
        table.commit(append_change(parquet_file(place, "f7.parquet", [7])), base=table.snapshot())
    return place


def test_a_shallow_clone_names_no_files_of_tables_it_was_not_cloned_from(lake: Lake) -> None:
    clone = lake.clone("s.t", "s.c", shallow=True)
    stray = parquet_file(lake.table("s.o").location, "f4.parquet", [4])
    absolute = f"{Path(lake.table('s.o').location).as_uri()}/{stray.path}"

    with pytest.raises(InvalidRequest, match="outside the table"):
        clone.log.commit(append_change(_at(stray, absolute)), base=clone.log.snapshot())


def _at(add: AddFile, path: str) -> AddFile:
    return AddFile(
        path=path, partition_values={}, size=add.size, modification_time=add.modification_time,
        data_change=True, stats=add.stats,
    )  # fmt: skip


def test_several_tables_are_cloned_as_they_were_at_one_moment(lake: Lake) -> None:
    with lake.transaction(["s.t", "s.o"], isolation="snapshot") as tx:
        append(lake.table("s.t"), 3)
        tx.clone("s.t", "s.a")
        tx.clone("s.o", "s.b", shallow=True)
        tx.clone("s.t", "s.o", replace=True)

    assert files(lake.table("s.a")) == ["f1.parquet", "f2.parquet"] == files(lake.table("s.o"))
    assert files(lake.table("s.b")) == ["f9.parquet"]
    assert dict(tx.versions) == {"s.a": 1, "s.b": 1, "s.o": 2}
    for name in ("s.a", "s.b", "s.o"):
        assert lake.table(name).log.history(limit=1)[0].info.operation == "CLONE"
        assert is_whole(lake, name)


def test_a_transaction_that_ends_badly_leaves_no_copy(lake: Lake) -> None:
    with pytest.raises(ZeroDivisionError), lake.transaction() as tx:
        made = tx.clone("s.t", "s.a")
        tx.clone("s.t", "s.o", replace=True)
        assert files(tx.table("s.o")) == ["f1.parquet", "f2.parquet"]
        raise ZeroDivisionError

    assert data(made.location) == []
    assert data(lake.table("s.o").location) == ["f9.parquet"]


def test_in_a_transaction_a_clone_is_the_only_change_of_its_table(lake: Lake) -> None:
    with pytest.raises(UnsupportedFeature) as refused, lake.transaction() as tx:
        append(tx.clone("s.t", "s.o", replace=True), 5)

    assert refused.value.code == "HEADGATE_CHANGES_CANNOT_BE_COMBINED"
    assert files(lake.table("s.o")) == ["f9.parquet"]


class Died(BaseException):
    """The process is no more; nobody catches this."""


@contextmanager
def dying(lake: Lake, monkeypatch: pytest.MonkeyPatch, at: int) -> Iterator[None]:
    """The process dies before its ``at``-th write to the disk or the database, or not at all."""
    calls = count()

    def step() -> None:
        if next(calls) >= at:  # whatever would be done after that is not done either
            raise Died

    def before_statement(*told: Any) -> None:
        if not told[2].startswith(("SELECT", "PRAGMA")):
            step()

    def after_step(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:
            step()
            return call(*given, **named)

        return called

    catalog = lake._catalog
    assert isinstance(catalog, Catalog)
    engine = catalog._database._engine
    with monkeypatch.context() as patched:
        for name in ("put", "put_if_absent", "put_parts", "delete"):
            patched.setattr(LocalStore, name, after_step(getattr(LocalStore, name)))
        patched.setattr(local, "_link", after_step(local._link))
        patched.setattr(engine.dialect, "do_commit", after_step(engine.dialect.do_commit))
        event.listen(engine, "before_cursor_execute", before_statement)
        try:
            yield
        finally:
            event.remove(engine, "before_cursor_execute", before_statement)


WAYS: dict[str, dict[str, Any]] = {"deep": {}, "shallow over": {"replace": True, "shallow": True}}
"""Together they have every step there is."""


@pytest.mark.parametrize("way", WAYS)
def test_wherever_it_dies_there_is_the_clone_or_what_was_before(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = WAYS[way]
    target, before = ("s.o", ["f9.parquet"]) if "replace" in asked else ("s.c", None)
    with connected(tmp_path / "first") as lake:
        prepare(lake)
    for at in count():
        folder = tmp_path / "lake"
        shutil.copytree(tmp_path / "first", folder)
        with connected(folder) as lake:
            died = False
            try:
                with dying(lake, monkeypatch, at):
                    lake.clone("s.t", target, **asked)
            except Died:
                died = True
            present = {str(entry.name) for entry in lake.tables("s")}
            found = files(lake.table(target)) if target in present else None
            assert found in (["f1.parquet", "f2.parquet"], before)
            assert target not in present or is_whole(lake, target)
            again = lake.clone("s.t", target, **{**asked, "replace": True})
            assert files(again) == ["f1.parquet", "f2.parquet"]
            assert is_whole(lake, target)
            assert files(lake.table("s.t")) == ["f1.parquet", "f2.parquet"]
        shutil.rmtree(folder)
        if not died:
            break
    assert at > 5
