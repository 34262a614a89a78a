"""Committing through a catalog: what is left where, and what happens when one of the two does not answer."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from pyspark.sql.types import LongType, StructField, StructType
from typing_extensions import override

from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import (
    CommitCatalog,
    Lost,
    Proposal,
    Ratified,
    RatifiedCommit,
    StagedCommit,
    Unknown,
)
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName
from headgate.clock import SystemWorld
from headgate.errors import (
    CatalogUnavailable,
    ConflictError,
    HeadgateError,
    InvalidRequest,
    Retry,
    StorageUnavailable,
    TableNotFound,
)
from headgate.lake.lake import Lake
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.settings import Settings
from headgate.storage.locate import locate
from headgate.table.alter import set_properties
from headgate.table.opened_table import OpenedTable
from headgate.table.read import log_reader
from tests.support.faulty_store import FaultyStore
from tests.support.proposals import staged
from tests.support.routes import CountingWorld
from tests.support.simulated_catalog import RemoteCatalog
from tests.support.tables import NAME, append_change, create_managed, named_file, open_managed
from tests.support.versions import INLINE, STAGED, Managed, managed, paths

Answer = TypeVar("Answer")
BOTH = pytest.mark.parametrize("settings", [INLINE, STAGED], ids=["inline", "staged"])
WRITERS = COMMITS = 11


@dataclass
class Cut:
    """A wire that carries no call whose name has the word, until it is mended."""

    word: str
    refused: int = 0
    mended: bool = False

    def call(
        self,
        name: str,
        perform: Callable[[], Answer],
        *,
        unanswered: Callable[[bool], Answer],
        writes: bool,
    ) -> Answer:
        if self.word in name and not self.mended:
            self.refused += 1
            return unanswered(True)
        return perform()


def reopened(found: Managed, catalog: CommitCatalog, settings: Settings, **rest: object) -> OpenedTable:
    return open_managed(catalog, found.table_id, found.location, settings=settings, **rest)  # type: ignore[arg-type]


def append(table: OpenedTable, path: str) -> Version:
    return table.commit(append_change(named_file(path)), base=table.newest_known())


def staged_files(location: str) -> list[Path]:
    return sorted(Path(location, file_names.STAGED_FOLDER).glob("*"))


def published_versions(location: str) -> set[int]:
    listed = log_reader.list_log(locate(location))
    return {file.version for file in listed if file.kind is file_names.LogFileKind.PUBLISHED}


# --- what is left where


def test_a_staged_commit_is_one_new_file_and_the_catalog_gets_its_name(tmp_path: Path) -> None:
    """S053: its size is asked of the store, so that nobody can tell it wrongly."""
    found = managed(tmp_path, 2, settings=STAGED)

    files = staged_files(found.location)
    ratified = found.catalog.tail(found.table_id).commits

    assert [file_names.staged_version(file.name) for file in files] == [1, 2]
    assert [commit.where for commit in ratified] == [StagedCommit(file.name) for file in files]
    for file, commit in zip(files, ratified, strict=True):
        content = codec.decode(commit.version, file.read_bytes())
        assert [add.path for add in content.adds] == [str(commit.version)]
        assert content.info is not None
        told = (commit.txn_id, commit.in_commit_timestamp)
        assert (content.info.txn_id, content.info.in_commit_timestamp) == told
    assert not Path(found.location, file_names.published_path(Version(1))).exists()


def test_what_is_staged_for_one_table_is_nothing_to_another(tmp_path: Path) -> None:
    """S054: a proposal has no path, so it can only mean files of its own table."""
    catalog = open_catalog(tmp_path)
    ours, theirs = (create_managed(catalog, TableName("test", name)) for name in ("ours", "theirs"))
    elsewhere = staged(theirs.table_id, 1, "a", locate(theirs.location))

    with pytest.raises(InvalidRequest, match="does not exist"):
        catalog.propose(Proposal(ours.table_id, Version(1), TxnId("a"), elsewhere.content))

    assert [catalog.tail(table.table_id).latest for table in (ours, theirs)] == [0, 0]
    assert staged_files(ours.location) == []


def test_the_catalog_learns_what_the_table_is_from_the_commit_itself(tmp_path: Path) -> None:
    """S072: set, taken away and restated; an append tells it nothing."""
    found = managed(tmp_path, 0)
    table = found.opened()

    def told() -> dict[str, str]:
        now = found.catalog.tail(found.table_id).description
        state = found.opened().snapshot().state
        assert now is not None
        assert (now.protocol, now.metadata) == (state.protocol, state.metadata)
        return dict(now.metadata.configuration)

    first = told()
    set_properties.set_properties(table, {"team": "sales", "delta.enableDeletionVectors": "true"})
    assert told() == {**first, "team": "sales", "delta.enableDeletionVectors": "true"}
    version = table.snapshot().version
    assert set_properties.set_properties(table, {"team": "sales"}) == version, "nothing to tell"
    append(table, "a")
    set_properties.unset_properties(table, ["team"])
    assert told() == {**first, "delta.enableDeletionVectors": "true"}


@BOTH
def test_a_handle_of_a_table_that_was_made_anew_commits_nothing(tmp_path: Path, settings: Settings) -> None:
    """S075: the name is the same, the table is not."""
    found = managed(tmp_path, 1, settings=settings)
    catalog = open_catalog(tmp_path)
    stale = reopened(found, catalog, settings)
    stale.snapshot()
    catalog.drop(NAME)
    anew = create_managed(catalog)

    with pytest.raises(TableNotFound) as caught:
        append(stale, "late")

    assert caught.value.retry is Retry.NEVER
    assert catalog.tail(anew.table_id).latest == 0
    fresh = open_managed(catalog, anew.table_id, anew.location)
    assert paths(fresh) == []


def test_the_latest_version_stays_known_when_everything_is_published(tmp_path: Path) -> None:
    """S080: also to a catalog that was started again."""
    found = managed(tmp_path, 3, published=3)

    tail = open_catalog(tmp_path).tail(found.table_id)

    assert (tail.latest, tail.published, tail.commits) == (3, 3, ())
    assert append(open_managed(open_catalog(tmp_path), found.table_id, found.location), "4") == 4


# --- one of the two does not answer


def test_a_table_that_could_not_be_registered_is_invisible_and_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S051, S052: its version 0 was written, but a table is what has a name."""
    catalog = open_catalog(tmp_path)
    lake = Lake(catalog, settings=INLINE, world=SystemWorld())
    lake.create_schema(NAME.schema)
    columns = StructType([StructField("id", LongType())])
    register = catalog.register

    def unreachable() -> None:
        raise CatalogUnavailable("the database is locked")

    def register_in_vain(staging: StagingTable, name: TableName) -> TableEntry:
        monkeypatch.setattr(catalog._database, "writing", unreachable)
        return register(staging, name)

    with monkeypatch.context() as patched:
        patched.setattr(catalog, "register", register_in_vain)
        with pytest.raises(CatalogUnavailable) as caught:
            lake.create_table(str(NAME), columns)
    monkeypatch.undo()

    assert (caught.value.retry, isinstance(caught.value, ConflictError)) == (Retry.SAME, False)
    assert lake.tables() == ()
    with pytest.raises(TableNotFound):
        lake.table(str(NAME))
    made = lake.create_table(str(NAME), columns)
    assert [entry.name for entry in lake.tables()] == [NAME]
    assert staged_files(made.location) == []
    assert published_versions(made.location) == {0}


def refused(table: OpenedTable, path: str) -> HeadgateError:
    with pytest.raises(HeadgateError) as caught:
        append(table, path)
    assert not isinstance(caught.value, ConflictError)
    return caught.value


def test_if_a_commit_cannot_be_staged_nothing_is_ratified_and_it_may_be_tried_again(tmp_path: Path) -> None:
    """S063"""
    found, wire = managed(tmp_path, 1, settings=STAGED), Cut(f"put {file_names.STAGED_FOLDER}")
    store = FaultyStore(locate(found.location), wire)
    table = reopened(found, found.catalog, STAGED, store=store, world=CountingWorld())

    error = refused(table, "2")

    assert isinstance(error, StorageUnavailable)
    assert (error.retry, wire.refused) == (Retry.SAME, STAGED.max_unanswered)
    assert found.catalog.tail(found.table_id).latest == 1
    wire.mended = True
    assert append(table, "2") == 2
    assert paths(found.opened()) == ["1", "2"]


@BOTH
def test_if_the_catalog_cannot_be_reached_nothing_is_ratified_and_it_may_be_tried_again(
    tmp_path: Path, settings: Settings
) -> None:
    """S064: and what is staged for nothing concerns nobody."""
    found, wire = managed(tmp_path, 1, settings=settings), Cut("propose")
    table = reopened(found, RemoteCatalog(found.catalog, wire), settings, world=CountingWorld())

    error = refused(table, "2")

    assert isinstance(error, CatalogUnavailable)
    assert (error.retry, wire.refused) == (Retry.SAME, settings.max_unanswered)
    assert found.catalog.tail(found.table_id).latest == 1
    wire.mended = True
    assert append(table, "2") == 2
    assert paths(found.opened()) == ["1", "2"]


@BOTH
def test_what_the_catalog_refuses_is_not_tried_again(tmp_path: Path, settings: Settings) -> None:
    """S064"""
    found = managed(tmp_path, 1, settings=settings)
    asked: list[Proposal] = []

    class Refusing(RemoteCatalog):
        @override
        def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
            asked.append(proposal)
            raise InvalidRequest("the catalog does not like it")

    error = refused(reopened(found, Refusing(found.catalog, Cut("nothing")), settings), "2")

    assert (error.retry, len(asked)) == (Retry.NEVER, 1)
    assert found.catalog.tail(found.table_id).latest == 1


@BOTH
def test_eleven_writers_of_eleven_commits_lose_and_double_nothing(tmp_path: Path, settings: Settings) -> None:
    """S062"""
    found, done = managed(tmp_path, 0, settings=settings), threading.Event()

    def write(number: int) -> list[Version]:
        table = reopened(found, found.catalog, settings)
        made = []
        for commit in range(COMMITS):
            made.append(append(table, f"{number}-{commit}"))
            if commit % 4 == number % 4:
                table.publish()
        return made

    def read() -> int:
        seen = 0
        while not done.is_set():
            tail = found.catalog.tail(found.table_id)
            held = {commit.version for commit in tail.commits}
            assert held | published_versions(found.location) >= set(range(tail.latest + 1))
            fresh = found.opened().snapshot()
            assert fresh.version >= seen
            assert fresh.files.columns.num_rows == fresh.version  # contiguous: one file a version
            seen = fresh.version
        return seen

    with ThreadPoolExecutor(WRITERS + 1) as pool:
        reading = pool.submit(read)
        try:
            versions = [version for made in pool.map(write, range(WRITERS)) for version in made]
        finally:
            done.set()
        assert reading.result() > 0

    assert sorted(versions) == list(range(1, WRITERS * COMMITS + 1))
    assert len(set(paths(found.opened()))) == WRITERS * COMMITS
