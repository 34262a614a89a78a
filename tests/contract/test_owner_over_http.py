"""Machines share a coordinator over HTTP: the conf has an address and no secret, and answers get lost."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.access import secret_digest
from headgate.catalog.targets import TOKEN_VARIABLE
from headgate.clock import SystemWorld
from headgate.errors import HeadgateError, InvalidRequest, NotAllowed, NotAuthenticated, Retry
from headgate.plugins import coordinators
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.server.auth.credentials import CredentialAuthenticator
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.settings import Settings
from headgate.storage.locate import locate
from headgate.table.alter import coordination
from headgate.table.alter.create import TableDefinition
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.by_path import PathCommitter
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change
from tests.support import tables
from tests.support.catalogs import a_catalog
from tests.support.http_proxy import Fault, faulty_proxy
from tests.support.http_server import serving

ADMIN = "hgt_the-admin-token-of-this-test-0123456789abcdef"
HOUR = 3_600_000
CATALOGS = ("sqlite", "postgresql")


@contextmanager
def _asking(catalog: Catalog) -> Iterator[str]:
    """A server that asks who calls; the conf that means its lake."""
    lake = ServedLake("main", catalog, PostCommitScheduler(Settings(), catalog.copies.write_if_due))
    knows = CredentialAuthenticator(
        ServedLakes((lake,)), SystemWorld(), secret_digest(ADMIN), remembered_ms=0
    )
    with serving(catalog, authenticator=knows) as url:
        yield f"{url}/main"


def _opened(location: Path) -> OpenedTable:
    """The table as a process that has just started opens it: it finds the owner by the conf in the log."""
    coordinators._COORDINATORS._built.clear()
    store, world = locate(str(location)), SystemWorld()
    return OpenedTable(
        str(location),
        store,
        PathCommitter(str(location), store, coordinators.find_coordinator, world=world),
        after_commit=PostCommitScheduler(tables.ON_DEMAND),
        settings=tables.ON_DEMAND,
        world=world,
    )


def _create(location: Path, lake: str) -> None:
    conf = {"lake": lake, "batch": "3"}
    coordination.create_coordinated(
        _opened(location), TableDefinition(tables.SCHEMA), coordinators.find_coordinator, "headgate", conf
    )


def _append(table: OpenedTable, txn: str) -> Version:
    change = tables.append_change(tables.named_file(txn))
    return table.commit(Change(change.operation, change.actions, txn_id=TxnId(txn)), base=table.snapshot())


def _transactions(location: Path) -> list[str]:
    table = _opened(location)
    latest = table.publish()
    assert table.check(str(location), data=False).is_clean
    found = (
        codec.decode(version, table.store.read(file_names.published_path(version))).info
        for version in map(Version, range(1, latest + 1))
    )
    return [str(info.txn_id) for info in found if info is not None]


def test_who_may_use_an_owner_is_asked_and_the_conf_has_no_secret(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "t"
    with _asking(catalog) as lake:
        monkeypatch.setenv(TOKEN_VARIABLE, ADMIN)
        _create(place, lake)
        assert _append(_opened(place), "first") == 1
        monkeypatch.delenv(TOKEN_VARIABLE)
        with pytest.raises(NotAuthenticated):
            _append(_opened(place), "of nobody")
        token = catalog.tokens.create("ana", ttl_ms=HOUR).secret
        monkeypatch.setenv(TOKEN_VARIABLE, token)
        with pytest.raises(NotAllowed):
            _append(_opened(place), "of ana, who was granted nothing")
        catalog.granting.grant("READ", None, "ana")
        with pytest.raises(NotAllowed):
            _append(_opened(place), "of ana, who may look")
        catalog.granting.grant("CHANGE DATA", None, "ana")
        assert _append(_opened(place), "second") == 2

        assert _transactions(place) == ["first", "second"]
    written = b"".join(path.read_bytes() for path in (place / "_delta_log").rglob("*.json"))
    assert lake.encode() in written
    assert ADMIN.encode() not in written
    assert token.encode() not in written


def test_an_address_with_a_secret_is_no_conf(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="HEADGATE_SECRET_IN_LOG"):
        _create(tmp_path / "t", "http://ana:hunter2@127.0.0.1:1/main")


def _at(path: str, fault: Fault) -> Callable[[bytes], Fault]:
    """The fault at the first request of that path, and none at others."""
    left = [fault]

    def choose(asked: bytes) -> Fault:
        return left.pop() if left and asked.split(b" ", 2)[1].endswith(path.encode()) else Fault.NONE

    return choose


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("shared")
    with a_catalog("sqlite", folder) as catalog, serving(catalog) as url:
        yield int(urlsplit(url).port or 0)


@pytest.mark.parametrize("path", ["ledger/write", "ledger/find", "ledger/publish", "ledger/commits"])
@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.NONE])
def test_whatever_is_lost_each_commit_lands_once(tmp_path: Path, port: int, path: str, fault: Fault) -> None:
    place, told = tmp_path / "t", []
    with faulty_proxy(port, _at(path, fault)) as proxy:
        _create(place, f"{proxy.url}/main")
        table = _opened(place)
        for number in range(1, 5):
            try:
                _append(table, f"txn-{number}")
            except HeadgateError as exc:
                assert exc.retry is not Retry.NEVER, exc
            else:
                told.append(f"txn-{number}")
        proxy.deliver()
        found = _transactions(place)

    assert fault in proxy.seen
    assert len(found) == len(set(found))
    assert [txn for txn in found if txn in told] == told
