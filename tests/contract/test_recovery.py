"""A lake whose database is lost, or older than its tables: refused, and rebuilt from what was published."""

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import headgate
from headgate.catalog.catalog import Catalog
from headgate.catalog.database.engine import open_sqlite
from headgate.catalog.ports import directory_copy
from headgate.catalog.ports.directory_copy import COPY_PATH, DirectoryCopy
from headgate.catalog.targets import DATABASE_FILE
from headgate.clock import SystemWorld
from headgate.errors import CatalogLost, NotAllowed, TableNotFound
from headgate.lake import lake_recovery
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.protocol.log.file_names import SET_ASIDE
from headgate.storage.local import LocalStore
from headgate.storage.locate import locate
from headgate.table.maintenance.recovery import RecoveredTable, RecoveryOutcome, RecoveryReport
from tests.support import adopted, lost, s3, tables
from tests.support.lost import LosableLake

STAGED = headgate.Settings(publish=headgate.Publish.ON_DEMAND, inline_limit_bytes=0)


@pytest.fixture(params=lost.KINDS)
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LosableLake]:
    with lost.a_lake(request.param, tmp_path / "lake") as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> LosableLake:
    return LosableLake(tmp_path / "lake")


def by_name(done: RecoveryReport) -> dict[str, RecoveredTable]:
    return {table.name: table for table in done.tables}


def fill(lake: LosableLake) -> None:
    """``a.one`` with two published versions and two more; ``a.two``, dropped; ``b.three``, renamed."""
    with lake.connect() as found:
        for name in ("a.one", "a.two", "b.tree"):
            lost.create_table(found._catalog, name)
            table = lost.opened(found, name)
            lost.append(table, "x", "y")
            table.publish()
        found.drop_table("a.two")
        found.rename("b.tree", "b.three")
        lost.append(lost.opened(found, "a.one"), "inline")
        lost.append(lost.opened(found, "a.one", STAGED), "staged")


def test_a_lost_database_is_refused_and_not_made_anew(lake: LosableLake) -> None:
    fill(lake)
    lake.lose()

    for _ in range(2):  # what was refused once is not taken for a new lake the next time
        with pytest.raises(CatalogLost, match="recover") as refused:
            lake.connect()

    assert refused.value.code == "HEADGATE_CATALOG_LOST"
    assert lake.database is not None or not (lake.folder / DATABASE_FILE).exists()


def test_a_lost_database_is_rebuilt_from_what_was_published(lake: LosableLake) -> None:
    fill(lake)
    lake.lose()

    done = by_name(lake.recover())

    assert done["a.one"].outcome is RecoveryOutcome.REBUILT
    assert (done["a.one"].version, done["a.one"].lost) == (2, (3, 4))
    assert [path.startswith(f"{file_names.STAGED_FOLDER}{4:020d}") for path in done["a.one"].staged] == [True]
    with lake.connect() as found:
        assert [str(entry.name) for entry in found.tables()] == ["a.one", "b.three"]
        assert [str(entry.name) for entry in found.dropped()] == ["a.two"]
        table = lost.opened(found, "a.one")
        assert lost.files(table) == ["x", "y"]
        assert all((Path(table.location) / path).exists() for path in done["a.one"].staged)
        assert lost.append(table, "after") == 3
        assert table.publish() == 3
        found.undrop("a.two")
        assert lost.files(lost.opened(found, "a.two")) == ["x", "y"]
        assert all(report.is_clean for report in found.check()), [report.findings for report in found.check()]


def test_a_rebuilt_table_still_knows_what_was_committed(lake: LosableLake) -> None:
    fill(lake)
    with lake.connect() as found:
        entry = found._catalog.resolve(adopted.TableName("b", "three"))
        before = [(each.version, each.txn_id, each.sha256) for each in found.commits("b.three")]
    lake.lose()
    lake.recover()

    with lake.connect() as found:
        again = found._catalog.resolve(adopted.TableName("b", "three"))
        assert (again.table_id, again.location) == (entry.table_id, entry.location)
        assert [(each.version, each.txn_id, each.sha256) for each in found.commits("b.three")] == before
        assert {each.principal for each in found.commits("b.three")} == {"external"}


def test_a_second_recovery_changes_nothing(lake: LosableLake) -> None:
    fill(lake)
    lake.lose()
    lake.recover()

    again = lake.recover()

    assert not again.changed
    assert {table.outcome for table in again.tables} == {RecoveryOutcome.UNCHANGED}


def test_a_dry_run_says_the_same_and_changes_nothing(lake: LosableLake) -> None:
    fill(lake)
    lake.lose()

    planned = lake.recover(dry_run=True)

    assert planned.dry_run
    with pytest.raises(CatalogLost):
        lake.connect()
    assert planned.tables == lake.recover().tables


def test_a_backup_that_is_older_than_the_tables_is_refused(lake: LosableLake, tmp_path: Path) -> None:
    fill(lake)
    lake.back_up(tmp_path / "backup")
    with lake.connect() as found:
        lost.create_table(found._catalog, "b.later")
        table = lost.opened(found, "b.three")
        lost.append(table, "z")
        table.publish()
        lost.append(table, "unpublished")
        found.rename("a.one", "a.first")
    lake.restore(tmp_path / "backup")

    with pytest.raises(CatalogLost, match=r"b\.three had version 4, and has 2") as refused:
        lake.connect()
    assert refused.value.code == "HEADGATE_CATALOG_BEHIND"
    done = by_name(lake.recover())

    assert (done["b.three"].outcome, done["b.three"].version, done["b.three"].lost) == (
        RecoveryOutcome.CAUGHT_UP,
        3,
        (4, 4),
    )
    assert done["b.later"].outcome is RecoveryOutcome.REBUILT
    with lake.connect() as found:
        assert [str(entry.name) for entry in found.tables()] == ["a.first", "b.later", "b.three"]
        assert lost.files(lost.opened(found, "b.three")) == ["x", "y", "z"]
        assert lost.files(lost.opened(found, "a.first")) == ["inline", "staged", "x", "y"]
        assert lost.append(lost.opened(found, "b.three"), "after") == 4
        for report in found.check():
            assert report.is_clean, report.findings


def test_a_database_that_is_newer_is_left_as_it_is(lake: LosableLake) -> None:
    fill(lake)

    with lake.connect() as found:
        done = by_name(found.recover())
        assert lost.files(lost.opened(found, "a.one")) == ["inline", "staged", "x", "y"]

    assert {table.outcome for table in done.values()} == {RecoveryOutcome.UNCHANGED}
    assert (done["a.one"].version, done["a.one"].lost, done["a.one"].staged) == (4, None, ())


def test_without_a_copy_of_the_directory_tables_say_what_they_are(folder: LosableLake) -> None:
    fill(folder)
    folder.lose()
    (folder.warehouse / COPY_PATH).unlink()

    with pytest.raises(CatalogLost):
        folder.connect()
    done = by_name(folder.recover())

    # Names as they were made with; that a table was dropped, nobody knows.
    assert sorted(done) == ["a.one", "a.two", "b.tree"]
    assert done["a.one"].lost is None
    assert done["a.one"].staged


def test_a_table_of_an_older_release_is_found_by_its_place(folder: LosableLake) -> None:
    with folder.connect() as found:
        made = tables.create_managed(found._catalog)
        lost.append(lost.opened(found, "test.t"), "x")
        lost.opened(found, "test.t").publish()
    folder.lose()
    (folder.warehouse / COPY_PATH).unlink()

    (table,) = folder.recover().tables

    assert (table.table_id, table.version) == (made.table_id, 1)
    assert table.name == f"recovered.t_{made.table_id.replace('-', '_')}"
    assert "lake.rename" in table.notes[0]


def test_of_two_tables_of_one_name_the_later_one_has_it(folder: LosableLake) -> None:
    with folder.connect() as found:
        first = lost.create_table(found._catalog, "a.one")
        lost.append(lost.opened(found, "a.one"), "old")
        lost.opened(found, "a.one").publish()
        found.drop_table("a.one")
        second = lost.create_table(found._catalog, "a.one")
        lost.append(lost.opened(found, "a.one"), "new")
        lost.opened(found, "a.one").publish()
    folder.lose()
    (folder.warehouse / COPY_PATH).unlink()

    folder.recover()

    with folder.connect() as found:
        assert [entry.table_id for entry in found.tables()] == [second.table_id]
        assert [entry.table_id for entry in found.dropped()] == [first.table_id]
        found.undrop("a.one", table_id=first.table_id, to="a.older")
        assert lost.files(lost.opened(found, "a.older")) == ["old"]


def test_what_was_purged_stays_gone(folder: LosableLake) -> None:
    fill(folder)
    with folder.connect() as found:
        found.purge("a.two")
        found.drop_table("b.three")
        found.purge("b.three", files=True)
    folder.connect().close()  # what is not there any more is not missed
    folder.lose()

    done = folder.recover()

    assert [(table.name, table.outcome) for table in done.tables if "one" not in table.name] == [
        ("a.two", RecoveryOutcome.LEFT)
    ]
    with folder.connect() as found:
        assert [str(entry.name) for entry in (*found.tables(), *found.dropped())] == ["a.one"]


def test_a_dropped_schema_stays_dropped(lake: LosableLake) -> None:
    fill(lake)
    with lake.connect() as found:
        for name in ("zed", "kept"):
            found.create_schema(name)
        found._catalog.copies.write_now()
        assert found.drop_schema("ZED")

    assert lake.recover(dry_run=True).schemas == ()
    assert lake.recover().schemas == ()
    lake.lose()
    made = lake.recover().schemas

    assert "kept" in made
    assert "zed" not in made


def test_a_schema_that_was_dropped_and_made_again_comes_back(folder: LosableLake) -> None:
    fill(folder)
    with folder.connect() as found:
        found.create_schema("zed")
        found.drop_schema("zed")
        found.create_schema("zed")
        found._catalog.copies.write_now()
    folder.lose()

    assert "zed" in folder.recover().schemas


def test_an_adopted_table_comes_back_from_where_it_is(lake: LosableLake, tmp_path: Path) -> None:
    adopted.ordinary(tmp_path / "elsewhere")
    with lake.connect() as found:
        found.create_schema("test")
        found.adopt(tmp_path / "elsewhere", "test.t")
    lake.lose()

    (table,) = lake.recover().tables

    assert (table.name, table.version) == ("test.t", 3)
    with lake.connect() as found:
        assert lost.append(lost.opened(found, "test.t"), "after") == 4


def test_an_adopted_table_that_nobody_knows_of_can_be_named(folder: LosableLake, tmp_path: Path) -> None:
    adopted.ordinary(tmp_path / "elsewhere")
    with folder.connect() as found:
        found.create_schema("test")
        found.adopt(tmp_path / "elsewhere", "test.t")
    folder.lose()
    (folder.warehouse / COPY_PATH).unlink()

    assert folder.recover().tables == ()
    (table,) = folder.recover(tables=[tmp_path / "elsewhere"]).tables

    assert (table.name, table.outcome) == ("test.t", RecoveryOutcome.REBUILT)


def test_a_copy_of_a_table_is_not_taken_for_it(folder: LosableLake, tmp_path: Path) -> None:
    fill(folder)
    with folder.connect() as found:
        place = Path(lost.opened(found, "a.one").location)
    shutil.copytree(place, folder.warehouse / "copied")

    done = folder.recover().tables

    (copied,) = (table for table in done if table.location.endswith("copied"))
    assert copied.outcome is RecoveryOutcome.LEFT
    assert "a.one" in copied.notes[0]


def test_a_recovery_that_was_interrupted_is_refused_until_it_is_run_again(folder: LosableLake) -> None:
    fill(folder)
    files = locate(str(folder.warehouse))
    copy = directory_copy.read_copy(files)
    assert copy is not None
    directory_copy.write_copy(files, DirectoryCopy(recovering=True, schemas=copy.schemas))

    with pytest.raises(CatalogLost, match="has begun and not ended"):
        folder.connect()
    folder.recover()

    folder.connect().close()


def test_a_gap_in_the_log_is_told(folder: LosableLake) -> None:
    fill(folder)
    with folder.connect() as found:
        log = Path(lost.opened(found, "b.three").location)
    (log / file_names.published_path(Version(1))).unlink()
    folder.lose()

    done = by_name(folder.recover())

    assert done["b.three"].version == 0
    assert any("missing" in note for note in done["b.three"].notes)
    (aside,) = (log / SET_ASIDE).iterdir()
    assert f"_set_aside/{aside.name}" in done["b.three"].notes[-1]
    with folder.connect() as found:  # version 2 of before is in nobody's way
        table = lost.opened(found, "b.three")
        assert lost.append(table, "first", "second", "third") == 3
        assert table.publish() == 3
        assert lost.files(table) == ["first", "second", "third"]


def test_a_checksum_of_a_lost_version_is_not_taken_for_that_of_the_next(folder: LosableLake) -> None:
    fill(folder)
    with folder.connect() as found:
        log = Path(lost.opened(found, "a.one").location)
    (log / file_names.checksum_path(Version(3))).write_text('{"tableSizeBytes":1}')
    folder.lose()

    done = by_name(folder.recover())

    assert not (log / file_names.checksum_path(Version(3))).exists()
    assert len(list((log / SET_ASIDE).iterdir())) == 1
    assert done["a.one"].version == 2


def test_a_new_lake_may_have_other_things_in_its_warehouse(folder: LosableLake) -> None:
    adopted.ordinary(folder.warehouse / "plain")
    (folder.warehouse / "notes").mkdir()

    folder.connect().close()

    assert folder.recover().tables == ()


def test_only_the_owner_recovers(folder: LosableLake) -> None:
    fill(folder)

    with headgate.connect(folder.target, principal="ann") as found, pytest.raises(NotAllowed, match="owner"):
        found.recover()


def test_versions_beyond_the_catalog_are_told_when_connecting(
    folder: LosableLake, caplog: pytest.LogCaptureFixture
) -> None:
    """There is no copy that could tell of a backup: only the log goes on."""
    with folder.connect() as found:
        lost.create_table(found._catalog, "a.one")
    backup = folder.folder / "backup"
    folder.back_up(backup)
    with folder.connect() as found:
        table = lost.opened(found, "a.one")
        lost.append(table, "x", "y")
        table.publish()
    folder.restore(backup)
    (folder.warehouse / COPY_PATH).unlink()

    with folder.connect() as found:
        assert "versions of a.one are published" in caplog.text
        (done,) = found.recover().tables
        assert (done.outcome, done.version) == (RecoveryOutcome.CAUGHT_UP, 2)
        assert lost.files(lost.opened(found, "a.one")) == ["x", "y"]


def test_connecting_does_not_look_at_every_table(
    folder: LosableLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    with folder.connect() as found:
        for number in range(30):
            lost.create_table(found._catalog, f"a.t{number}")
    looked: list[str] = []

    def counted(verb: str) -> None:
        real = getattr(LocalStore, verb)
        monkeypatch.setattr(
            LocalStore, verb, lambda self, *asked, **how: looked.append(verb) or real(self, *asked, **how)
        )

    for verb in ("read", "list_from", "folders", "head"):
        counted(verb)

    folder.connect().close()

    assert Counter(looked) == {"read": 1, "head": 8}


def test_a_recovered_name_that_is_unknown_is_no_table(folder: LosableLake) -> None:
    fill(folder)
    folder.lose()
    folder.recover()

    with folder.connect() as found, pytest.raises(TableNotFound):
        found.table("b.tree")


def test_a_warehouse_in_a_bucket_is_recovered_like_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with s3.server() as url:
        for key, value in {
            "AWS_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s",
        }.items():  # fmt: skip
            monkeypatch.setenv(key, value)
        warehouse = f"s3://{s3.make_bucket(url)}/a lake"
        with closing(in_bucket(tmp_path / "first.sqlite", warehouse)) as catalog:
            entry = lost.create_table(catalog, "a.one")
            table = tables.open_managed(catalog, entry.table_id, entry.location)
            for name in ("x", "y"):
                table.commit(tables.append_change(tables.named_file(name)), base=table.newest_known())
            table.publish()
            catalog.copies.write_now()

        with closing(in_bucket(tmp_path / "second.sqlite", warehouse)) as catalog:
            with pytest.raises(CatalogLost):
                lake_recovery.require_intact(catalog, "lake")
            (done,) = lake_recovery.recover_catalog(catalog).tables
            lake_recovery.require_intact(catalog, "lake")
            found = catalog.resolve(entry.name)
            again = tables.open_managed(catalog, found.table_id, found.location)
            assert (done.name, done.version, again.snapshot().version) == ("a.one", 2, 2)


def in_bucket(database: Path, warehouse: str) -> Catalog:
    return Catalog(open_sqlite(database), warehouse=warehouse, locate=locate, world=SystemWorld())
