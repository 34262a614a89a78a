"""A table comes into the catalog and leaves it: one commit decides, and the catalog agrees with it (T17)."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.access import Principal, Privilege
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.handover import AdoptionStatus, Transfer
from headgate.catalog.store import grant_store
from headgate.clock import SystemWorld
from headgate.errors import (
    ConcurrentWrite,
    InvalidRequest,
    NotAllowed,
    SchemaNotFound,
    TableExists,
    TableNotFound,
    UnsupportedFeature,
)
from headgate.protocol.actions import Version
from headgate.protocol.log import codec, file_names
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION
from headgate.storage import locations
from headgate.storage.locate import locate
from headgate.table.alter import adoption
from tests.support import adopted, s3, tables
from tests.support.adopted import NAME
from tests.support.catalogs import DATABASE_KINDS
from tests.support.waiting import PATIENCE_SECONDS

OTHER = TableName("test", "other")


CATALOGS = DATABASE_KINDS


@pytest.fixture
def catalog(catalog: Catalog) -> Catalog:
    return adopted.ready(catalog)


def claim(catalog: Catalog, folder: Path, name: TableName = NAME, proposer: str = "ann") -> Transfer:
    """The first step alone, as somebody takes it who is never heard of again."""
    place = locations.canonical(str(folder))
    version = tables.open_filesystem(place).snapshot().version
    return catalog.adoptions.claim(name, place, version, proposer)


def put(catalog: Catalog, folder: Path, claimed: Transfer) -> None:
    """The second step alone."""
    store = locate(str(folder))
    base = adoption._load_base(store, str(folder))
    store.put_if_absent(
        file_names.published_path(claimed.target),
        adoption._adoption_commit(adopted.registry(catalog), store, base, claimed),
    )


def test_an_adopted_table_has_its_past_and_goes_on(catalog: Catalog, tmp_path: Path) -> None:
    """S106: semantics 2.9, step by step."""
    adopted.ordinary(tmp_path / "t", appends=3).checkpoint()
    entry = adopted.adopt(catalog, tmp_path / "t")
    table = adopted.managed(catalog, entry)

    assert entry == catalog.resolve(NAME)
    assert adopted.append(table, "after.parquet") == 5
    assert adopted.files(table) == [
        "after.parquet", "before-0.parquet", "before-1.parquet", "before-2.parquet",
    ]  # fmt: skip
    assert [found.version for found in table.history()] == [5, 4, 3, 2, 1, 0]
    assert table.snapshot(version=2).version == 2
    assert table.checkpoint() == 5
    assert catalog.adoptions.under_way() == ()


def test_the_commit_that_decides_says_what_the_protocol_demands(here: Catalog, tmp_path: Path) -> None:
    """S103, E2, E3, I8: and it is a published file, whose id is that of the catalog."""
    adopted.ordinary(tmp_path / "t")
    before = locate(str(tmp_path / "t")).head(file_names.published_path(Version(2))).modified_ms
    entry = adopted.adopt(here, tmp_path / "t")

    commit = codec.decode(Version(3), locate(entry.location).read(file_names.published_path(Version(3))))
    assert commit.protocol is not None and commit.metadata is not None and commit.info is not None
    assert commit.protocol.reader_features == ("catalogManaged", "vacuumProtocolCheck")
    assert {"catalogManaged", "inCommitTimestamp"} <= set(commit.protocol.writer_features or ())
    configuration = commit.metadata.configuration
    assert configuration["io.unitycatalog.tableId"] == entry.table_id
    assert configuration[ENABLEMENT_VERSION] == "3"
    assert configuration[ENABLEMENT_TIMESTAMP] == str(commit.info.in_commit_timestamp)
    assert (commit.info.in_commit_timestamp or 0) > before
    assert commit.info.txn_id
    tail = here.tail(entry.table_id)
    assert (tail.latest, tail.published, tail.commits) == (3, 3, ())


def test_a_moment_before_the_adoption_is_told_by_files_and_one_after_it_by_commits(
    here: Catalog, tmp_path: Path
) -> None:
    """I8: the boundary is the commit that decides."""
    adopted.ordinary(tmp_path / "t")
    for version in range(3):  # which may have been written within a millisecond
        os.utime(tmp_path / "t" / file_names.published_path(Version(version)), (version + 1, version + 1))
    table = adopted.managed(here, adopted.adopt(here, tmp_path / "t"))
    adopted.append(table, "after.parquet")
    times = {found.version: found.timestamp for found in table.history()}

    assert sorted(times.values()) == [times[Version(version)] for version in range(5)]
    for version in (1, 2, 3, 4):
        assert table.snapshot(timestamp=times[Version(version)]).version == version


def test_a_table_whose_log_was_cleaned_up_is_adopted(here: Catalog, tmp_path: Path) -> None:
    ordinary = adopted.ordinary(tmp_path / "t", appends=3)
    ordinary.checkpoint()
    for version in range(4):
        locate(ordinary.location).delete(file_names.published_path(Version(version)))

    table = adopted.managed(here, adopted.adopt(here, tmp_path / "t"))

    assert adopted.append(table, "after.parquet") == 5
    assert len(adopted.files(table)) == 4


def test_adopting_again_is_the_same_table(catalog: Catalog, tmp_path: Path) -> None:
    adopted.ordinary(tmp_path / "t")
    entry = adopted.adopt(catalog, tmp_path / "t")

    assert adopted.adopt(catalog, f"{tmp_path}/./t/").table_id == entry.table_id
    with pytest.raises(TableExists, match=r"is test\.t of this lake already"):
        adopted.adopt(catalog, tmp_path / "t", OTHER)


@pytest.mark.parametrize("how", ["resolve", "pin", "adopt", "resume", "another name"])
def test_who_dies_after_the_decisive_commit_has_given_the_table_to_the_catalog(
    catalog: Catalog, tmp_path: Path, how: str
) -> None:
    """Whoever comes next finishes it, though the promise has run out."""
    adopted.ordinary(tmp_path / "t")
    claimed = claim(catalog, tmp_path / "t")
    put(catalog, tmp_path / "t", claimed)
    survivor, name = adopted.later(catalog), NAME

    match how:
        case "pin":
            assert survivor.pin([NAME]).entries[0].table_id == claimed.table_id
        case "adopt":
            adopted.adopt(survivor, tmp_path / "t", proposer="bob")
        case "resume":
            assert adoption.resume_transfers(adopted.registry(survivor, "bob")) == {"test.t": "adopted"}
        case "another name":
            name = OTHER
            tables.create_managed(survivor, NAME)
            with pytest.raises(TableExists, match="given away meanwhile"):
                adopted.adopt(survivor, tmp_path / "t", NAME)
            assert adoption.resume_transfers(adopted.registry(survivor, "bob")) == {"test.t": "open"}
            adopted.adopt(survivor, tmp_path / "t", OTHER)
    entry = survivor.resolve(name)

    assert entry.table_id == claimed.table_id
    assert adopted.append(adopted.managed(catalog, entry), "after.parquet") == 4


@pytest.mark.parametrize("how", ["resume", "resolve", "adopt"])
def test_who_dies_before_it_and_was_overtaken_has_done_nothing(
    catalog: Catalog, tmp_path: Path, how: str
) -> None:
    ordinary = adopted.ordinary(tmp_path / "t")
    claimed = claim(catalog, tmp_path / "t")
    assert catalog.adoptions.settle(claimed.table_id) is AdoptionStatus.OPEN
    adopted.append(ordinary, "faster.parquet")

    match how:
        case "resume":
            assert adoption.resume_transfers(adopted.registry(catalog, "bob")) == {"test.t": "abandoned"}
        case "resolve":
            with pytest.raises(TableNotFound):
                catalog.resolve(NAME)
        case "adopt":
            adopted.adopt(catalog, tmp_path / "t", proposer="bob")

    assert catalog.adoptions.under_way() == ()
    assert (how == "adopt") == bool(catalog.tables())
    assert adopted.adopt(catalog, tmp_path / "t").table_id != claimed.table_id


def test_a_promise_whose_version_was_cleaned_up_is_forgotten(here: Catalog, tmp_path: Path) -> None:
    ordinary = adopted.ordinary(tmp_path / "t")
    claimed = claim(here, tmp_path / "t")
    for row in range(2):
        adopted.append(ordinary, f"faster-{row}.parquet")
    ordinary.checkpoint()
    locate(ordinary.location).delete(file_names.published_path(claimed.target))

    assert here.adoptions.settle(claimed.table_id) is AdoptionStatus.ABANDONED


def test_the_name_is_kept_for_a_table_that_may_come(catalog: Catalog, tmp_path: Path) -> None:
    adopted.ordinary(tmp_path / "t")
    staged = catalog.stage(NAME)
    claim(catalog, tmp_path / "t")

    for take in (lambda: catalog.stage(NAME), lambda: claim(catalog, tmp_path / "t", proposer="bob")):
        with pytest.raises((TableExists, NotAllowed)):
            take()
    tables.create.write_version_0(
        locate(staged.location), tables.TableDefinition(tables.SCHEMA), managed=True, world=SystemWorld()
    )
    with pytest.raises(TableExists):
        catalog.register(staged, NAME)
    adopted.later(catalog).register(staged, NAME)


def test_nobody_takes_a_table_that_another_is_adopting(catalog: Catalog, tmp_path: Path) -> None:
    """T17: until the promise runs out, by any name, and whether he asks for the folder or one in it."""
    adopted.ordinary(tmp_path / "t")
    adopted.ordinary(tmp_path / "t" / "inner")
    claim(catalog, tmp_path / "t")

    for folder in (tmp_path / "t", tmp_path / "t" / "inner"):
        with pytest.raises(NotAllowed, match="'ann' is adopting") as refused:
            adopted.adopt(catalog, folder, OTHER, proposer="mallory")
        assert refused.value.code == "HEADGATE_ALREADY_CLAIMED"
    entry = adopted.adopt(adopted.later(catalog), tmp_path / "t", OTHER, proposer="bob")

    assert entry == catalog.resolve(OTHER)
    assert adoption.resume_transfers(adopted.registry(catalog)) == {"test.t": "abandoned"}


def test_who_waited_too_long_gets_neither_name_nor_place_from_who_has_them_now(
    catalog: Catalog, tmp_path: Path
) -> None:
    """T17: else his table could come and find its name taken."""
    for folder in ("mine", "theirs"):
        adopted.ordinary(tmp_path / folder)
    claim(catalog, tmp_path / "mine")
    now = adopted.later(catalog)
    claim(now, tmp_path / "theirs", proposer="bob")

    with pytest.raises(NotAllowed, match="'bob' is adopting"):
        adopted.adopt(now, tmp_path / "mine")
    assert adopted.adopt(now, tmp_path / "theirs", proposer="bob") == now.resolve(NAME)
    assert adopted.adopt(now, tmp_path / "mine", OTHER) == now.resolve(OTHER)


def test_a_late_file_decides_as_well_as_one_in_time(catalog: Catalog, tmp_path: Path) -> None:
    """T17: the promise ran out and another was made; the log says who has the table."""
    adopted.ordinary(tmp_path / "t")
    first = claim(catalog, tmp_path / "t")
    second = claim(adopted.later(catalog), tmp_path / "t", OTHER, "bob")
    put(catalog, tmp_path / "t", first)

    with pytest.raises(TableNotFound):
        catalog.resolve(OTHER)
    assert catalog.resolve(NAME).table_id == first.table_id != second.table_id
    assert catalog.adoptions.under_way() == ()


@pytest.mark.parametrize("same_lake", [True, False])
def test_of_many_claimants_exactly_one_wins(catalog: Catalog, tmp_path: Path, same_lake: bool) -> None:
    """T17: by different names, in one lake or in different ones; the losers know that they lost."""
    claimants = 4
    lakes = [catalog if same_lake else open_catalog(tmp_path / f"lake-{n}") for n in range(claimants)]
    for lake in lakes:
        adopted.welcome(lake)
    for number in range(3):
        folder = tmp_path / f"t-{number}"
        adopted.ordinary(folder)
        start = threading.Barrier(claimants)

        def run(number: int, folder: Path = folder, start: threading.Barrier = start) -> str:
            start.wait()
            try:
                name = TableName("test", f"{folder.name.replace('-', '_')}_{number}")
                adopted.adopt(lakes[number], folder, name, proposer=f"claimant-{number}")
            except (ConcurrentWrite, NotAllowed, TableExists, InvalidRequest) as exc:
                return str(exc)
            return "won"

        with ThreadPoolExecutor(claimants) as pool:
            won = list(pool.map(run, range(claimants)))

        assert won.count("won") == 1, won
        lake = lakes[won.index("won")]
        (entry,) = [found for found in lake.tables() if found.location == str(folder)]
        assert adopted.append(adopted.managed(lake, entry), "after.parquet") == 4
        assert not lake.adoptions.under_way()
    for other in lakes:
        if other is not catalog:
            other.close()


def test_one_who_asks_twice_at_once_is_no_rival_of_himself(catalog: Catalog, tmp_path: Path) -> None:
    adopted.ordinary(tmp_path / "t")

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: adopted.adopt(catalog, tmp_path / "t").table_id, range(4)))

    assert len(set(found)) == 1


def test_whoever_commits_meanwhile_wins(catalog: Catalog, tmp_path: Path) -> None:
    """K11: the adoption is not tried again by itself, and nothing is left of it."""
    ordinary = adopted.ordinary(tmp_path / "t")

    class Faster(type(locate("."))):  # type: ignore[misc]  # the local store, whoever makes it
        def put_if_absent(self, path: str, data: bytes) -> None:
            if path == file_names.published_path(Version(3)) and ordinary.newest_known().version == 2:
                adopted.append(ordinary, "faster.parquet")
            super().put_if_absent(path, data)

    with pytest.raises(ConcurrentWrite, match="nothing happened"):
        adopted.adopt(catalog, tmp_path / "t", store=Faster(str(tmp_path / "t")))

    assert catalog.adoptions.under_way() == () == catalog.tables()
    assert adopted.append(ordinary, "after.parquet") == 4
    assert adopted.adopt(catalog, tmp_path / "t") == catalog.resolve(NAME)


def test_a_writer_of_ours_in_flight_is_told_where_to_write(here: Catalog, tmp_path: Path) -> None:
    """W9, W11, P17, S118: it hits the decisive commit, and then sees what it means."""
    adopted.ordinary(tmp_path / "t")
    in_flight = tables.open_filesystem(str(tmp_path / "t"))
    base = in_flight.snapshot()
    table = adopted.managed(here, adopted.adopt(here, tmp_path / "t"))
    adopted.append(table, "through the catalog.parquet")

    with pytest.raises(InvalidRequest, match="open the table by name") as refused:
        in_flight.commit(tables.append_change(tables.named_file("stray")), base=base)
    assert refused.value.code == "DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED"
    with pytest.raises(InvalidRequest, match="managed by a catalog"):
        in_flight.snapshot()
    assert "stray" not in adopted.files(table)


@pytest.mark.parametrize("writer", ["headgate", "deltalake"])
def test_what_real_writers_were_told_is_true_while_the_table_is_adopted(
    catalog: Catalog, tmp_path: Path, writer: str
) -> None:
    """Every append that was acknowledged is in the table once; after the adoption none is."""
    folder = tmp_path / "t"
    adopted.ordinary(folder)
    told: list[int] = []
    begun, adopted_now = threading.Event(), threading.Event()

    def write() -> None:
        table = tables.open_filesystem(str(folder))
        for number in range(1000, 1200):
            late = adopted_now.is_set()
            try:
                if writer == "headgate":
                    adopted.append(table, f"{number}.parquet", number)
                else:
                    rows = pa.table({"id": pa.array([number], pa.int64()), "writer": ["d"]})
                    write_deltalake(str(folder), rows, mode="append")
            except Exception:
                return
            assert not late, "a commit went past the catalog"
            told.append(number)
            if len(told) == 3:
                begun.set()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(write)
        assert begun.wait(PATIENCE_SECONDS)
        entry = None
        while entry is None:
            try:
                entry = adopted.adopt(catalog, folder)
            except ConcurrentWrite:
                continue
        adopted_now.set()
        running.result(PATIENCE_SECONDS)

    table = adopted.managed(catalog, entry)
    live = sorted(row for file in adopted.files(table) for row in _ids(folder / file))
    assert live == sorted([0, 1, *told])
    latest = table.snapshot().version
    assert adopted.append(table, "after.parquet") == latest + 1


def _ids(file: Path) -> list[int]:
    found: list[int] = pa.parquet.read_table(file)["id"].to_pylist()
    return found


@pytest.mark.parametrize(
    "spelling",
    [
        "{0}",
        "{0}/",
        "{0}//",
        "{0}/../t",
        "file://{0}",
        "file://{0}/%2e/",
        "{0}/inner",
        "{0}/..",
        "{1}",
        "{1}/inner",
    ],
)
def test_no_two_tables_share_a_place_however_it_is_spelled(
    here: Catalog, tmp_path: Path, spelling: str
) -> None:
    """T17: the same folder, one in it, one around it, a link to it."""
    folder, link = tmp_path / "place" / "t", tmp_path / "link"
    adopted.ordinary(folder)
    adopted.adopt(here, folder)
    here.drop(NAME)
    link.symlink_to(folder)

    with pytest.raises(TableExists, match="overlaps with") as refused:
        here.adoptions.claim(OTHER, locations.canonical(spelling.format(folder, link)), Version(2), "ann")

    assert refused.value.code == "HEADGATE_LOCATION_OVERLAP"
    assert here.adoptions.under_way() == ()


def test_a_link_to_a_table_is_not_another_table(here: Catalog, tmp_path: Path) -> None:
    adopted.ordinary(tmp_path / "t")
    (tmp_path / "link").symlink_to(tmp_path / "t")

    assert adopted.adopt(here, tmp_path / "link").location == str(tmp_path / "t")


def test_a_folder_beside_another_with_a_longer_name_is_no_overlap(here: Catalog, tmp_path: Path) -> None:
    for name in ("a", "a_b", "A"):
        adopted.ordinary(tmp_path / name)
        adopted.adopt(here, tmp_path / name, TableName("test", f"t_{len(here.tables())}"))

    assert len(here.tables()) == 3


def test_the_warehouse_is_no_table_and_a_table_of_the_lake_no_place(here: Catalog, tmp_path: Path) -> None:
    staging = tables.create_managed(here, OTHER)
    for folder in (tmp_path / "lake" / "warehouse", tmp_path, Path(staging.location) / "inner"):
        adopted.ordinary(folder)
        with pytest.raises((InvalidRequest, TableExists), match=r"warehouse|overlaps"):
            adopted.adopt(here, folder)


def test_a_lake_that_is_moved_has_what_lies_in_it_and_what_does_not(tmp_path: Path) -> None:
    inside, outside = tmp_path / "lake" / "warehouse" / "by hand", tmp_path / "outside"
    with closing(open_catalog(tmp_path / "lake")) as catalog:
        adopted.welcome(catalog)
        for folder, name in ((inside, NAME), (outside, OTHER)):
            adopted.ordinary(folder)
            adopted.adopt(catalog, folder, name)
    (tmp_path / "lake").rename(tmp_path / "moved")

    with closing(open_catalog(tmp_path / "moved")) as catalog:
        found = [catalog.resolve(name).location for name in (NAME, OTHER)]
        assert found == [str(tmp_path / "moved" / "warehouse" / "by hand"), str(outside)]
        for name in (NAME, OTHER):
            table = adopted.managed(catalog, catalog.resolve(name))
            assert adopted.append(table, "after.parquet") == 4
            assert table.publish() == 4


def test_what_cannot_be_adopted_is_refused_before_anything_is_promised(here: Catalog, tmp_path: Path) -> None:
    with pytest.raises(TableNotFound, match="convert=True"):
        adopted.adopt(here, tmp_path / "nothing")
    (tmp_path / "nothing").rmdir() if (tmp_path / "nothing").exists() else None
    adopted.ordinary(tmp_path / "t")
    with pytest.raises(SchemaNotFound):
        adoption.adopt(
            adopted.registry(here), locate(str(tmp_path / "t")), str(tmp_path / "t"), TableName("no", "t")
        )
    with pytest.raises(InvalidRequest, match="is not a name"):
        adoption.adopt(
            adopted.registry(here), locate(str(tmp_path / "t")), str(tmp_path / "t"), TableName("test", "1")
        )
    tables.create_managed(here, NAME)
    with pytest.raises(TableExists):
        adopted.adopt(here, tmp_path / "t", TableName("TEST", "T"))

    assert here.adoptions.under_way() == ()


def test_a_table_that_headgate_cannot_write_is_refused(here: Catalog, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    adopted.ordinary(folder)
    zero = folder / file_names.published_path(Version(0))
    zero.write_text(
        zero.read_text().replace(
            '"minWriterVersion":2', '"minWriterVersion":7,"writerFeatures":["fromTheFuture"]'
        )
    )

    with pytest.raises(UnsupportedFeature, match="fromTheFuture"):
        adopted.adopt(here, folder)
    assert not (folder / file_names.STAGED_FOLDER).exists()


def test_to_adopt_takes_the_right_to_make_tables_and_to_release_the_right_to_drop_them(
    catalog: Catalog, tmp_path: Path
) -> None:
    adopted.ordinary(tmp_path / "t")

    with pytest.raises(NotAllowed, match=r"eve may not adopt a table as test\.t"):
        adopted.adopt(catalog, tmp_path / "t", proposer="eve")
    assert catalog.adoptions.under_way() == ()
    entry = adopted.adopt(catalog, tmp_path / "t", proposer="ann")
    with pytest.raises(NotAllowed, match=r"eve may not release the table test\.t"):
        adopted.release(catalog, entry, proposer="eve")
    assert catalog.adoptions.under_way() == ()
    assert adopted.append(adopted.managed(catalog, entry), "after.parquet") == 4
    with catalog._database.reading() as db:
        assert grant_store.table_privileges(db, Principal("ann"), entry.table_id) == frozenset(Privilege)


def test_nobody_names_the_table_of_another(catalog: Catalog, tmp_path: Path) -> None:
    """T17: who finishes an adoption does so for who began it."""
    adopted.ordinary(tmp_path / "t")
    put(catalog, tmp_path / "t", claim(catalog, tmp_path / "t"))

    with pytest.raises(TableExists, match=r"is test\.t of this lake already"):
        adopted.adopt(catalog, tmp_path / "t", OTHER, proposer="mallory")

    assert [found.name for found in catalog.tables()] == [NAME]


def test_a_table_in_a_bucket_comes_and_goes_however_its_url_is_spelled(
    here: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    with s3.server() as url:
        for key, value in {
            "AWS_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s",
        }.items():  # fmt: skip
            monkeypatch.setenv(key, value)
        place = f"s3://{s3.make_bucket(url)}/a%20b/t"
        ordinary = tables.open_filesystem(place)
        tables.create_filesystem(locate(place))
        ordinary.commit(tables.append_change(tables.named_file("1")), base=ordinary.snapshot())

        entry = adopted.adopt(here, place.replace("s3:", "s3a:") + "/")
        table = adopted.managed(here, entry)
        assert table.commit(tables.append_change(tables.named_file("2")), base=table.snapshot()) == 3
        assert entry.location == place
        assert adopted.adopt(here, place.replace("%20", " ")).table_id == entry.table_id
        for other in (place.replace("a%20b", "%61%20b"), f"{place}/inner", place.rpartition("/")[0]):
            with pytest.raises((TableExists, NotAllowed)):
                here.adoptions.claim(OTHER, locations.canonical(other), Version(0), "bob")
        assert adopted.release(here, entry) == 4
        assert adopted.files(tables.open_filesystem(place)) == ["1", "2"]
