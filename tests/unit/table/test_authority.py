"""Who decides a table's commits is asked before anything of it is maintained."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from typing_extensions import Buffer

import headgate
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.maintenance import Maintenance
from headgate.errors import StorageUnavailable, UnsupportedFeature
from headgate.protocol.actions import EpochMillis, RemoveFile, Version
from headgate.protocol.log import file_names
from headgate.protocol.log.file_names import LogFileKind
from headgate.storage.locate import locate
from headgate.table import authority
from headgate.table.alter import set_properties
from headgate.table.authority import RULES, Decider
from headgate.table.maintenance import symlink_manifests, vacuum
from headgate.table.maintenance.vacuum import VacuumOptions
from headgate.table.opened_table import OpenedTable
from headgate.table.read import log_reader
from headgate.table.transaction import Change, Operation
from tests.support.faulty_store import DictStore
from tests.support.owned import NAME, Place, append, coordinated
from tests.support.tables import (
    append_change,
    create_filesystem,
    create_managed,
    named_file,
    open_filesystem,
    open_managed,
)

ASKED = (Decider.FILE_SYSTEM, Decider.COORDINATOR, Decider.CATALOG)
NOT_ASKED = (Decider.MISSING_COORDINATOR, Decider.MISSING_CATALOG)


def _restored(place: Place) -> None:
    """A file that the last published version removed, and that an unpublished one brought back."""
    table = place.opened()
    for path in ("kept", "other"):
        place.store.put(path, b"rows")
    table.commit(append_change(named_file("kept")), base=table.snapshot())
    gone = RemoveFile(path="kept", data_change=True, deletion_timestamp=EpochMillis(1))
    table.commit(Change(Operation("DELETE"), (gone,)), base=table.snapshot())
    table.publish()
    table.commit(append_change(named_file("kept")), base=table.snapshot())


@pytest.mark.parametrize("lite", [False, True])
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_vacuum_without_the_owner_deletes_nothing_and_claims_nothing(lite: bool, dry_run: bool) -> None:
    place, _ = coordinated(batch=100)
    _restored(place)
    wish = VacuumOptions(lite=lite, dry_run=dry_run)

    with pytest.raises(UnsupportedFeature, match=rf"{NAME}.*VACUUM is refused") as caught:
        vacuum.vacuum(place.opened(owners={}), wish)

    assert caught.value.code == "DELTA_UNSUPPORTED_WRITES_WITHOUT_COORDINATOR"
    assert place.store.read("kept") == b"rows"
    assert "kept" not in vacuum.vacuum(place.opened(), wish).paths


@pytest.mark.parametrize(
    "maintain",
    [
        OpenedTable.checkpoint,
        OpenedTable.cleanup_log,
        lambda table: table.compact_log(0, 1),
        lambda table: vacuum.vacuum(table, VacuumOptions()),
        lambda table: symlink_manifests.generate_manifests(table, symlink_manifests.SYMLINKS),
        *(lambda table, kind=kind: table.check_permitted(kind, "THE OPERATION") for kind in Maintenance),
    ],
)
def test_nothing_is_maintained_without_the_owner(maintain: Callable[[OpenedTable], object]) -> None:
    place, _ = coordinated(3, batch=2)
    before = {meta.path for meta in place.store.list_from("")}

    with pytest.raises(UnsupportedFeature, match=NAME):
        maintain(place.opened(owners={}))

    assert {meta.path for meta in place.store.list_from("")} == before


def test_every_kind_of_maintenance_has_a_row_that_asks_who_decides() -> None:
    assert [row.kind for row in RULES] == list(Maintenance)
    for row, decider in product(RULES, ASKED):
        assert authority.allows_maintenance(row.kind, decider)
    for row, decider in product(RULES, NOT_ASKED):
        assert not authority.allows_maintenance(row.kind, decider)
    inside = {row.kind for row in RULES if authority.allows_maintenance(row.kind, Decider.TRANSACTION)}
    assert inside == {Maintenance.DATA_REORGANISATION}


def _damage(place: Place, version: int) -> str:
    """Damage the checkpoint of a version; its path."""
    path = file_names.classic_checkpoint_path(Version(version))
    place.store.put(path, b"no parquet")
    return path


def test_without_the_owner_a_repair_leaves_what_is_damaged_and_says_why() -> None:
    place, _ = coordinated(3, batch=2)
    place.opened().checkpoint()
    append(place.opened(), [5])
    path = _damage(place, 4)

    report = place.opened(owners={}).check("t", repair=True, data=False)

    assert place.store.read(path) == b"no parquet"
    assert report.repaired == ()
    found = {finding.rule: finding for finding in report.findings}
    assert not found["checkpoint-damaged"].repairable
    assert NAME in found["owned-elsewhere"].explanation
    assert {finding.rule for finding in place.opened().check("t", repair=True, data=False).repaired} == {
        "checkpoint-damaged"
    }


def test_by_its_path_a_table_of_a_catalog_is_not_repaired(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path)
    made = create_managed(catalog)
    table = open_managed(catalog, made.table_id, made.location)
    table.commit(append_change(named_file("a")), base=table.snapshot())
    table.checkpoint()
    store, path = locate(made.location), file_names.classic_checkpoint_path(Version(1))
    store.put(path, b"no parquet")
    store.put(file_names.checksum_path(Version(1)), b"{")
    before = {meta.path: store.read(meta.path) for meta in store.list_from("")}

    report = headgate.check_path(made.location, repair=True, data=False)

    assert {meta.path: store.read(meta.path) for meta in store.list_from("")} == before
    assert report.repaired == ()
    assert "managed-elsewhere" in {finding.rule for finding in report.findings}
    assert not any(finding.repairable for finding in report.findings)


def test_a_check_by_path_asks_the_owner_that_is_registered() -> None:
    place, _ = coordinated(3, batch=100)

    report = place.opened().check("t", data=False)

    assert report.version == 4
    assert "owned-elsewhere" not in {finding.rule for finding in report.findings}


class FullDisk(DictStore):
    """A store that takes no checkpoint, compaction or checksum."""

    full = False

    def put(self, path: str, data: Buffer) -> None:
        self._check(path)
        super().put(path, data)

    def put_if_absent(self, path: str, data: Buffer) -> None:
        self._check(path)
        super().put_if_absent(path, data)

    def _check(self, path: str) -> None:
        if self.full:
            raise StorageUnavailable("no space left", path=path, operation="put")


@pytest.mark.parametrize("policy", ["classic", "v2"])
def test_a_repair_that_cannot_be_finished_deletes_nothing_and_is_not_claimed(policy: str) -> None:
    store = FullDisk()
    damaged = _with_damage(store, policy)
    before = {meta.path: store.read(meta.path) for meta in store.list_from("")}

    store.full = True
    report = open_filesystem("memory:", store=store).check("t", repair=True, data=False)

    assert report.repaired == ()
    assert {meta.path: store.read(meta.path) for meta in store.list_from("")} == before
    store.full = False
    again = open_filesystem("memory:", store=store).check("t", repair=True, data=False)
    assert {finding.where for finding in again.repaired} >= damaged
    assert again.errors == ()


def _with_damage(store: DictStore, policy: str) -> set[str]:
    """A table of three versions whose checkpoint, compaction and checksum are damaged; their paths."""
    create_filesystem(store)
    table = open_filesystem("memory:", store=store)
    for path in "ab":
        table.commit(append_change(named_file(path)), base=table.snapshot())
    if policy == "v2":
        set_properties.set_properties(table, {"delta.checkpointPolicy": "v2"})
    latest = table.checkpoint()
    table.compact_log(0, 1)
    files = {
        file.path
        for file in log_reader.list_log(store)
        if file.kind in (LogFileKind.CHECKPOINT, LogFileKind.COMPACTED)
    }
    damaged = files | {file_names.checksum_path(latest)}
    for path in damaged:
        store.put(path, b"{")
    return damaged
