"""What follows commits: checkpoints by the interval, after publishing, never to the commit's harm."""

from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import Outcome, Proposal, RatifiedCommit, Unknown
from headgate.errors import CorruptLog, InvalidRequest, NotAllowed, StorageUnavailable
from headgate.protocol.actions import AppTransaction, DomainMetadata, RemoveFile, Version
from headgate.protocol.log import codec, file_names, log_compaction
from headgate.settings import Publish, Settings
from headgate.storage.store import Store
from headgate.table.commit import post_commit
from headgate.table.opened_table import OpenedTable
from tests.support.checkpointed import V2, table
from tests.support.commits import MANAGED, PROTOCOL, add, commit, metadata, remove
from tests.support.faulty_store import FaultyStore, RecordingWire
from tests.support.lenient import AllPermitted
from tests.support.tables import append_change, named_file, open_filesystem, open_managed
from tests.support.versions import Managed, managed

NOW = Settings(publish=Publish.NOW)


def checkpoints(store: Store) -> list[int]:
    found = (file_names.parse(meta.path) for meta in store.list_from(file_names.LOG_FOLDER))
    return [
        file.version for file in found if file is not None and file.kind is file_names.LogFileKind.CHECKPOINT
    ]


def append(opened: OpenedTable, *paths: str) -> None:
    for path in paths:
        opened.commit(append_change(named_file(path)), base=opened.newest_known())


def reopened(found: Managed, settings: Settings = NOW, store: Store | None = None) -> OpenedTable:
    return open_managed(found.catalog, found.table_id, found.location, settings=settings, store=store)


def test_a_version_is_published_before_its_checkpoint_appears(tmp_path: Path) -> None:
    """S175"""
    found = managed(tmp_path, 3)
    wire = RecordingWire()
    opened = reopened(found, store=FaultyStore(found.opened().store, wire))
    assert found.catalog.tail(found.table_id).published == 0

    assert opened.checkpoint() == 3

    assert found.catalog.tail(found.table_id).published == 3
    writes = [call.split(" ")[1] for call in wire.calls if call.startswith("put")]
    assert writes == [
        *(file_names.published_path(Version(version)) for version in (1, 2, 3)),
        file_names.classic_checkpoint_path(Version(3)),
        file_names.LAST_CHECKPOINT,
        file_names.checksum_path(Version(3)),
    ]


def test_a_v2_checkpoint_is_named_last() -> None:
    """S176: its commits are there, then its sidecars, then the file that names them, then the pointer."""
    opened = table([add("a")], **V2)
    wire = RecordingWire()
    watched = open_filesystem("", store=FaultyStore(opened.store, wire))

    watched.checkpoint()

    kinds = [call.split(" ")[1].split(".")[0] for call in wire.calls if call.startswith("put")]
    assert kinds[0].startswith(file_names.SIDECAR_FOLDER)
    assert kinds[1:] == [
        f"{file_names.LOG_FOLDER}{1:020d}",
        file_names.LAST_CHECKPOINT,
        f"{file_names.LOG_FOLDER}{1:020d}",
    ]


def test_no_checkpoint_is_made_if_publishing_fails(tmp_path: Path) -> None:
    found = managed(tmp_path, 2)
    (Path(found.location) / file_names.published_path(Version(1))).write_bytes(b"stray")

    with pytest.raises(CorruptLog, match="differs from the ratified version 1"):
        found.opened().checkpoint()

    assert not checkpoints(found.opened().store)


def test_every_tenth_version_has_a_checkpoint(tmp_path: Path) -> None:
    opened = reopened(managed(tmp_path, 0))

    append(opened, *map(str, range(21)))

    assert checkpoints(opened.store) == [10, 20]


@pytest.mark.parametrize(
    ("interval", "expected"), [("4", [4, 8]), ("100", []), ("often", [10]), ("0", [10])], ids=str
)
def test_a_table_says_how_often(interval: str, expected: list[int]) -> None:
    opened = open_filesystem("", store=table(delta_checkpointInterval=interval).store, settings=NOW)

    append(opened, *map(str, range(11)))

    assert checkpoints(opened.store) == expected


@pytest.mark.parametrize(
    "settings",
    [Settings(publish=Publish.ON_DEMAND), Settings(publish=Publish.NOW, checkpoints=False, checksums=False)],
)
def test_nothing_is_written_if_the_settings_say_so(settings: Settings) -> None:
    opened = open_filesystem("", store=table().store, settings=settings)

    append(opened, *map(str, range(12)))

    kinds = {
        file.kind for meta in opened.store.list_from("") if (file := file_names.parse(meta.path)) is not None
    }
    assert kinds == {file_names.LogFileKind.PUBLISHED}


def test_in_the_background_the_last_version_is_described_by_the_time_of_closing(tmp_path: Path) -> None:
    found = managed(tmp_path, 0)
    opened = reopened(found, Settings())

    append(opened, *map(str, range(35)))
    opened.close()

    assert checkpoints(opened.store)
    assert max(checkpoints(opened.store)) >= 30
    assert found.opened().verify(version=35) == ()


def test_checkpoints_take_a_small_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter(range(0, 10_000, 10))
    monkeypatch.setattr(post_commit.time, "monotonic", lambda: next(moments))
    opened = open_filesystem("", store=table().store)
    append(opened, *map(str, range(20)))
    kept = post_commit.LogUpkeep(opened.store, opened._committer, Settings(), world=opened.world)

    assert kept.keep(Version(10), interval=10, urgent=False, due=True) == 1, "others are committing"
    assert kept.keep(Version(10), interval=10, urgent=False, due=True) is None
    assert checkpoints(opened.store) == [20]
    append(opened, *map(str, range(20, 30)))
    # It took ten seconds, so two hundred must pass; each look at the clock is ten more.
    assert kept.keep(Version(30), interval=10, urgent=False, due=True) == 190
    assert checkpoints(opened.store) == [20]
    kept.end_checkpoint_rest()
    assert kept.keep(Version(30), interval=10, urgent=False, due=True) is None
    assert checkpoints(opened.store) == [20, 30]


def test_a_checkpoint_of_another_process_is_enough() -> None:
    opened = open_filesystem("", store=table().store)
    append(opened, *map(str, range(12)))
    opened.checkpoint(version=9)
    kept = post_commit.LogUpkeep(opened.store, opened._committer, Settings(), world=opened.world)

    kept.keep(Version(10), interval=10, urgent=True, due=True)

    assert checkpoints(opened.store) == [9]


class _Failing:
    """Fails every write of a file whose path has the word."""

    def __init__(self, word: str) -> None:
        self.word = word

    def call(self, name: str, perform, *, unanswered, writes):  # type: ignore[no-untyped-def]
        if writes and self.word in name:
            raise StorageUnavailable(f"{name}: no", path=name, operation="put")
        return perform()


@pytest.mark.parametrize("word", ["checkpoint", ".crc", "_last_checkpoint"])
def test_a_commit_succeeds_although_its_checkpoint_fails(word: str, caplog: pytest.LogCaptureFixture) -> None:
    store = table(**V2).store
    opened = open_filesystem("", store=FaultyStore(store, _Failing(word)), settings=NOW)

    append(opened, *map(str, range(10)))

    assert "version 10 is committed, but its checkpoint or checksum could not be written" in caplog.text
    assert open_filesystem("", store=store).snapshot().files.columns.num_rows == 10


def test_a_log_that_others_cleaned_up_has_no_checksum_until_the_next_checkpoint(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = table([add("a")], [add("b")]).store
    open_filesystem("", store=store).checkpoint()
    for version in range(2):
        store.delete(file_names.published_path(Version(version)))
    store.delete(file_names.checksum_path(Version(2)))
    opened = open_filesystem("", store=store, settings=NOW)

    append(opened, "c")
    assert not any(meta.path.endswith(".crc") for meta in store.list_from(file_names.LOG_FOLDER))
    opened.checkpoint()
    append(opened, "d")

    assert caplog.text == ""
    assert store.head(file_names.checksum_path(Version(4))).size > 0


class _Forgetful:
    """A catalog that ratifies and does not answer, once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._silent = True

    def __getattr__(self, name: str) -> object:
        return getattr(self._catalog, name)

    def propose(self, proposal: Proposal) -> Outcome[RatifiedCommit]:
        answer = self._catalog.propose(proposal)
        if self._silent:
            self._silent = False
            return Unknown("lost")
        return answer


def test_a_commit_that_was_found_to_be_ours_is_followed_up(tmp_path: Path) -> None:
    """S071"""
    found = managed(tmp_path, 9)
    forgetful = _Forgetful(found.catalog)  # type: ignore[arg-type]
    opened = open_managed(forgetful, found.table_id, found.location, settings=NOW)  # type: ignore[arg-type]

    append(opened, "10")

    assert opened.snapshot().version == 10
    assert checkpoints(opened.store) == [10]
    assert opened.verify() == ()


def test_compactions_are_of_published_versions_and_of_more_than_one(tmp_path: Path) -> None:
    """S177"""
    opened = managed(tmp_path, 4, published=3).opened()

    for start, end in ((2, 4), (2, 2), (3, 2), (-1, 2), (2, 9)):
        with pytest.raises(InvalidRequest):
            opened.compact_log(start, end)
    opened.compact_log(1, 3)

    found = [meta.path for meta in opened.store.list_from(file_names.LOG_FOLDER) if "compacted" in meta.path]
    assert found == [file_names.compaction_path(Version(1), Version(3))]
    assert sorted(opened.snapshot(version=3).files.columns["path"].to_pylist()) == ["1", "2", "3"]


def test_a_compaction_has_the_last_word_on_each_thing() -> None:
    """In the order in which the last words were said, of files at least."""
    newer = metadata(acme="2")
    apps = [AppTransaction(app_id=name, version=1) for name in ("a", "b")]
    domains = [DomainMetadata(domain=name, configuration="1", removed=False) for name in ("a", "b")]
    gone = DomainMetadata(domain="a", configuration="1", removed=True)
    later = AppTransaction(app_id="a", version=2)
    commits = [
        commit(1, PROTOCOL, metadata(), add("x"), add("y"), *apps, *domains),
        commit(2, MANAGED, newer, remove("x"), later, gone),
    ]

    *small, first, last = log_compaction.reconcile(commits)

    assert (first, last) == (add("y"), remove("x"))
    assert len(small) == 6
    assert all(action in small for action in (MANAGED, newer, later, apps[1], gone, domains[1]))


def test_a_compaction_is_what_its_commits_come_to() -> None:
    """The example of the specification."""
    gone = [RemoveFile(path=path, data_change=True) for path in ("f1", "f3")]
    removed = DomainMetadata(domain="d", configuration="", removed=True)
    opened = table(
        [add("f1")],
        [add("f2"), gone[0], DomainMetadata(domain="d", configuration="", removed=False)],
        [add("f3"), add("f4"), AppTransaction(app_id="a", version=4_389)],
        [gone[1], AppTransaction(app_id="a", version=4_390), removed],
    )

    opened.compact_log(2, 4)

    content = opened.store.read(file_names.compaction_path(Version(2), Version(4)))
    found = codec.decode(Version(4), content)
    assert b"commitInfo" not in content
    assert [file.path for file in found.adds] == ["f2", "f4"]
    assert [file.path for file in found.removes] == ["f1", "f3"]
    assert [(txn.app_id, txn.version) for txn in found.txns] == [("a", 4_390)]
    assert [(domain.domain, domain.removed) for domain in found.domains] == [("d", True)]


def test_cleaning_up_a_managed_table_needs_permission(tmp_path: Path) -> None:
    """S180, U8"""
    opened = managed(tmp_path, 2, published=2).opened()

    with pytest.raises(NotAllowed, match=r"cleanup_log is metadata cleanup .* has not permitted") as refused:
        opened.cleanup_log()

    assert refused.value.code == "DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION"
    opened.guard = AllPermitted(opened._committer, opened.store, opened.world)
    assert opened.cleanup_log() == ()
