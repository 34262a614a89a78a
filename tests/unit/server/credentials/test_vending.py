"""T12, through a real server over a bucket: who may have what, in each API, and what clients do with it."""

import json
import logging
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typing_extensions import override

import headgate
from headgate.catalog.catalog import Catalog
from headgate.catalog.database.engine import open_sqlite
from headgate.catalog.ports.access import OWNER, Principal
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.directory import TableName
from headgate.clock import SystemWorld
from headgate.errors import NotAllowed
from headgate.server.app import ServerParts, create_app
from headgate.server.caller import Authenticator, Caller
from headgate.server.credentials import CredentialVendor, S3StaticKeys, Secret, StorageAccess
from headgate.server.delta_api import DeltaApiSettings
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.settings import Settings
from headgate.storage.credentials import NO_EXPIRY_MS, StorageOperation, VendedCredential
from headgate.storage.locate import locate
from headgate.storage.object_store import ObjectStore
from headgate.storage.store import Store
from headgate.table.commit.background import PostCommitScheduler
from tests.support import s3
from tests.support.http_server import running

READ, READ_WRITE = StorageOperation.READ, StorageOperation.READ_WRITE
BASE = "/api/2.1/unity-catalog"
WRITE_SECRET, READ_SECRET = "canary-write-secret", "canary-read-secret"
NAME = TableName("sales", "orders")


class ByToken(Authenticator):
    """A token is the name of its principal."""

    def authenticate(self, authorization: str | None) -> Caller:
        return Caller(Principal((authorization or f"Bearer {OWNER}").removeprefix("Bearer ")))


class CountingVendor(CredentialVendor):
    """Counts what is minted."""

    minted = 0

    @override
    def vend(self, location: str, operation: StorageOperation) -> VendedCredential:
        found = super().vend(location, operation)
        self.minted += 1
        return found


@dataclass
class Site:
    url: str
    served: LakeCatalog
    vendor: CountingVendor
    store: str

    def ask(self, who: str, method: str, path: str, body: object = None) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{BASE}{path}", data, method=method)
        request.add_header("Authorization", f"Bearer {who}")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with s3.server() as store, pytest.MonkeyPatch.context() as patch:
        for variable, value in (("W", "writer"), ("WS", WRITE_SECRET), ("R", "reader"), ("RS", READ_SECRET)):
            patch.setenv(variable, value)
        # Whatever reaches the bucket does it with what was vended.
        patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        patch.setenv("AWS_ACCESS_KEY_ID", "nobody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
        place = f"s3://{s3.make_bucket(store)}/lake"
        with closing(_catalog(tmp_path_factory.mktemp("db"), place, store)) as catalog:
            keys = [Secret.from_environment(variable) for variable in ("R", "RS", "W", "WS")]
            vendor = CountingVendor((StorageAccess(place, S3StaticKeys(*keys, endpoint=store)),))
            with running(create_app(_parts(catalog, vendor))) as url:
                yield Site(url, catalog, vendor, store)


def _catalog(folder: Path, place: str, store: str) -> Catalog:
    config = {
        "s3.access-key-id": "k",
        "s3.secret-access-key": "s",
        "s3.endpoint": store,
        "s3.region": "us-east-1",
    }

    def files(location: str) -> Store:
        return locate(location, lambda: (VendedCredential(place, READ_WRITE, NO_EXPIRY_MS, config),))

    return Catalog(open_sqlite(folder / "c.sqlite"), warehouse=place, locate=files, world=SystemWorld())


def _parts(catalog: Catalog, vendor: CredentialVendor) -> ServerParts:
    settings = Settings()
    lake = ServedLake("main", catalog, PostCommitScheduler(settings, catalog.copies.write_if_due), settings)
    strict = DeltaApiSettings(strict=True)
    return ServerParts(ServedLakes((lake,)), ByToken(), delta_api=strict, credentials=vendor)


@pytest.fixture(scope="module")
def table(site: Site) -> str:
    """The id of a table that ada may append to, bob may read, and eve may not see."""
    with headgate.connect(f"{site.url}/main", token=OWNER) as lake:
        lake.create_schema("sales")
        lake.create_table("sales.orders", "id BIGINT")
        lake.grant("APPEND", on="sales.orders", to="ada")
        lake.grant("READ", on="sales.orders", to="bob")
    return site.served.resolve(NAME).table_id


def test_a_client_reads_and_writes_with_what_its_server_vends(site: Site, table: str) -> None:
    with headgate.connect(f"{site.url}/main", token="ada") as lake:
        lake.table("sales.orders").append(pa.table({"id": pa.array([1, 2], pa.int64())}))
    with headgate.connect(f"{site.url}/main", token="bob") as lake:
        assert sorted(lake.table("sales.orders").to_arrow()["id"].to_pylist()) == [1, 2]


def test_a_client_of_unity_catalog_servers_does_too(
    site: Site, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This server reads version 0 of new tables with credentials of its own, from the same environment.
    monkeypatch.setenv("AWS_ENDPOINT_URL", site.store)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    before = site.vendor.minted
    with headgate.connect(f"uc+{site.url}/main", token=OWNER) as lake:
        made = lake.create_table("sales.made", "id BIGINT")
        made.append(pa.table({"id": pa.array([7], pa.int64())}))

        assert lake.table("sales.made").to_arrow()["id"].to_pylist() == [7]
        assert isinstance(made.log.store, ObjectStore)
        assert made.log.store.vended is not None
        assert made.log.store.vended().config["s3.secret-access-key"] == WRITE_SECRET
    assert site.vendor.minted == before + 2  # for the place, and for the table


def _asked(site: Site, who: str, table: str, operation: StorageOperation) -> list[tuple[int, Any]]:
    """The answers of all routes that vend for a table."""
    location, asked = site.served.resolve(NAME).location, operation.value
    by_name = "/delta/v1/catalogs/main/schemas/sales/tables/orders/credentials"
    return [
        site.ask(who, "GET", f"{by_name}?operation={asked}"),
        site.ask(who, "POST", "/temporary-table-credentials", {"table_id": table, "operation": asked}),
        site.ask(who, "POST", "/temporary-path-credentials", {"url": location, "operation": f"PATH_{asked}"}),
    ]


def test_each_api_vends_what_the_caller_may_do(site: Site, table: str) -> None:
    delta, by_id, by_path = _asked(site, "ada", table, READ_WRITE)

    (vended,) = delta[1]["storage-credentials"]
    assert (delta[0], vended["operation"], vended["prefix"]) == (
        200, "READ_WRITE", site.served.resolve(NAME).location,
    )  # fmt: skip
    assert vended["config"]["s3.secret-access-key"] == WRITE_SECRET
    assert vended["expiration-time-ms"] > SystemWorld().now_ms()
    for status, older in (by_id, by_path):
        assert status == 200
        assert older["aws_temp_credentials"]["secret_access_key"] == WRITE_SECRET
        assert older["expiration_time"] > SystemWorld().now_ms()
    reading = _asked(site, "bob", table, READ)
    assert [status for status, _ in reading] == [200, 200, 200]
    assert WRITE_SECRET not in json.dumps(reading)


def test_nothing_is_minted_for_who_may_not(site: Site, table: str, caplog: pytest.LogCaptureFixture) -> None:
    """CVE-2026-42809: credentials were minted before it was decided who may have them."""
    caplog.set_level(logging.DEBUG)
    before = site.vendor.minted

    bob = _asked(site, "bob", table, READ_WRITE)
    eve = _asked(site, "eve", table, READ)
    with headgate.connect(f"{site.url}/main", token="bob") as lake, pytest.raises(NotAllowed):
        lake._catalog.credentials(site.served.resolve(NAME).table_id, READ_WRITE)

    assert [status for status, _ in bob] == [403, 403, 403]
    assert [status for status, _ in eve] == [404, 404, 403]
    assert site.vendor.minted == before
    assert "secret" not in json.dumps([bob, eve])


def test_no_secret_is_in_a_log(site: Site, table: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with headgate.connect(f"{site.url}/main", token="ada") as lake:
        opened = lake.table("sales.orders")
        opened.append(pa.table({"id": pa.array([3], pa.int64())}))
        shown = f"{opened!r} {lake!r} {opened.log.store!r} {lake._catalog!r}"
    _asked(site, "ada", table, READ_WRITE)

    assert WRITE_SECRET not in caplog.text + shown


def test_a_path_that_escapes_a_table_gets_nothing(site: Site, table: str) -> None:
    location, before = site.served.resolve(NAME).location, site.vendor.minted
    for url in (f"{location}/../other", f"{location}2", location.rpartition("/")[0], f"{location}/%2e%2e/x"):
        status, _ = site.ask(
            "ada", "POST", "/temporary-path-credentials", {"url": url, "operation": "PATH_READ"}
        )
        assert status in (400, 403), url
    assert site.vendor.minted == before
