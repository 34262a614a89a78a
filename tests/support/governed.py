"""A lake with principals of every kind, and a table to try them on; fixtures for the tests that use it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec
import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.access import IMPLIED_PRIVILEGES, LAKE, OWNER, Principal, Privilege
from headgate.catalog.ports.commits import TableId, TableState
from headgate.catalog.ports.directory import TableName
from headgate.catalog.store import grant_store
from headgate.catalog.store.table_not_found import no_table
from headgate.errors import CommitRefused, TableNotFound
from headgate.protocol.actions import (
    Action,
    AddFile,
    CommitInfo,
    RemoveFile,
    TxnId,
)
from headgate.protocol.log import codec
from headgate.protocol.transaction import fresh_file_names
from tests.support.broken_commits import with_features, with_properties
from tests.support.catalogs import a_catalog
from tests.support.lenient import anything_goes
from tests.support.proposals import inline, stamp
from tests.support.tables import create_managed, named_file

ADD, REMOVE = named_file("a"), RemoveFile(path="b", data_change=True)
COUNT = iter(range(10_000))


@dataclass(frozen=True)
class Place:
    """A catalog with one table, and the next commit to it."""

    catalog: Catalog
    table_id: TableId
    location: str

    def told(self) -> TableState:
        found = self.catalog.tail(self.table_id).description
        assert found is not None
        return found

    def propose(self, *actions: Action, by: str = OWNER, **info: object) -> object:
        """Propose the next version; others put files without a folder where they are known to be new."""
        version = self.catalog.tail(self.table_id).latest + 1
        txn_id = f"{self.table_id} {by} {version}"
        marked = fresh_file_names.transaction_prefix(self.table_id, TxnId(txn_id))
        if by != OWNER:
            actions = tuple(_placed(action, marked) for action in actions)
        told = CommitInfo(in_commit_timestamp=stamp(version), txn_id=TxnId(txn_id), **info)  # type: ignore[arg-type]  # any field of it
        data = codec.encode((told, *actions))
        return self.catalog.acting_as(by).propose(inline(self.table_id, version, txn_id, data=data))

    @property
    def rest(self) -> tuple[TableId, str]:
        """The table, for another view of the catalog."""
        return self.table_id, self.location

    @property
    def name(self) -> str:
        return next(str(each.name) for each in self.catalog.tables() if each.table_id == self.table_id)

    def grant(self, to: str, *privileges: Privilege) -> None:
        for privilege in privileges:
            self.catalog.granting.grant(privilege, self.name, to)

    @contextmanager
    def refuses(self, policy_name: str, line: int | None = None) -> Iterator[None]:
        """What is proposed inside is refused by this policy, and changes nothing."""
        before = self.catalog.tail(self.table_id)
        with pytest.raises(CommitRefused) as caught:
            yield
        assert caught.value.fields["policy"] == policy_name
        assert line is None or caught.value.fields["line"] == line
        assert "nothing was committed" in caught.value.message
        assert self.catalog.tail(self.table_id) == before

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """What is proposed inside is by somebody who may not know of the table, and changes nothing."""
        before, events = self.catalog.tail(self.table_id), self.catalog.events.newest()
        with pytest.raises(TableNotFound) as caught:
            yield
        assert caught.value.message == no_table(self.table_id).message
        assert self.catalog.tail(self.table_id) == before
        assert self.catalog.events.newest() == events


def _placed(action: Action, marked: str) -> Action:
    if isinstance(action, AddFile) and "/" not in action.path and action.deletion_vector is None:
        return msgspec.structs.replace(action, path=f"{marked}/{action.path}")
    return action


FEATURES = ("domainMetadata", "deletionVectors", "changeDataFeed", "columnMapping")


def _principals() -> Iterator[tuple[str, Privilege]]:
    for privilege in Privilege:
        yield f"only {privilege.value}", privilege
        for other in Privilege:
            if privilege not in (other, *IMPLIED_PRIVILEGES.get(other, ())):
                yield f"not {privilege.value}", other


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    """A lake in which there is, for every privilege, one who has only that, and one who has all others."""
    with a_catalog(request.param, tmp_path_factory.mktemp("lake")) as catalog:
        with catalog._database.writing() as db:
            for who, privilege in _principals():
                given = (privilege, LAKE, Principal(who))
                grant_store.grant(db, given, by=OWNER, now_ms=0)
        yield catalog


@pytest.fixture
def place(shared: Catalog) -> Place:
    """A table of its own, with every feature that commits here use."""
    name = TableName("s", f"t{next(COUNT)}")
    staging = create_managed(shared, name)
    place = Place(shared, staging.table_id, staging.location)
    told = place.told()
    with anything_goes():
        place.propose(
            with_features(told.protocol, *FEATURES),
            with_properties(told.metadata, delta_enableDeletionVectors="true"),
        )
    return place
