"""What becomes of names, drops and purges while tables are on their way into the catalog or out of it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headgate
from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.groups import GroupId, GroupProposal, GroupRatified
from headgate.catalog.ports.handover import Transfer
from headgate.catalog.store import name_store
from headgate.errors import HeadgateError, NotAllowed, SchemaNotFound, TableExists, TableFrozen, TableNotFound
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.storage import locations
from headgate.storage.locate import locate
from headgate.table.alter import adoption
from headgate.table.maintenance import purge
from tests.support import adopted, tables
from tests.support.adopted import NAME
from tests.support.proposals import inline

OTHER = TableName("test", "other")


@pytest.fixture
def catalog(catalog: Catalog) -> Catalog:
    return adopted.ready(catalog)


def nameless(catalog: Catalog, folder: Path) -> tuple[Catalog, Transfer]:
    """A table whose decisive commit came so late that its name is that of another; what came, and later."""
    adopted.ordinary(folder)
    place = locations.canonical(str(folder))
    claimed = catalog.adoptions.claim(NAME, place, Version(2), "ann")
    later = adopted.later(catalog)
    tables.create_managed(later, NAME)
    store = locate(place)
    content = adoption._adoption_commit(
        adopted.registry(catalog), store, adoption._load_base(store, place), claimed
    )
    store.put_if_absent(file_names.published_path(claimed.target), content)
    return later, claimed


def adopt(catalog: Catalog, folder: Path, name: TableName, proposer: str) -> TableEntry:
    place = locations.canonical(str(folder))
    return adoption.adopt(adopted.registry(catalog, proposer), locate(place), place, name)


def test_who_has_a_name_is_not_bothered_by_a_table_that_comes_late_for_it(
    catalog: Catalog, tmp_path: Path
) -> None:
    """T17: a promise that ran out keeps nobody from the name, even if it is kept after all."""
    later, claimed = nameless(catalog, tmp_path / "t")

    entry = later.resolve(NAME)

    assert entry.table_id != claimed.table_id
    assert later.load(NAME).entry == later.resolve_all([NAME])[0] == later.pin([NAME]).entries[0] == entry
    assert adopted.append(adopted.managed(later, entry), "mine.parquet") == 1
    later.drop(NAME)
    assert later.resolve(NAME).table_id == claimed.table_id


def test_who_has_a_name_does_not_hear_of_a_broken_log_of_another(here: Catalog, tmp_path: Path) -> None:
    adopted.ordinary(tmp_path / "t")
    here.adoptions.claim(NAME, locations.canonical(str(tmp_path / "t")), Version(2), "ann")
    (tmp_path / "t" / file_names.published_path(Version(3))).write_text("no JSON")
    later = adopted.later(here)
    staging = tables.create_managed(later, NAME)

    assert later.resolve(NAME).table_id == later.load(NAME).entry.table_id == staging.table_id


def test_a_table_that_lost_its_name_gets_another_from_who_may_give_it(
    catalog: Catalog, tmp_path: Path
) -> None:
    """T17: as if it were adopted by that name, so not in a schema that is not there, nor by just anybody."""
    folder = tmp_path / "t"
    later, claimed = nameless(catalog, folder)
    adopted.ordinary(tmp_path / "third")
    third = locations.canonical(str(tmp_path / "third"))
    later.adoptions.claim(TableName("test", "third"), third, Version(2), "bob")

    with pytest.raises(SchemaNotFound, match="create_schema"):
        adopt(later, folder, TableName("nowhere", "t"), "ann")
    with pytest.raises(NotAllowed, match=r"eve may not adopt a table as test\.other"):
        adopt(later, folder, OTHER, "eve")
    with pytest.raises(NotAllowed, match="'bob' is adopting"):
        adopt(later, folder, TableName("test", "third"), "ann")
    assert adopt(later, folder, OTHER, "ann").table_id == claimed.table_id


def leaving(catalog: Catalog, folder: Path) -> tuple[TableEntry, Transfer]:
    """A table that its catalog has let go, by somebody who is never heard of again."""
    adopted.ordinary(folder)
    entry = adopted.adopt(catalog, folder)
    frozen = catalog.releases.freeze(entry.table_id, "ann")
    catalog.releases.begin_release(frozen)
    return entry, frozen


def test_no_version_of_a_table_that_was_dropped_while_it_left_goes_unrecorded(
    catalog: Catalog, tmp_path: Path
) -> None:
    """Else the next commit would become a version that the log has already, and never be published."""
    entry, frozen = leaving(catalog, tmp_path / "t")
    catalog.drop(NAME)
    later = adopted.later(catalog)

    assert adoption.resume_transfers(adopted.registry(later, "bob")) == {"test.t": "open"}
    assert not (tmp_path / "t" / file_names.published_path(frozen.target)).exists()
    later.undrop(NAME)

    tail = later.tail(entry.table_id)
    assert (tail.latest, tail.published) == (frozen.target, frozen.target)
    assert adopted.append(adopted.managed(later, entry), "after.parquet") == frozen.target + 1
    assert later.adoptions.under_way() == ()


def give_back(catalog: Catalog, entry: TableEntry, frozen: Transfer) -> list[str]:
    """The last step of a release, of which the catalog is not told, and a commit by path; the files then."""
    state = tables.open_managed(catalog, entry.table_id, entry.location).snapshot().state
    last = adoption._release_commit(adopted.registry(catalog), state, frozen, keep_timestamps=True)
    locate(entry.location).put_if_absent(file_names.published_path(frozen.target), last)
    ordinary = tables.open_filesystem(entry.location)
    adopted.append(ordinary, "theirs.parquet")
    return adopted.files(ordinary)


def made_and_leaving(catalog: Catalog) -> tuple[TableEntry, Transfer]:
    tables.create_managed(catalog, NAME)
    entry = catalog.resolve(NAME)
    frozen = catalog.releases.freeze(entry.table_id, "ann")
    catalog.releases.begin_release(frozen)
    return entry, frozen


def test_what_has_left_is_not_dropped_though_the_catalog_was_not_told(catalog: Catalog) -> None:
    """I7: a drop, and a purge after it, would delete the files of a table that others have by now."""
    entry, frozen = made_and_leaving(catalog)
    files = give_back(catalog, entry, frozen)

    with pytest.raises(TableNotFound):
        catalog.drop(NAME)

    assert catalog.dropped() == catalog.tables() == ()
    assert adopted.files(tables.open_filesystem(entry.location)) == files


def test_what_leaves_after_it_was_dropped_is_not_purged(catalog: Catalog) -> None:
    """I7: nor while it may leave at any moment."""
    entry, frozen = made_and_leaving(catalog)
    catalog.drop(NAME)

    for catalog_then in (catalog, adopted.later(catalog)):
        with pytest.raises(NotAllowed, match="'ann' is giving it back"):
            purge.purge(catalog_then, NAME, None, files=locate)
    catalog.undrop(NAME)
    files = give_back(catalog, entry, frozen)
    with catalog._database.writing() as db:
        name_store.make_dropped(db, entry.table_id, 1)
    with pytest.raises(TableNotFound, match="given back"):
        purge.purge(catalog, NAME, None, files=locate)

    assert adopted.files(tables.open_filesystem(entry.location)) == files


def test_a_withdrawal_that_a_drop_overtakes_is_recorded_once_the_table_is_back(
    catalog: Catalog, tmp_path: Path
) -> None:
    entry, frozen = leaving(catalog, tmp_path / "t")
    later = adopted.later(catalog)
    withdrawal = later.releases._withdrawal(frozen)
    assert withdrawal is not None
    catalog.drop(NAME)
    locate(entry.location).put_if_absent(file_names.published_path(frozen.target), withdrawal)
    adoption.resume_transfers(adopted.registry(later, "bob"))

    later.undrop(NAME)

    assert later.tail(entry.table_id).latest == frozen.target


def test_a_table_that_left_long_ago_is_not_taken_back(catalog: Catalog, tmp_path: Path) -> None:
    """Its last commit here was cleaned up before anybody asked; what others committed since counts."""
    folder = tmp_path / "t"
    entry, frozen = leaving(catalog, folder)
    state = adopted.managed(catalog, entry).snapshot().state
    last = adoption._release_commit(adopted.registry(catalog), state, frozen, keep_timestamps=True)
    locate(str(folder)).put_if_absent(file_names.published_path(frozen.target), last)
    ordinary = tables.open_filesystem(str(folder))
    adopted.append(ordinary, "theirs.parquet")
    ordinary.checkpoint()
    for version in range(frozen.target + 1):
        locate(str(folder)).delete(file_names.published_path(Version(version)))

    with pytest.raises(TableNotFound, match="given back"):
        adopted.managed(adopted.later(catalog), entry).snapshot()

    assert not (folder / file_names.published_path(frozen.target)).exists()
    assert catalog.tables() == ()
    assert "theirs.parquet" in adopted.files(tables.open_filesystem(str(folder)))


@pytest.mark.parametrize("made_here", [True, False])
def test_a_table_of_the_lake_is_known_again_by_its_place(
    catalog: Catalog, tmp_path: Path, made_here: bool
) -> None:
    """It is no other catalog's, whether it was made here, so that its log names no id, or adopted."""
    if made_here:
        folder = Path(tables.create_managed(catalog, NAME).location)
    else:
        adopted.ordinary(folder := tmp_path / "t")
        adopted.adopt(catalog, folder)
    entry = catalog.resolve(NAME)

    assert adopted.adopt(catalog, folder) == entry
    with pytest.raises(TableExists, match=r"is test\.t of this lake already"):
        adopted.adopt(catalog, folder, OTHER)
    catalog.drop(NAME)
    for name in (NAME, OTHER):
        with pytest.raises(
            TableExists, match=rf"was dropped: .*undrop\('test\.t', table_id='{entry.table_id}'"
        ):
            adopted.adopt(catalog, folder, name)


@pytest.mark.parametrize(
    ("folder", "name", "code"),
    [
        ("live/part", "test.new", "HEADGATE_LOCATION_OVERLAP"),
        (".", "test.new", "HEADGATE_LOCATION_OVERLAP"),
        ("loose", "test.t", "DELTA_TABLE_ALREADY_EXISTS"),
        ("loose", "nowhere.t", "SCHEMA_NOT_FOUND"),
        ("loose", "test.no name", "DELTA_ILLEGAL_OPTION"),
        ("loose", "no name", "DELTA_ILLEGAL_OPTION"),
    ],
)
def test_what_cannot_be_adopted_is_not_converted_either(
    tmp_path: Path, folder: str, name: str, code: str
) -> None:
    """Else the log of a table that nobody wanted would name, and its VACUUM delete, files of another."""
    root = tmp_path / "data"
    adopted.ordinary(root / "live")
    for place in ("live/part", "loose"):
        (root / place).mkdir()
        pq.write_table(pa.table({"id": [1]}), root / place / "1.parquet")
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("test")
        lake.adopt(root / "live", "test.t")

        with pytest.raises(HeadgateError) as refused:
            lake.convert(root / folder, name)

        assert refused.value.code == code
        assert not (root / folder / "_delta_log").exists()


def test_who_may_not_adopt_a_folder_does_not_convert_it(tmp_path: Path) -> None:
    (folder := tmp_path / "loose").mkdir()
    pq.write_table(pa.table({"id": [1]}), folder / "1.parquet")
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("test")
    with (
        headgate.connect(tmp_path / "lake", principal="eve") as lake,
        pytest.raises(SchemaNotFound, match="no schema 'test'"),
    ):
        lake.convert(folder, "test.t")

    assert not (folder / "_delta_log").exists()


def test_who_freezes_a_table_and_dies_does_not_keep_it_from_transactions_over_several(
    catalog: Catalog,
) -> None:
    """The first refusal finds out that nobody is leaving any more; the commit loop tries again by itself."""
    ids = [tables.create_managed(catalog, name).table_id for name in (NAME, OTHER)]
    catalog.releases.freeze(ids[0], "ann")
    group = GroupProposal(GroupId("both"), tuple(inline(table_id, 1, f"t-{table_id}") for table_id in ids))
    with pytest.raises(TableFrozen):
        catalog.propose_group(group)
    later = adopted.later(catalog)

    with pytest.raises(TableFrozen):
        later.propose_group(group)

    assert later.propose_group(group) == GroupRatified(dict.fromkeys(ids, Version(1)))
