"""Which files of a table a vacuum deletes, on a disk whose files are as old as the tests say."""

import os
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from typing_extensions import Buffer

from headgate.catalog.ports.leases import Horizon
from headgate.catalog.ports.maintenance import Maintenance
from headgate.errors import AccessDenied, InvalidRequest, ObjectNotFound, UnsupportedFeature
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import AddFile, DeletionVector, EpochMillis, RemoveFile, Version
from headgate.storage.local import LocalStore
from headgate.table.alter import set_properties
from headgate.table.maintenance import vacuum
from headgate.table.maintenance.vacuum import VacuumOptions
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation
from tests.support.attempts import added
from tests.support.tables import create_filesystem, named_file, open_filesystem

DAY = 24 * 3600 * 1000
NOW = 1_800_000_000_000
VECTORS = {"delta.enableDeletionVectors": "true"}


class Noon:
    """A world where it is always the same moment, and ids count up."""

    def __init__(self) -> None:
        self._count = 0

    def now_ms(self) -> int:
        return NOW

    def sleep(self, seconds: float) -> None:
        pass

    def uuid(self) -> str:
        self._count += 1
        return f"00000000-0000-4000-8000-{self._count:012d}"

    def jitter(self) -> float:
        return 0.5


class Needed:
    """A guard for somebody who needs the files from a moment on, or a version with all its files."""

    def __init__(self, since: EpochMillis, version: Version | None = None) -> None:
        self._since = since
        self._version = version

    def check(self, kind: Maintenance, operation: str) -> None:
        pass

    def now_ms(self) -> int:
        return NOW

    def horizon(self) -> Horizon:
        return Horizon(self._version, self._since)

    def give_up(self, *, before: Version | None = None, moment: EpochMillis | None = None) -> Horizon:
        assert moment is not None
        return Horizon(before, min(moment, self._since))


FOLDER = "0c5f1d3e-9a41-4b7d-8b57-0a4f2f6d2a10"
MARKED = f"{'0a' * 16}-{FOLDER}"
"""What the folder of a write is called, and how in a catalog, where it begins with its transaction's mark."""


class NoonStore(LocalStore):
    """A disk where files are written at noon."""

    def put(self, path: str, data: Buffer) -> None:
        super().put(path, data)
        os.utime(os.path.join(self._root, path), (NOW / 1000, NOW / 1000))


@pytest.fixture
def table(tmp_path: Path) -> OpenedTable:
    create_filesystem(LocalStore(str(tmp_path)), world=Noon())
    return open_filesystem(str(tmp_path), store=NoonStore(str(tmp_path)), world=Noon())


def file(table: OpenedTable, path: str, *, days: float = 100) -> str:
    """A file that is so many days old."""
    table.store.put(path, b"rows")
    age(table, path, days=days)
    return path


def age(table: OpenedTable, path: str, *, days: float) -> None:
    seconds = (NOW - days * DAY) / 1000
    os.utime(Path(table.location, path), (seconds, seconds))


def write(table: OpenedTable, *actions: AddFile | RemoveFile) -> Version:
    return table.commit(Change(Operation("WRITE"), actions), base=table.snapshot())


def removal(path: str, *, days: float, vector: DeletionVector | None = None) -> RemoveFile:
    """The removal of a file so many days ago."""
    moment = EpochMillis(int(NOW - days * DAY))
    return RemoveFile(path=path, deletion_timestamp=moment, data_change=True, deletion_vector=vector)


def data(table: OpenedTable) -> list[str]:
    return [meta.path for meta in table.store.list_from("") if not meta.path.startswith("_delta_log/")]


def test_only_what_nobody_needs_goes(table: OpenedTable) -> None:
    for name in ("live", "recent", "old"):
        write(table, named_file(file(table, name)))
    write(table, removal("recent", days=6), removal("old", days=8))
    file(table, "orphan", days=8)
    file(table, "being-written", days=6)

    done = vacuum.vacuum(table, VacuumOptions())

    assert done.paths == ("old", "orphan")
    assert done.bytes == 8
    assert data(table) == ["being-written", "live", "recent"]
    assert vacuum.vacuum(table, VacuumOptions()).paths == ()


def test_a_dry_run_only_tells(table: OpenedTable) -> None:
    file(table, "orphan")

    done = vacuum.vacuum(table, VacuumOptions(dry_run=True))

    assert (done.paths, done.deleted) == (("orphan",), False)
    assert data(table) == ["orphan"]


@pytest.mark.parametrize(
    ("path", "goes"),
    [
        ("x.parquet", True),
        ("day=2024-01-01/x.parquet", True),
        ("_day=2024-01-01/x.parquet", True),
        ("_change_data/x.parquet", True),
        ("_change_data/day=1/x.parquet", True),
        ("_delta_log/x.json", False),
        ("_delta_log/_staged_commits/x.json", False),
        ("_hidden/x.parquet", False),
        (".hidden/x.parquet", False),
        ("day=1/_temporary/x.parquet", False),
        (f"{FOLDER}/_temporary/0/_temporary/attempt_1/day=1/x.parquet", True),
        (f"{FOLDER}/_temporary/0/_temporary/attempt_1/.x.parquet.crc", True),
        (f"_change_data/{FOLDER}/_temporary/0/task_1/x.parquet", True),
        (f"{MARKED}/_temporary/0/_temporary/attempt_1/x.parquet", True),
        (f"{FOLDER}/_SUCCESS", True),
        (f"{FOLDER}/._SUCCESS.crc", True),
        (f"{FOLDER}/_other/x.parquet", False),
        (f"{FOLDER}/.x.parquet", False),
        (f"sub/{FOLDER}/_temporary/x.parquet", False),
        ("_change_data/_temporary/x.parquet", False),
        ("sub/_change_data/x.parquet", False),
        (".x.parquet", False),
        ("_SUCCESS", False),
    ],
)
def test_hidden_files_are_not_the_tables(table: OpenedTable, path: str, goes: bool) -> None:
    file(table, path)

    vacuum.vacuum(table, VacuumOptions())

    assert Path(table.location, path).exists() is not goes


def test_paths_are_compared_as_the_log_means_them(table: OpenedTable) -> None:
    write(table, named_file("a%20b"), named_file(f"{table.location}/c"), named_file("d%2525"))
    for name in ("a b", "c", "d%25", "a%20b"):
        file(table, name)

    assert vacuum.vacuum(table, VacuumOptions()).paths == ("a%20b",)


@pytest.mark.parametrize("path", ["d//x", "./d/x", "d/../d/x", "d/./x", "d%2F%2Fx"])
def test_a_disk_has_a_file_under_many_paths(table: OpenedTable, path: str) -> None:
    """Other writers name files so, and a disk finds them, but lists them under one path only."""
    file(table, "d/x")
    write(table, named_file(path))

    assert vacuum.vacuum(table, VacuumOptions()).paths == ()


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_a_table_opened_through_a_link_keeps_what_its_log_names_by_the_folder(
    table: OpenedTable, tmp_path_factory: pytest.TempPathFactory, scheme: str
) -> None:
    link = tmp_path_factory.mktemp("links") / "table"
    link.symlink_to(table.location)
    for name in ("live", "of the link", "orphan"):
        file(table, name)
    write(table, named_file(f"{scheme}{table.location}/live"), named_file(f"{scheme}{link}/of%20the%20link"))

    for location in (table.location, str(link)):
        opened = open_filesystem(location, store=NoonStore(location), world=Noon())
        assert vacuum.vacuum(opened, VacuumOptions(dry_run=True)).paths == ("orphan",)


@pytest.mark.parametrize("lite", [False, True])
@pytest.mark.parametrize("moment", [None, EpochMillis(1)])
def test_a_version_with_a_lease_keeps_what_was_removed_nobody_knows_when(
    table: OpenedTable, moment: EpochMillis | None, lite: bool
) -> None:
    """When a file was removed need not be said; who removes it may say what he likes."""
    write(table, named_file(file(table, "before")))
    leased = write(table, named_file(file(table, "needed")), removal("before", days=90))
    write(table, RemoveFile(path="needed", deletion_timestamp=moment, data_change=True))
    table.guard = Needed(EpochMillis(NOW - 50 * DAY), leased)

    assert vacuum.vacuum(table, VacuumOptions(lite=lite)).paths == ("before",)


def test_vectors_are_kept_as_long_as_their_files(table: OpenedTable) -> None:
    set_properties.set_properties(table, VECTORS)

    def vector(name: str, storage: str = "p") -> DeletionVector:
        where = f"{table.location}/{name}"
        return DeletionVector(storage_type=storage, path_or_inline_dv=where, size_in_bytes=1, cardinality=1)

    for name in ("live", "recent", "old"):
        file(table, f"{name}.bin")
        add = msgspec.structs.replace(added(file(table, name), {}), deletion_vector=vector(f"{name}.bin"))
        write(table, add)
    write(
        table,
        removal("recent", days=6, vector=vector("recent.bin")),
        removal("old", days=8, vector=vector("old.bin")),
    )

    assert vacuum.vacuum(table, VacuumOptions()).paths == ("old", "old.bin")


def test_a_file_whose_vector_changed_is_live(table: OpenedTable) -> None:
    """Without its vector it was removed long ago."""
    set_properties.set_properties(table, VECTORS)
    inline = DeletionVector(
        storage_type="i", path_or_inline_dv="^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
        size_in_bytes=44, cardinality=6,
    )  # fmt: skip
    write(table, named_file(file(table, "a")))
    again = msgspec.structs.replace(added("a", {}), deletion_vector=inline)
    write(table, removal("a", days=50), again)

    assert vacuum.vacuum(table, VacuumOptions()).paths == ()


@pytest.mark.parametrize("checkpointed", [False, True])
def test_a_checkpoint_makes_no_difference(table: OpenedTable, checkpointed: bool) -> None:
    for name in ("live", "recent", "old"):
        write(table, named_file(file(table, name)))
    write(table, removal("recent", days=6), removal("old", days=8))
    if checkpointed:
        table.checkpoint()

    assert vacuum.vacuum(table, VacuumOptions()).paths == ("old",)


@pytest.mark.parametrize("lite", [False, True])
def test_a_checkpoint_that_forgot_a_removal_makes_no_difference(table: OpenedTable, lite: bool) -> None:
    """Checkpoints keep removals for a week, and who asks for a month of versions has them."""
    for name in ("live", "recent", "again", "old"):
        write(table, named_file(file(table, name)))
    write(table, removal("again", days=40), removal("old", days=40))
    write(table, named_file("again"))
    write(table, removal("recent", days=10), removal("again", days=10))
    table.checkpoint()

    assert vacuum.vacuum(table, VacuumOptions(timedelta(days=30), lite=lite)).paths == ("old",)


def test_a_retention_that_became_longer_holds_for_what_was_checkpointed_before(table: OpenedTable) -> None:
    write(table, named_file(file(table, "a")), named_file(file(table, "b")))
    write(table, removal("a", days=10), removal("b", days=40))
    table.checkpoint()
    set_properties.set_properties(table, {"delta.deletedFileRetentionDuration": "interval 30 days"})

    assert vacuum.vacuum(table, VacuumOptions()).paths == ("b",)


def test_less_than_the_tables_retention_is_refused(table: OpenedTable) -> None:
    write(table, named_file(file(table, "a")))
    write(table, removal("a", days=2))

    with pytest.raises(InvalidRequest, match="7 days") as refused:
        vacuum.vacuum(table, VacuumOptions(timedelta(days=1)))
    assert refused.value.code == "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT"
    with pytest.raises(InvalidRequest, match="from zero on"):
        vacuum.vacuum(table, VacuumOptions(timedelta(days=-1), enforce_retention=False))
    assert data(table) == ["a"]

    assert vacuum.vacuum(table, VacuumOptions(timedelta(days=1), enforce_retention=False)).paths == ("a",)


def test_the_retention_is_the_tables_own(table: OpenedTable) -> None:
    set_properties.set_properties(table, {"delta.deletedFileRetentionDuration": "interval 1 day"})
    write(table, named_file(file(table, "a")), named_file(file(table, "b")))
    write(table, removal("a", days=2), removal("b", days=0.5))

    assert vacuum.vacuum(table, VacuumOptions()).paths == ("a",)


@pytest.mark.parametrize("dry_run", [False, True])
def test_what_somebody_needs_stays(table: OpenedTable, dry_run: bool) -> None:
    write(table, named_file(file(table, "a")), named_file(file(table, "b")))
    write(table, removal("a", days=9), removal("b", days=11))
    file(table, "written", days=9)
    table.guard = Needed(EpochMillis(NOW - 10 * DAY))

    done = vacuum.vacuum(table, VacuumOptions(dry_run=dry_run))

    assert done.paths == ("b",)


@pytest.mark.parametrize("unpublished", [False, True])
def test_a_light_one_looks_only_at_what_the_log_removed(table: OpenedTable, unpublished: bool) -> None:
    for name in ("live", "recent", "old", "gone"):
        write(table, named_file(file(table, name)))
    write(table, removal("recent", days=6), removal("old", days=8), removal("gone", days=8))
    table.store.delete("gone")
    file(table, "orphan")
    if not unpublished:
        table.checkpoint()

    assert vacuum.vacuum(table, VacuumOptions(lite=True)).paths == ("old",)
    assert data(table) == ["live", "orphan", "recent"]


def test_a_file_that_came_back_meanwhile_stays(table: OpenedTable, monkeypatch: pytest.MonkeyPatch) -> None:
    write(table, named_file(file(table, "a")))
    write(table, removal("a", days=8))
    listed = table.store.list_from
    other = open_filesystem(table.location, world=Noon())

    def late(prefix: str, **after: str | None) -> object:
        if not prefix:
            write(other, named_file("a"))
        return listed(prefix, **after)

    monkeypatch.setattr(table.store, "list_from", late)

    assert vacuum.vacuum(table, VacuumOptions()).paths == ()
    assert data(other) == ["a"]


def test_files_of_hadoop_go_with_theirs(table: OpenedTable) -> None:
    file(table, "part=1/a")
    file(table, "part=1/.a.crc")

    vacuum.vacuum(table, VacuumOptions())

    with pytest.raises(ObjectNotFound):
        table.store.head("part=1/.a.crc")


def test_a_table_that_cannot_be_written_is_not_cleaned(table: OpenedTable) -> None:
    """U9: a client that does not know a feature cannot know which files it needs."""
    state = table.snapshot().state
    unknown = protocol_upgrade.with_features(state.protocol, ("deletionVectors",))
    unknown = msgspec.structs.replace(
        unknown, writer_features=(*(unknown.writer_features or ()), "filesElsewhere")
    )
    table.store.put_if_absent(
        f"_delta_log/{1:020d}.json", b'{"protocol":' + msgspec.json.encode(unknown) + b"}\n"
    )
    file(table, "orphan")

    with pytest.raises(UnsupportedFeature, match="filesElsewhere"):
        vacuum.vacuum(table, VacuumOptions())
    assert data(table) == ["orphan"]


@pytest.mark.parametrize("lite", [False, True])
def test_nothing_is_deleted_through_a_link_out_of_the_table(
    table: OpenedTable, tmp_path_factory: pytest.TempPathFactory, lite: bool
) -> None:
    elsewhere = tmp_path_factory.mktemp("of others")
    Path(table.location, "linked").symlink_to(elsewhere)
    write(table, named_file(file(table, "linked/theirs")))
    write(table, removal("linked/theirs", days=8))

    assert vacuum.vacuum(table, VacuumOptions(lite=lite)).paths == ()

    with pytest.raises(AccessDenied, match="link"):
        table.store.delete("linked/theirs")
    table.store.delete("linked")
    assert (elsewhere / "theirs").exists()
