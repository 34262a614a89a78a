"""APPEND alone adds: it cannot touch a file that is there, or was, nor the transactions of others."""

import msgspec
import pytest

from headgate.catalog.ports.access import Privilege
from headgate.catalog.ports.commits import Ratified
from headgate.catalog.ports.directory import TableName
from headgate.protocol.actions import AddFile, AppTransaction, DomainMetadata, RemoveFile, TxnId
from headgate.protocol.transaction import fresh_file_names
from tests.support.broken_commits import with_features
from tests.support.governed import COUNT, Place, place, shared
from tests.support.lenient import anything_goes
from tests.support.tables import create_managed, named_file

__all__ = ["place", "shared"]  # fixtures

LIVE = named_file("folder/live.parquet")
GONE = named_file("folder/gone.parquet")


@pytest.fixture
def filled(place: Place) -> Place:
    """A table with a live file and a removed one, and with who may only append to it, or change it too."""
    place.propose(LIVE, GONE)
    place.propose(RemoveFile(path=GONE.path, data_change=True))
    place.grant("eve", Privilege.APPEND)
    place.grant("ana", Privilege.CHANGE_DATA)
    return place


def _live(**changed: object) -> AddFile:
    return msgspec.structs.replace(LIVE, **changed)


@pytest.mark.parametrize(
    "add",
    [
        pytest.param(LIVE, id="as it is"),
        pytest.param(_live(stats='{"numRecords":0}'), id="with other statistics"),
        pytest.param(_live(size=7), id="of another size"),
        pytest.param(_live(path="folder/%6Cive.parquet"), id="by another spelling"),
        pytest.param(_live(path="folder//live.parquet"), id="with an empty part"),
        pytest.param(GONE, id="removed"),
        pytest.param(named_file("folder/new.parquet"), id="of which nobody can tell"),
    ],
)
def test_a_file_that_may_be_there_takes_change_data(filled: Place, add: AddFile) -> None:
    with filled.refuses("privileges", line=2):
        filled.propose(add, by="eve")

    assert isinstance(filled.propose(add, by="ana"), Ratified)


def test_a_new_file_in_a_folder_that_says_so_takes_append(filled: Place) -> None:
    assert isinstance(filled.propose(named_file("a"), named_file("b"), by="eve"), Ratified)


def test_the_mark_of_a_transaction_is_good_for_no_other_and_for_no_other_table(filled: Place) -> None:
    other = create_managed(filled.catalog, TableName("s", f"t{next(COUNT)}")).table_id
    version = filled.catalog.tail(filled.table_id).latest + 1
    same = TxnId(f"{filled.table_id} eve {version}")

    for marked in (
        fresh_file_names.transaction_prefix(filled.table_id, TxnId("another")),
        fresh_file_names.transaction_prefix(other, same),
    ):
        with filled.refuses("privileges", line=2):
            filled.propose(named_file(f"{marked}/a"), by="eve")


def test_what_only_begins_like_a_mark_is_none(filled: Place) -> None:
    marked = fresh_file_names.transaction_prefix(filled.table_id, TxnId("t"))

    assert fresh_file_names.is_fresh(f"{marked}/a", marked)
    assert fresh_file_names.is_fresh(f"{marked}-1/a", marked)
    for path in (marked, f"{marked}0/a", f"{marked}://host/a", f"/{marked}/a", f"{marked[1:]}/a"):
        assert not fresh_file_names.is_fresh(path, marked)


def test_new_rows_have_new_ids(filled: Place) -> None:
    mark = DomainMetadata(domain="delta.rowTracking", configuration='{"rowIdHighWaterMark":5}', removed=False)
    with anything_goes():
        filled.propose(with_features(filled.told().protocol, "rowTracking", "domainMetadata"), mark)

    def numbered(first: int) -> AddFile:
        return msgspec.structs.replace(named_file("a"), base_row_id=first, default_row_commit_version=1)

    with filled.refuses("privileges", line=2):
        filled.propose(numbered(5), by="eve")
    moved = msgspec.structs.replace(mark, configuration='{"rowIdHighWaterMark":6}')
    assert isinstance(filled.propose(numbered(6), moved, by="eve"), Ratified)


def test_who_may_only_append_sets_the_versions_of_their_own_applications(filled: Place) -> None:
    filled.grant("bob", Privilege.APPEND)
    filled.propose(AppTransaction(app_id="of the owner", version=1))

    assert isinstance(filled.propose(AppTransaction(app_id="stream", version=1), by="eve"), Ratified)
    assert isinstance(filled.propose(AppTransaction(app_id="stream", version=2), by="eve"), Ratified)
    for app_id in ("stream", "of the owner"):
        with filled.refuses("privileges", line=2):
            filled.propose(AppTransaction(app_id=app_id, version=9), by="bob")
    assert isinstance(filled.propose(AppTransaction(app_id="stream", version=3), by="ana"), Ratified)
    with filled.refuses("privileges", line=2):  # ana has taken it over
        filled.propose(AppTransaction(app_id="stream", version=4), by="eve")


def test_nobody_knows_whose_an_application_is_where_the_catalog_did_not_see_all_of_them(
    filled: Place,
) -> None:
    filled.catalog.books(filled.table_id).forget_description()

    with filled.refuses("privileges", line=2):
        filled.propose(AppTransaction(app_id="stream", version=1), by="eve")
