"""Metadata domains stay what they are, whatever their log is read from."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headgate.catalog.embedded import open_catalog
from headgate.protocol.actions import DomainMetadata, Version
from headgate.protocol.domains.rules import RemoveDomain, SetDomain
from headgate.storage.locate import locate
from headgate.table.opened_table import OpenedTable
from headgate.table.read import checksum_files
from headgate.table.transaction import Change, Operation
from tests.support.lenient import anything_goes
from tests.support.tables import (
    append_change,
    create_filesystem,
    create_managed,
    named_file,
    open_filesystem,
    open_managed,
)

LIVE = {"acme.b": "changed", "acme.c": "3", "delta.fromTheFuture": "?"}


@pytest.fixture(params=["filesystem", "managed"])
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], OpenedTable]]:
    """A table at version 4 with the domains LIVE, of which others were removed and changed before."""
    if request.param == "filesystem":
        create_filesystem(locate(str(tmp_path)))
        _fill(open_filesystem(str(tmp_path)))
        yield lambda: open_filesystem(str(tmp_path))
        return
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    _fill(open_managed(catalog, staging.table_id, staging.location))
    yield lambda: open_managed(catalog, staging.table_id, staging.location)
    catalog.close()


def _fill(table: OpenedTable) -> None:
    foreign = DomainMetadata(domain="delta.fromTheFuture", configuration="?", removed=False)
    table.change_domains([SetDomain("acme.a", "1"), SetDomain("acme.b", "2")])
    with anything_goes():
        table.commit(Change(Operation("FUTURE"), (foreign,)), base=table.newest_known())
    table.change_domains([RemoveDomain("acme.a"), SetDomain("acme.c", "3")])
    table.change_domains([SetDomain("acme.b", "changed")])


def _checkpointed(table: OpenedTable) -> None:
    table.checkpoint()


def _checkpointed_in_between(table: OpenedTable) -> None:
    table.checkpoint(version=2)


def _compacted(table: OpenedTable) -> None:
    table.publish()
    table.compact_log(1, 4)


def _compacted_from_the_removal_on(table: OpenedTable) -> None:
    table.publish()
    table.compact_log(3, 4)


def _left_alone(_: OpenedTable) -> None:
    pass


@pytest.mark.parametrize(
    "upkeep",
    [_left_alone, _checkpointed, _checkpointed_in_between, _compacted, _compacted_from_the_removal_on],
)
def test_s190_s191_s192_s202_the_live_domains_are_the_same_after_any_upkeep(
    opening: Callable[[], OpenedTable], upkeep: Callable[[OpenedTable], None]
) -> None:
    upkeep(opening())
    assert opening().domains() == LIVE

    table = opening()
    table.commit(append_change(named_file("a")), base=table.snapshot())

    assert table.domains() == opening().domains() == LIVE


def test_s190_s191_a_checksum_has_the_live_domains_and_no_others(opening: Callable[[], OpenedTable]) -> None:
    table = opening()
    table.checkpoint()

    written = checksum_files.read_checksum(table.store, Version(4))

    assert written is not None
    assert {action.domain: action.configuration for action in written.domain_metadata or ()} == LIVE
    assert opening().verify() == ()
