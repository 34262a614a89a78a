"""What a catalog believes of published files: what it read and hashed itself, over each database."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import StagingTable
from headgate.catalog.ports.events import Event, EventKind
from headgate.errors import CorruptLog, InvalidRequest
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.settings import Publish, Settings
from headgate.table.opened_table import OpenedTable
from headgate.table.read import log_reader
from tests.support.catalogs import a_catalog
from tests.support.tables import append_change, create_managed, named_file, open_managed

STRAY = "DELTA_TXN_LOG_FAILED_INTEGRITY"


@dataclass(frozen=True)
class Case:
    """A table of a real catalog, at version 4, of which nothing is published."""

    catalog: Catalog
    staging: StagingTable
    table: OpenedTable

    def file(self, version: int) -> Path:
        return Path(self.staging.location) / file_names.published_path(Version(version))

    @property
    def published(self) -> int:
        return self.catalog.tail(self.staging.table_id).published

    def incidents(self) -> list[Event]:
        return [event for event in self.catalog.events.after(0) if event.kind is EventKind.INCIDENT]

    def rows(self) -> list[str]:
        fresh = open_managed(self.catalog, self.staging.table_id, self.staging.location)
        return sorted(fresh.snapshot().files.columns["path"].to_pylist())


@pytest.fixture(params=["sqlite-inline", "sqlite-staged", "postgresql-inline"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    kind, _, how = request.param.partition("-")
    limit = 0 if how == "staged" else 1 << 20
    settings = Settings(publish=Publish.ON_DEMAND, inline_limit_bytes=limit)
    with a_catalog(kind, tmp_path) as catalog:
        staging = create_managed(catalog)
        table = open_managed(catalog, staging.table_id, staging.location, settings=settings)
        for number in range(1, 5):
            table.commit(append_change(named_file(str(number))), base=table.newest_known())
        yield Case(catalog, staging, table)


def test_a_stray_file_is_one_incident_and_all_before_it_counts_as_published(case: Case) -> None:
    """T6"""
    case.file(3).write_bytes(b'{"add":{}}\n')

    for _ in range(3):
        with pytest.raises(CorruptLog, match="version 3") as caught:
            case.table.publish()

    assert caught.value.code == STRAY
    assert case.file(3).read_bytes() == b'{"add":{}}\n'
    assert (case.published, case.file(4).exists()) == (2, False)
    (incident,) = case.incidents()
    assert (incident.table, incident.version) == ("test.t", 3)
    assert incident.details["code"] == STRAY
    assert incident.details["path"] == file_names.published_path(Version(3))
    assert case.rows() == ["1", "2", "3", "4"]


def test_once_the_stray_file_is_moved_away_publishing_goes_on(case: Case) -> None:
    case.file(3).write_bytes(b"stray")
    with pytest.raises(CorruptLog):
        case.table.publish()

    case.file(3).rename(case.file(3).with_suffix(".stray"))

    assert case.table.publish() == 4
    assert case.published == 4
    assert len(case.incidents()) == 1


def test_another_stray_file_of_the_same_version_is_another_incident(case: Case) -> None:
    for content in (b"one", b"two", b"one"):
        case.file(1).write_bytes(content)
        with pytest.raises(CorruptLog):
            case.table.publish()

    assert len(case.incidents()) == 2


def test_a_false_report_is_not_believed_and_all_content_is_kept(case: Case) -> None:
    """T7"""
    held = case.catalog.tail(case.staging.table_id)

    for version, problem in ((4, "version 1 is not published"), (5, "the latest ratified version is 4")):
        with pytest.raises(InvalidRequest, match=problem):
            case.catalog.mark_published(case.staging.table_id, Version(version))

    assert case.catalog.tail(case.staging.table_id) == held
    assert case.rows() == ["1", "2", "3", "4"]


def test_a_report_is_believed_as_far_as_it_is_true(case: Case) -> None:
    """T7: versions 1 and 2 are there, 3 is not, and 4 is something else."""
    store = case.table.store
    commits = {commit.version: commit for commit in case.catalog.tail(case.staging.table_id).commits}
    for version in map(Version, (1, 2)):
        case.file(version).write_bytes(log_reader.commit_content(store, version, commits[version]))
    case.file(4).write_bytes(b"stray")

    with pytest.raises(InvalidRequest, match="version 3 is not published"):
        case.catalog.mark_published(case.staging.table_id, Version(4))

    assert case.published == 2
    assert [commit.version for commit in case.catalog.tail(case.staging.table_id).commits] == [3, 4]
    assert case.incidents() == []
    assert case.rows() == ["1", "2", "3", "4"]


@pytest.mark.parametrize("how", ["changed", "gone"])
def test_a_staged_file_changed_after_its_ratification_is_neither_read_nor_published(
    tmp_path: Path, how: str
) -> None:
    """T5"""
    settings = Settings(publish=Publish.ON_DEMAND, inline_limit_bytes=0)
    with a_catalog("sqlite", tmp_path) as catalog:
        staging = create_managed(catalog)
        table = open_managed(catalog, staging.table_id, staging.location, settings=settings)
        case = Case(catalog, staging, table)
        for number in range(1, 4):
            table.commit(append_change(named_file(f"ours-{number}")), base=table.newest_known())
        *_, staged = catalog.tail(staging.table_id).commits[1:2]
        file = Path(staging.location) / staged.where.path
        content = file.read_bytes()
        file.unlink() if how == "gone" else file.write_bytes(content.replace(b"ours", b"evil"))

        for _ in range(2):
            with pytest.raises(CorruptLog, match=r"no longer what was ratified|is gone"):
                table.publish()
        with pytest.raises(CorruptLog, match=r"no longer what was ratified|is gone"):
            open_managed(catalog, staging.table_id, staging.location).snapshot()

        assert [case.file(version).exists() for version in (1, 2, 3)] == [True, False, False]
        assert case.published == 1
        (incident,) = case.incidents()
        assert (incident.version, incident.details["path"]) == (2, staged.where.path)
        file.write_bytes(content)
        assert table.publish() == 3
        assert case.published == 3
