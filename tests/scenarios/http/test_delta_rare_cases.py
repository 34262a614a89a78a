"""Commits through the Delta API of which little is left, or which are not what their name says."""

from headgate.protocol.actions import DomainMetadata
from tests.support.delta_api import (
    INVALID,
    TAKEN,
    DeltaTable,
    backfill,
    error_of,
    file_path,
    publish_file,
    published,
    stage_file,
)


def test_another_file_of_a_version_whose_own_is_gone_is_a_conflict(table: DeltaTable) -> None:
    """Whether the published file is there or not: the catalog remembers what it ratified."""
    first = table.commit(1)
    publish_file(table.location, first)
    table.commit(2, backfilled=1)
    (file_path(table.location) / "_delta_log/_staged_commits" / first.file_name).unlink()

    assert error_of(table.update(stage_file(table.location, 1).update)) == TAKEN
    published(table.location, 1).unlink()
    assert error_of(table.update(stage_file(table.location, 1).update)) == TAKEN
    assert table.load()["latest-table-version"] == 2


def test_a_folder_by_the_name_of_a_staged_commit_is_none(table: DeltaTable) -> None:
    staged = stage_file(table.location, 1)
    place = file_path(table.location) / "_delta_log/_staged_commits" / staged.file_name
    place.unlink()
    place.mkdir()

    assert table.update(staged.update).status_code in (400, 500)
    assert table.load()["latest-table-version"] == 0
    place.rmdir()
    table.commit(1)


def test_a_domain_needs_its_feature(table: DeltaTable) -> None:
    domain = DomainMetadata(domain="acme.x", configuration="{}", removed=False)

    assert error_of(table.update(stage_file(table.location, 1, domain).update)) == INVALID
    assert table.load()["latest-table-version"] == 0


def test_nothing_is_reported_of_a_table_without_commits(table: DeltaTable) -> None:
    assert error_of(table.update(backfill(1))) == INVALID
    assert error_of(table.update(stage_file(table.location, 1).update, backfill(1))) == INVALID
    assert table.load()["latest-table-version"] == 0
