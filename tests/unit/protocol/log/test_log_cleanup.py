"""Cleaning up the log: what may go, in which order, and what must stay."""

import io
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headgate.clock import SystemWorld
from headgate.errors import CorruptLog, ObjectNotFound
from headgate.protocol.actions import CommitInfo, EpochMillis, Version
from headgate.protocol.log import codec, log_cleanup
from headgate.protocol.log import file_names as log_file_names
from headgate.protocol.log.file_names import LogFile
from headgate.protocol.log.log_cleanup import NO_CLEANUP, CheckpointProtection
from headgate.protocol.log.timestamps import VersionTimestamp
from headgate.storage.store import ObjectMeta, Store
from headgate.table.opened_table import OpenedTable
from tests.support.checkpointed import V2, V2_PROTOCOL, protocol
from tests.support.commits import PROTOCOL, add, metadata
from tests.support.faulty_store import DictStore
from tests.support.lenient import AllPermitted
from tests.support.tables import open_filesystem
from tests.support.versions import managed

DAY = 24 * 3_600_000
MIDNIGHT = 20_000 * DAY
UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"


def listing(*file_names: str) -> list[LogFile]:
    found = [log_file_names.parse(log_file_names.LOG_FOLDER + name) for name in file_names]
    return [file for file in found if file is not None]


def v(version: int, ending: str = "json") -> str:
    return f"{version:020d}.{ending}"


LOG_0_TO_6 = [v(number) for number in range(7)]


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (MIDNIGHT, MIDNIGHT - 2 * DAY),
        (MIDNIGHT + DAY - 1, MIDNIGHT - 2 * DAY),
        (MIDNIGHT + DAY, MIDNIGHT - DAY),
    ],
    ids=["midnight", "just before the next", "the next"],
)
def test_the_cut_off_is_midnight(now: int, expected: int) -> None:
    assert log_cleanup.cutoff_time(now, 2 * DAY) == expected


def test_a_commit_exactly_at_the_cut_off_is_the_oldest_to_be_kept() -> None:
    stamps = [VersionTimestamp(Version(number), EpochMillis(at)) for number, at in enumerate((10, 20, 30))]

    assert log_cleanup.cutoff_commit(stamps, EpochMillis(20)) == 1
    assert log_cleanup.cutoff_commit(stamps, EpochMillis(19)) == 0
    assert log_cleanup.cutoff_commit(stamps, EpochMillis(9)) is None


def test_everything_before_the_checkpoint_goes_oldest_first() -> None:
    files = listing(
        *LOG_0_TO_6, v(2, "checkpoint.parquet"), v(2, "crc"), v(4, "checkpoint.parquet"), v(4, "crc"),
        *(f"{start:020d}.{v(end, 'compacted.json')}" for start, end in ((1, 3), (4, 5), (5, 6))),
    )  # fmt: skip

    plan = log_cleanup.plan_cleanup(files, Version(5))

    assert plan.version == 4
    assert [path.removeprefix(log_file_names.LOG_FOLDER) for path in plan.deletions] == [
        f"{1:020d}.{v(3, 'compacted.json')}", f"{4:020d}.{v(5, 'compacted.json')}",
        v(0), v(1), v(2, "checkpoint.parquet"), v(2, "crc"), v(2), v(3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "checkpoint",
    [
        [],
        [v(6, "checkpoint.parquet")],
        [v(3, "checkpoint.0000000001.0000000002.parquet")],
    ],
    ids=["none", "too new", "incomplete"],
)
def test_without_a_whole_checkpoint_nothing_goes(checkpoint: Sequence[str]) -> None:
    """S183"""
    assert log_cleanup.plan_cleanup(listing(*LOG_0_TO_6, *checkpoint), Version(5)) == NO_CLEANUP
    assert log_cleanup.plan_cleanup(listing(*LOG_0_TO_6, v(1, "checkpoint.parquet")), None) == NO_CLEANUP


def test_an_older_whole_checkpoint_serves_in_place_of_an_incomplete_one() -> None:
    """S183"""
    files = listing(*LOG_0_TO_6, v(1, "checkpoint.parquet"), v(3, "checkpoint.0000000001.0000000002.parquet"))

    assert log_cleanup.plan_cleanup(files, Version(5)).version == 1


@pytest.mark.parametrize("folder", [log_file_names.STAGED_FOLDER, log_file_names.LEGACY_STAGED_FOLDER])
def test_staged_files_go_with_their_published_copies_and_never_before(folder: str) -> None:
    files = listing(*LOG_0_TO_6, v(4, "checkpoint.parquet"))
    staged = [f"{folder}{number:020d}.{UUID}.json" for number in range(7)]

    plan = log_cleanup.plan_cleanup(
        files, Version(5), staged=[*staged, f"{folder}garbage"], held={Version(2)}, latest=Version(6)
    )

    gone = [path for path in plan.deletions if path.startswith(folder)]
    assert gone == [staged[0], staged[1], staged[3]]


def test_the_commits_that_the_catalog_holds_are_no_gap() -> None:
    """Versions 4 and 5 are ratified, and not published."""
    files = listing(*LOG_0_TO_6[:4], v(2, "checkpoint.parquet"))

    plan = log_cleanup.plan_cleanup(files, Version(5), held={Version(4), Version(5)}, latest=Version(5))

    assert plan.version == 2
    assert plan.deletions == (log_file_names.LOG_FOLDER + v(0), log_file_names.LOG_FOLDER + v(1))
    with pytest.raises(CorruptLog, match="4"):
        log_cleanup.plan_cleanup(files, Version(5), held={Version(5)}, latest=Version(5))


def test_staged_files_stay_with_the_published_copies_that_stay() -> None:
    """The compaction reaches beyond the checkpoint, the staged files that go do not."""
    compaction = f"{4:020d}.{v(5, 'compacted.json')}"
    files = listing(*LOG_0_TO_6, v(4, "checkpoint.parquet"), compaction)
    staged = [f"{log_file_names.STAGED_FOLDER}{number:020d}.{UUID}.json" for number in (5, 4, 3, 2)]

    gone = log_cleanup.plan_cleanup(files, Version(5), staged=staged).deletions

    assert gone == (
        log_file_names.LOG_FOLDER + compaction,
        *(log_file_names.LOG_FOLDER + name for name in LOG_0_TO_6[:4]),
        staged[3],
        staged[2],
    )


def test_where_no_commit_goes_no_staged_file_does() -> None:
    files = listing(*LOG_0_TO_6, v(0, "checkpoint.parquet"))

    plan = log_cleanup.plan_cleanup(
        files, Version(5), staged=[f"{log_file_names.STAGED_FOLDER}{0:020d}.{UUID}.json"]
    )

    assert (plan.version, plan.deletions) == (0, ())


def test_sidecars_stay_if_named_or_young() -> None:
    """S184"""
    now = MIDNIGHT + 5
    found = [("named", 0), ("young", MIDNIGHT - DAY), ("old", MIDNIGHT - DAY - 1)]

    assert log_cleanup.expired_sidecars(found, {"named"}, now) == ("old",)


@pytest.mark.parametrize(
    ("checkpoint", "before", "commit", "known", "allowed"),
    [
        (5, 5, 6, False, True),
        (4, 5, 6, False, False),
        (4, 5, 4, False, True),
        (4, 5, 6, True, True),
        (4, 0, 6, False, True),
    ],
    ids=[
        "passes the protected versions",
        "stops among them",
        "at the boundary",
        "knows all protocols",
        "no protection",
    ],
)
def test_protected_checkpoints_go_together_or_not_at_all(
    checkpoint: int, before: int, commit: int, known: bool, allowed: bool
) -> None:
    """S188"""
    plan = log_cleanup.plan_cleanup(listing(*LOG_0_TO_6, v(checkpoint, "checkpoint.parquet")), Version(6))
    protection = CheckpointProtection(before, Version(commit), (PROTOCOL,))

    assert log_cleanup.is_cleanup_allowed(plan, protection, knows=lambda _: known) is allowed


def test_a_plan_of_nothing_is_never_allowed() -> None:
    assert NO_CLEANUP.version is None
    assert not log_cleanup.is_cleanup_allowed(
        NO_CLEANUP, CheckpointProtection(0, Version(0), ()), knows=lambda _: True
    )


class _Dated(DictStore):
    """A store in which version v was written on day v, unless said otherwise, and whose clock is right."""

    def __init__(self) -> None:
        super().__init__()
        self.days: dict[str, int] = {}

    def _meta(self, path: str) -> ObjectMeta:
        if path.startswith(log_file_names.CLOCK_FILE):
            return ObjectMeta(path, 0, SystemWorld().now_ms())
        file = log_file_names.parse(path)
        day = self.days.get(path, file.version if file is not None else 0)
        return ObjectMeta(path, super()._meta(path).size, day * DAY)


def dated(days: int, **properties: str) -> OpenedTable:
    """A table with a commit a day."""
    store = _Dated()
    first = [protocol("domainMetadata", reader=("v2Checkpoint",)), metadata(**properties)]
    for version in range(days):
        actions = first if version == 0 else [add(f"{version}")]
        store.put(
            log_file_names.published_path(Version(version)),
            codec.encode([CommitInfo(operation="TEST"), *actions]),
        )
    return open_filesystem("", store=store)


def at_day(monkeypatch: pytest.MonkeyPatch, day: int) -> None:
    monkeypatch.setattr("headgate.clock.SystemWorld.now_ms", lambda self: day * DAY + 5)


def left(store: Store, kind: log_file_names.LogFileKind) -> list[int]:
    found = (log_file_names.parse(meta.path) for meta in store.list_from(log_file_names.LOG_FOLDER))
    return sorted(file.version for file in found if file is not None and file.kind is kind)


@pytest.mark.parametrize("properties", [{}, V2], ids=["classic", "v2"])
def test_what_is_kept_can_be_read_and_the_rest_is_gone(
    monkeypatch: pytest.MonkeyPatch, properties: dict[str, str]
) -> None:
    opened = dated(60, **properties)
    at_day(monkeypatch, 59)
    for version in (10, 20, 40):
        opened.checkpoint(version=version)
    expected = sorted(opened.snapshot().files.columns["path"].to_pylist())

    gone = opened.cleanup_log()

    assert left(opened.store, log_file_names.LogFileKind.PUBLISHED) == list(range(20, 60))
    assert sorted(set(left(opened.store, log_file_names.LogFileKind.CHECKPOINT))) == [20, 40]
    assert left(opened.store, log_file_names.LogFileKind.CHECKSUM) == [20, 40]
    assert log_file_names.published_path(Version(0)) in gone
    fresh = open_filesystem("", store=opened.store)
    assert sorted(fresh.snapshot().files.columns["path"].to_pylist()) == expected
    assert fresh.snapshot(version=20).files.columns.num_rows == 20
    assert fresh.cleanup_log() == ()


def test_sidecars_of_checkpoints_that_went_go_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """S184"""
    opened = dated(60, **V2)
    at_day(monkeypatch, 59)
    opened.checkpoint(version=10)
    (old,) = (meta.path for meta in opened.store.list_from(log_file_names.SIDECAR_FOLDER))
    opened.checkpoint(version=20)
    young = f"{log_file_names.SIDECAR_FOLDER}{UUID}.parquet"
    opened.store.put(young, b"in the making")
    assert isinstance(opened.store, _Dated)
    opened.store.days[young] = 59

    assert old in opened.cleanup_log()

    kept = [meta.path for meta in opened.store.list_from(log_file_names.SIDECAR_FOLDER)]
    assert young in kept
    assert len(kept) == 2
    assert open_filesystem("", store=opened.store).snapshot().files.columns.num_rows == 59


def test_before_commits_go_the_newest_v2_checkpoint_gets_a_name_that_old_clients_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = dated(60, **V2)
    at_day(monkeypatch, 59)
    for version in (20, 40):
        opened.checkpoint(version=version)
    store, expected = opened.store, sorted(opened.snapshot().files.columns["path"].to_pylist())

    opened.cleanup_log()

    (by_uuid,) = [meta.path for meta in store.list_from(log_file_names.LOG_FOLDER) if _is_v2(meta.path, 40)]
    assert store.read(log_file_names.classic_checkpoint_path(Version(40))) == store.read(by_uuid)
    rows = pq.read_table(
        pa.BufferReader(store.read(log_file_names.classic_checkpoint_path(Version(40))))
    ).to_pylist()
    assert [row["protocol"]["readerFeatures"] for row in rows if row["protocol"]] == [["v2Checkpoint"]]
    store.delete(by_uuid)
    fresh = open_filesystem("", store=store)
    assert sorted(fresh.snapshot().files.columns["path"].to_pylist()) == expected
    assert fresh.check("t", data=False).errors == ()


@pytest.mark.parametrize("folder", [log_file_names.STAGED_FOLDER, log_file_names.LEGACY_STAGED_FOLDER])
def test_staged_files_of_versions_that_went_are_deleted_from_either_folder(
    monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    opened = dated(60)
    at_day(monkeypatch, 59)
    opened.checkpoint(version=20)
    staged = [f"{folder}{version:020d}.{UUID}.json" for version in (3, 19, 20, 59, 60)]
    for path in staged:
        opened.store.put(path, b"{}")

    gone = opened.cleanup_log()

    assert [path for path in staged if path in gone] == staged[:2]
    assert [meta.path for meta in opened.store.list_from(folder)] == staged[2:]


def test_nothing_is_named_anew_while_nothing_goes_or_where_the_name_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = dated(20, **V2)
    at_day(monkeypatch, 19)
    opened.checkpoint(version=10)
    assert opened.cleanup_log() == ()
    assert log_file_names.classic_checkpoint_path(Version(10)) not in {
        meta.path for meta in opened.store.list_from("")
    }

    opened.store.put(log_file_names.classic_checkpoint_path(Version(10)), b"of somebody else")
    at_day(monkeypatch, 90)
    with pytest.raises(CorruptLog):
        open_filesystem("", store=opened.store).cleanup_log()
    assert opened.store.read(log_file_names.classic_checkpoint_path(Version(10))) == b"of somebody else"


def _is_v2(path: str, version: int) -> bool:
    return log_file_names.is_v2_checkpoint(path) and path.startswith(
        log_file_names.path_before(Version(version))
    )


@pytest.mark.parametrize("prefix", ["/lake/t/_delta_log/_sidecars/", "file:///lake/t/_delta_log/_sidecars/"])
def test_sidecars_that_are_named_by_more_than_their_names_stay(
    monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    opened = dated(60, **V2)
    at_day(monkeypatch, 59)
    opened.checkpoint(version=20)
    (sidecar,) = (meta.path for meta in opened.store.list_from(log_file_names.SIDECAR_FOLDER))
    (main,) = (
        meta.path
        for meta in opened.store.list_from(log_file_names.LOG_FOLDER)
        if log_file_names.is_v2_checkpoint(meta.path)
    )
    known = pq.read_table(pa.BufferReader(opened.store.read(main)))
    rows = known.to_pylist()
    for row in rows:
        if row["sidecar"] is not None:
            row["sidecar"]["path"] = prefix + row["sidecar"]["path"]
    renamed = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, known.schema), renamed)
    opened.store.put(main, renamed.getvalue())

    assert log_file_names.published_path(Version(0)) in open_filesystem("", store=opened.store).cleanup_log()

    assert [meta.path for meta in opened.store.list_from(log_file_names.SIDECAR_FOLDER)] == [sidecar]
    assert open_filesystem("", store=opened.store).snapshot().files.columns.num_rows == 59


def test_a_crash_in_the_middle_leaves_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = dated(50)
    at_day(monkeypatch, 49)
    opened.checkpoint(version=15)
    latest = opened.snapshot().files.columns.num_rows
    deleted: list[str] = []

    def die_at_the_fifth(path: str) -> None:
        if not path.startswith(log_file_names.CLOCK_FILE):
            deleted.append(path)
        if len(deleted) == 5:
            raise KeyboardInterrupt
        DictStore.delete(opened.store, path)  # type: ignore[arg-type]

    monkeypatch.setattr(opened.store, "delete", die_at_the_fifth)
    with pytest.raises(KeyboardInterrupt):
        opened.cleanup_log()
    monkeypatch.undo()
    at_day(monkeypatch, 49)

    assert left(opened.store, log_file_names.LogFileKind.PUBLISHED) == list(range(4, 50))
    fresh = open_filesystem("", store=opened.store)
    assert fresh.snapshot().files.columns.num_rows == latest
    assert [entry.version for entry in fresh.history()][-1] == 4
    assert fresh.cleanup_log()
    assert left(opened.store, log_file_names.LogFileKind.PUBLISHED) == list(range(15, 50))


def test_nothing_goes_if_the_checkpoint_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = dated(50, **V2)
    at_day(monkeypatch, 49)
    opened.checkpoint(version=15)
    for meta in list(opened.store.list_from(log_file_names.SIDECAR_FOLDER)):
        opened.store.delete(meta.path)

    with pytest.raises((CorruptLog, ObjectNotFound)):
        opened.cleanup_log()

    assert left(opened.store, log_file_names.LogFileKind.PUBLISHED) == list(range(50))


def test_the_table_says_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = dated(10, delta_logRetentionDuration="interval 2 days")
    at_day(monkeypatch, 9)
    opened.checkpoint(version=6)

    opened.cleanup_log()

    assert left(opened.store, log_file_names.LogFileKind.PUBLISHED) == [6, 7, 8, 9]


def test_protection_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    """S188: a protocol in the protected past that nobody knows here is not exposed."""
    opened = dated(60)
    at_day(monkeypatch, 59)
    opened.checkpoint(version=20)
    opened.store.put(log_file_names.published_path(Version(5)), codec.encode([protocol("forgotten")]))
    protecting = metadata(delta_requireCheckpointProtectionBeforeVersion="30")
    opened.store.put(
        log_file_names.published_path(Version(30)),
        codec.encode([protocol("checkpointProtection"), protecting]),
    )

    assert open_filesystem("", store=opened.store).cleanup_log() == ()

    opened.store.put(log_file_names.published_path(Version(5)), codec.encode([V2_PROTOCOL]))
    assert open_filesystem("", store=opened.store).cleanup_log()


def test_on_managed_tables_commits_are_as_old_as_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S180: with permission; what is not published is never touched."""
    found = managed(tmp_path, 5, published=4)
    opened = found.opened()
    opened.checkpoint(version=3)
    stamps = {entry.version: entry.timestamp for entry in opened.history()}
    later = (stamps[Version(5)] // DAY + 40) * DAY
    monkeypatch.setattr("headgate.clock.SystemWorld.now_ms", lambda self: later)
    monkeypatch.setattr("headgate.storage.store_time.now_ms", lambda *_: later)

    permitted = found.opened()
    permitted.guard = AllPermitted(permitted._committer, permitted.store, permitted.world)

    gone = permitted.cleanup_log()

    assert [log_file_names.published_path(Version(version)) for version in range(3)] == list(gone)
    assert found.opened().snapshot().files.columns.num_rows == 5
