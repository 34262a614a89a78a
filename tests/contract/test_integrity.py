"""A catalog-managed table damaged by hand: the check finds exactly that, and repairs what can be."""

import hashlib
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import text

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.groups import GroupId, GroupProposal, GroupRatified
from headgate.catalog.ports.integrity import AuditedCommit
from headgate.protocol import integrity_findings
from headgate.protocol.actions import CommitInfo, EpochMillis, Protocol, TxnId, Version
from headgate.protocol.integrity_findings import Severity
from headgate.protocol.log import codec, file_names
from headgate.settings import Publish, Settings
from headgate.table.integrity.check import IntegrityReport
from headgate.table.opened_table import OpenedTable
from tests.support import adopted, tables
from tests.support import proposals as proposals_by_hand
from tests.support.catalogs import a_catalog

STAGED = Settings(publish=Publish.ON_DEMAND, inline_limit_bytes=0)
PUBLISHED, LATEST = Version(3), Version(5)
INLINE_VERSION, STAGED_VERSION = Version(4), Version(5)
"""Of those that are not published."""


@dataclass(frozen=True, slots=True)
class Patient:
    """Versions 0 to 5: 3 was staged and has a checkpoint, 4 is inline and 5 staged, both unpublished."""

    catalog: Catalog
    entry: TableEntry

    def table(self, settings: Settings = tables.ON_DEMAND) -> OpenedTable:
        return tables.open_managed(self.catalog, self.entry.table_id, self.entry.location, settings=settings)

    def check(self, *, repair: bool = False) -> IntegrityReport:
        keeper = self.catalog.books(self.entry.table_id)
        return self.table().check("test.t", keeper=keeper, repair=repair)

    def sql(self, statement: str, **values: object) -> None:
        with self.catalog._database.writing() as db:
            db.execute(text(statement), {"id": self.entry.table_id, **values})

    def row(self, version: Version) -> AuditedCommit:
        return self.catalog.books(self.entry.table_id).read().by_version[version]

    def path(self, name: str) -> Path:
        return Path(self.entry.location) / name

    def rewrite(self, version: Version, content: bytes) -> None:
        """Have the catalog hold other content, as if that had been ratified."""
        self.sql(
            "UPDATE commits SET content = :content, size = :size, sha256 = :sha "
            "WHERE table_id = :id AND version = :version",
            content=content, size=len(content), sha=hashlib.sha256(content).hexdigest(), version=version,
        )  # fmt: skip

    def publish_by_hand(self, *versions: Version) -> None:
        for version in versions:
            row = self.row(version)
            staged = file_names.STAGED_FOLDER + (row.file_name or "")
            content = row.content if row.file_name is None else self.path(staged).read_bytes()
            self.path(file_names.published_path(version)).write_bytes(content)

    @property
    def staged_file(self) -> Path:
        return self.path(file_names.STAGED_FOLDER + self.row(STAGED_VERSION).file_name)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the patient, to be copied: a lake may be moved as a whole."""
    folder = tmp_path_factory.mktemp("patient") / "lake"
    with a_catalog("sqlite", folder) as catalog:
        _prepared(catalog)
    return folder


@pytest.fixture
def patient(lake: Path, tmp_path: Path) -> Iterator[Patient]:
    shutil.copytree(lake, tmp_path / "lake")
    with a_catalog("sqlite", tmp_path / "lake") as catalog:
        yield Patient(catalog, catalog.resolve(tables.NAME))


@pytest.fixture
def patient_on_postgresql(tmp_path: Path) -> Iterator[Patient]:
    with a_catalog("postgresql", tmp_path) as catalog:
        yield _prepared(catalog)


def _prepared(catalog: Catalog) -> Patient:
    tables.create_managed(catalog)
    made = Patient(catalog, catalog.resolve(tables.NAME))
    for version, settings in enumerate([tables.ON_DEMAND, tables.ON_DEMAND, STAGED], 1):
        _append(made.table(settings), version)
    made.table().checkpoint()
    made.table().compact_log(1, 2)
    _append(made.table(), INLINE_VERSION)
    _append(made.table(STAGED), STAGED_VERSION)
    return made


def _append(table: OpenedTable, version: int) -> None:
    add = tables.parquet_file(table.location, f"part-{version}.parquet", [version])
    table.commit(tables.append_change(add), base=table.snapshot())


Harm = Callable[[Patient], None]


@dataclass(frozen=True, slots=True)
class Damage:
    """One way to harm a table, what the check must call it, and whether a repair makes it whole."""

    rule: str
    harm: Harm
    repaired: bool = False
    name: str = ""


def _sql(statement: str) -> Harm:
    return lambda patient: patient.sql(statement)


def _delete(name: str) -> Harm:
    return lambda patient: patient.path(name).unlink()


def _append_bytes(name: str, more: bytes = b"\n") -> Harm:
    return lambda patient: _write(patient.path(name), patient.path(name).read_bytes() + more)


def _put(name: str, content: bytes = b"damaged") -> Harm:
    return lambda patient: _write(patient.path(name), content)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def _after_publishing(harm: Harm, *versions: Version) -> Harm:
    def harmed(patient: Patient) -> None:
        patient.publish_by_hand(*versions)
        harm(patient)

    return harmed


def _everything_published(harm: Harm) -> Harm:
    def harmed(patient: Patient) -> None:
        patient.table().publish()
        harm(patient)

    return harmed


def _forget_the_last_row(patient: Patient) -> None:
    before = patient.row(INLINE_VERSION)
    patient.sql("UPDATE tables SET latest = 4, latest_timestamp = :at", at=before.in_commit_timestamp)


def _described_otherwise(patient: Patient) -> None:
    protocol = msgspec.json.encode(Protocol(min_reader_version=1, min_writer_version=1)).decode()
    patient.sql("UPDATE tables SET protocol = :protocol WHERE table_id = :id", protocol=protocol)


def _half_a_group(patient: Patient) -> None:
    other = tables.create_managed(patient.catalog, tables.TableName("test", "other"))
    at = patient.catalog.books(patient.entry.table_id).read().latest_timestamp + 86_400_000
    both = ((patient.entry.table_id, LATEST + 1), (other.table_id, 1))
    proposals = tuple(
        proposals_by_hand.inline(
            table_id, version, f"of-{version}", data=_only_info(f"of-{version}", at + version)
        )
        for table_id, version in both
    )
    assert isinstance(patient.catalog.propose_group(GroupProposal(GroupId("g"), proposals)), GroupRatified)
    assert patient.check().is_clean
    patient.sql("DELETE FROM commits WHERE table_id = :other AND version = 1", other=other.table_id)


def _only_info(txn_id: str, at: int) -> bytes:
    info = CommitInfo(txn_id=TxnId(txn_id), in_commit_timestamp=EpochMillis(at))
    return codec.encode((info,))


def _unmanaged(patient: Patient) -> None:
    patient.catalog.books(patient.entry.table_id).forget_description()
    plain = Protocol(min_reader_version=1, min_writer_version=2)
    patient.rewrite(INLINE_VERSION, patient.row(INLINE_VERSION).content + codec.encode((plain,)))


def _checkpoint_too_soon(patient: Patient) -> None:
    patient.table().checkpoint()
    patient.path(file_names.published_path(LATEST)).unlink()
    patient.sql("UPDATE tables SET published = 4 WHERE table_id = :id")


def _checkpoint_without_a_file(patient: Patient) -> None:
    path = patient.path(file_names.classic_checkpoint_path(PUBLISHED))
    table = pq.read_table(path)
    paths = [None if add is None else add["path"] for add in table["add"].to_pylist()]
    keep = pa.array([path != "part-2.parquet" for path in paths])
    pq.write_table(table.filter(keep), path)


def _another_pointer(patient: Patient) -> None:
    _write(patient.path(file_names.LAST_CHECKPOINT), b'{"version":2,"size":1}')


def _pointer_with_another_checksum(patient: Patient) -> None:
    path = patient.path(file_names.LAST_CHECKPOINT)
    said = msgspec.json.decode(path.read_bytes())
    _write(path, msgspec.json.encode({**said, "size": said["size"] + 1}))


def _compaction_without_a_file(patient: Patient) -> None:
    path = patient.path(file_names.compaction_path(Version(1), Version(2)))
    _write(path, path.read_bytes().splitlines(keepends=True)[0])


def _another_checksum(patient: Patient) -> None:
    path = patient.path(file_names.checksum_path(PUBLISHED))
    said = msgspec.json.decode(path.read_bytes())
    _write(path, msgspec.json.encode({**said, "numFiles": said["numFiles"] + 1}))


_CONTENT_GONE = _sql("UPDATE commits SET content = NULL WHERE table_id = :id AND version = 4")
_CONTENT_OTHER = _sql("UPDATE commits SET content = 'x' WHERE table_id = :id AND version = 4")
_BOTH = (INLINE_VERSION, STAGED_VERSION)

DAMAGES: tuple[Damage, ...] = (
    Damage("latest-differs", _forget_the_last_row),
    Damage("rows-gap", _sql("DELETE FROM commits WHERE table_id = :id AND version = 2")),
    Damage("head-timestamp", _sql("UPDATE tables SET latest_timestamp = latest_timestamp + 1")),
    Damage("watermark-ahead", _everything_published(_sql("UPDATE tables SET published = latest + 1"))),
    Damage("content-missing", _CONTENT_GONE),
    Damage("content-missing", _after_publishing(_CONTENT_GONE, INLINE_VERSION), True, "but-published"),
    Damage("content-damaged", _CONTENT_OTHER),
    Damage("content-damaged", _after_publishing(_CONTENT_OTHER, INLINE_VERSION), True, "but-published"),
    Damage("staged-missing", lambda it: it.staged_file.unlink()),
    Damage("staged-missing", _after_publishing(lambda it: it.staged_file.unlink(), *_BOTH), True,
           "but-published"),
    Damage("staged-damaged", lambda it: _write(it.staged_file, b"x")),
    Damage("staged-damaged", _after_publishing(lambda it: _write(it.staged_file, b"x"), *_BOTH), True,
           "but-published"),
    Damage("description-differs", _described_otherwise, True),
    Damage("row-differs", _sql("UPDATE commits SET txn_id = 'other' WHERE table_id = :id AND version = 2")),
    Damage("group-torn", _half_a_group),
    Damage("watermark-lags", _after_publishing(lambda _: None, INLINE_VERSION), True),
    Damage("published-missing", _delete(file_names.published_path(Version(2)))),
    Damage("published-missing", _delete(file_names.published_path(PUBLISHED)), True, "but-staged"),
    Damage("published-differs", _append_bytes(file_names.published_path(Version(2)))),
    Damage("publish-order", lambda it: it.publish_by_hand(STAGED_VERSION), True),
    Damage("beyond-latest", _put(file_names.published_path(Version(6)))),
    Damage("not-managed", _unmanaged),
    Damage("checkpoint-unpublished", _checkpoint_too_soon, True),
    Damage("checkpoint-damaged", _put(file_names.classic_checkpoint_path(PUBLISHED)), True),
    Damage("checkpoint-differs", _checkpoint_without_a_file, True),
    Damage("checkpoint-incomplete",
           _put(f"{file_names.LOG_FOLDER}{2:020d}.checkpoint.0000000001.0000000002.parquet")),
    Damage("compaction-damaged", _put(file_names.compaction_path(Version(1), Version(2))), True),
    Damage("compaction-differs", _compaction_without_a_file, True),
    Damage("pointer-damaged", _put(file_names.LAST_CHECKPOINT), True),
    Damage("pointer-damaged", _another_pointer, True, "to-nothing"),
    Damage("pointer-damaged", _pointer_with_another_checksum, True, "checksum"),
    Damage("pointer-lags", _delete(file_names.LAST_CHECKPOINT), True),
    Damage("checksum-damaged", _put(file_names.checksum_path(PUBLISHED)), True),
    Damage("checksum-differs", _another_checksum, True),
    Damage("data-missing", _delete("part-2.parquet")),
    Damage("data-size", _append_bytes("part-2.parquet", b"more")),
    Damage("staged-orphans",
           _put(f"{file_names.STAGED_FOLDER}{5:020d}.{'0' * 8}-0000-4000-8000-{'0' * 12}.json")),
    Damage("orphans", _put("stray.parquet")),
)  # fmt: skip


def _parameters() -> list[Any]:
    return [pytest.param(row, id="-".join(filter(None, (row.rule, row.name)))) for row in DAMAGES]


ABOUT_BOOKS = ("rows-gap", "content-missing", "content-damaged", "description-differs", "watermark-lags")
"""Rules that depend on what a database gives back: the others see only files."""


def test_a_table_in_the_middle_of_its_life_is_whole(patient: Patient) -> None:
    report = patient.check()

    assert (report.findings, report.commits, report.checkpoints) == ((), 6, 1)
    assert report.data_files == 5
    assert report.checksums >= 1


@pytest.mark.parametrize("damage", _parameters())
def test_the_check_finds_exactly_the_damage_and_repairs_what_can_be(patient: Patient, damage: Damage) -> None:
    damage.harm(patient)
    severity = integrity_findings.BY_NAME[damage.rule].severity

    found = patient.check().findings
    worst = [finding.rule for finding in found if finding.severity is severity]
    assert worst == [damage.rule], found
    assert not any(finding.severity is Severity.ERROR for finding in found if finding.rule != damage.rule)
    assert all(finding.repairable == damage.repaired for finding in found if finding.rule == damage.rule)
    assert not any(re.search(r"\b1\d{12}\b", finding.explanation) for finding in found), "milliseconds"

    before, rows = _files(patient), patient.catalog.books(patient.entry.table_id).read().rows
    after = patient.check(repair=True)
    _assert_nothing_lost(patient, before, rows)
    assert (damage.rule not in {finding.rule for finding in after.findings}) == damage.repaired
    assert after.is_clean == (damage.repaired or severity is Severity.NOTE)
    assert (damage.rule in {finding.rule for finding in after.repaired}) == damage.repaired


def _assert_nothing_lost(patient: Patient, before: dict[str, bytes], rows: tuple[AuditedCommit, ...]) -> None:
    """Every file that was there still is, unless it is one that the log makes anew; every row still is."""
    gone = {name for name, content in before.items() if _files(patient).get(name) != content}
    assert all(
        name.startswith(file_names.LOG_FOLDER) and file_names.STAGED_FOLDER not in name for name in gone
    ), gone
    assert not [
        name
        for name in gone
        if (file := file_names.parse(name)) and file.kind is file_names.LogFileKind.PUBLISHED
    ]
    after = patient.catalog.books(patient.entry.table_id).read().rows
    assert [(row.version, row.txn_id, row.sha256) for row in after] == [
        (row.version, row.txn_id, row.sha256) for row in rows
    ]


def _files(patient: Patient) -> dict[str, bytes]:
    root = Path(patient.entry.location)
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def test_a_checkpoint_that_alone_knows_the_past_is_never_deleted(patient: Patient) -> None:
    """Its commits were cleaned up: damaged or not, it is all there is."""
    for version in range(PUBLISHED):
        patient.path(file_names.published_path(Version(version))).unlink()
    path = patient.path(file_names.classic_checkpoint_path(PUBLISHED))
    assert patient.check().is_clean
    path.write_bytes(b"damaged")

    report = patient.check(repair=True)

    assert {finding.rule for finding in report.errors} == {"checkpoint-damaged"}
    assert path.read_bytes() == b"damaged"


def test_a_check_while_others_commit_finds_nothing(patient: Patient) -> None:
    """The log is listed before the catalog is asked; what comes between must not look like damage."""
    books = patient.catalog.books(patient.entry.table_id)
    table = patient.table()
    reads = iter(range(10))

    class Meanwhile:
        def read(self) -> Any:
            version = LATEST + 1 + next(reads)
            _append(patient.table(), version)
            patient.table().publish()
            patient.table().checkpoint()
            return books.read()

    for _ in range(3):
        report = table.check("test.t", keeper=Meanwhile())  # type: ignore[arg-type]
        assert report.is_clean, report.findings


def test_a_table_that_was_taken_in_with_its_past_is_whole(tmp_path: Path) -> None:
    """The catalog has no rows of what was before it."""
    adopted.ordinary(tmp_path / "plain").checkpoint()
    with a_catalog("sqlite", tmp_path / "lake") as catalog:
        adopted.welcome(catalog)
        patient = Patient(catalog, adopted.adopt(catalog, tmp_path / "plain"))
        _append(patient.table(STAGED), 9)

        assert patient.check().findings == ()


def test_a_version_ratified_twice_cannot_even_be_written_down(patient: Patient) -> None:
    row = patient.row(Version(2))
    with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
        patient.sql(
            "UPDATE commits SET txn_id = :txn WHERE table_id = :id AND version = 1", txn=TxnId(row.txn_id)
        )
