"""A lake behind a server: all that a lake in this process does, and one call for a commit or an open."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake
from headgate.catalog.catalog import Catalog
from headgate.errors import InvalidRequest, LakeNotFound, NotAllowed, TableNotFound
from headgate.lake.lake import LakeAddress
from headgate.settings import Publish, Settings
from tests.support.catalogs import a_catalog
from tests.support.http_proxy import FaultyProxy, faulty_proxy
from tests.support.http_server import serving
from tests.support.lake_walk import COLUMNS, assert_lake_works, ids, rows

pytestmark = pytest.mark.spark

ON_DEMAND = Settings(publish=Publish.ON_DEMAND)


@contextmanager
def served(folder: Path) -> Iterator[tuple[Catalog, str]]:
    with a_catalog("sqlite", folder) as behind, serving(behind) as url:
        yield behind, url


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with served(tmp_path / "lake") as (_, url), headgate.connect(f"{url}/main") as found:
        found.create_schema("s")
        yield found


def test_a_lake_works_behind_a_server(lake: Lake, spark: SparkSession) -> None:
    """As any lake does; and what others may do there is granted, and what was dropped is purged."""
    assert_lake_works(lake, spark)

    lake.grant("READ", on="s.orders", to="ada")
    assert [grant.principal for grant in lake.grants()] == ["ada"]
    lake.drop_table("s.orders")
    lake.purge("s.orders", files=True)
    assert lake.dropped() == ()


def test_the_owner_connects_for_somebody_else(tmp_path: Path, spark: SparkSession) -> None:
    with served(tmp_path / "lake") as (_, url), headgate.connect(f"{url}/main") as lake:
        lake.create_schema("s")
        lake.create_table("s.orders", COLUMNS).append(rows(spark, (1, "a")))
        lake.grant("READ", on="s.orders", to="ada")
        with headgate.connect(url, principal="ada") as hers:  # the only lake that is served
            assert ids(hers.table("s.orders"), spark) == [1]
            with pytest.raises(NotAllowed):
                hers.drop_table("s.orders")


def test_an_ordinary_table_has_a_name_and_its_log_decides(
    lake: Lake, spark: SparkSession, tmp_path: Path
) -> None:
    place = tmp_path / "ordinary"
    headgate.at_path(place, columns=COLUMNS).append(rows(spark, (1, "a")))
    lake.create_table("s.orders", COLUMNS)

    lake.register_external(place, "s.ordinary")
    lake.table("s.ordinary").append(rows(spark, (2, "b")))
    headgate.at_path(place).append(rows(spark, (3, "c")))

    assert ids(lake.table("s.ordinary"), spark) == [1, 2, 3]
    assert (place / "_delta_log" / "00000000000000000003.json").exists()
    assert (lake.is_managed("s.orders"), lake.is_managed("s.ordinary")) == (True, False)
    assert [str(table.name) for table in lake.external_tables()] == ["s.ordinary"]
    assert lake.table_exists("s.ordinary")
    with pytest.raises(InvalidRequest, match="no Delta table"):
        lake.register_external(tmp_path / "nothing", "s.nothing")
    assert lake.forget_external("s.ordinary")
    with pytest.raises(TableNotFound, match=r"no table s\.ordinary"):
        lake.table("s.ordinary")
    assert ids(headgate.at_path(place), spark) == [1, 2, 3]


@contextmanager
def counted(folder: Path) -> Iterator[tuple[Lake, FaultyProxy]]:
    """A lake, and a proxy that counts its calls."""
    with (
        served(folder) as (_, url),
        faulty_proxy(int(urlsplit(url).port or 0)) as proxy,
        headgate.connect(f"{proxy.url}/main", settings=ON_DEMAND) as lake,
    ):
        yield lake, proxy


def since(proxy: FaultyProxy) -> list[str]:
    found = ["/".join(path.rsplit("/", 2)[1:]) for path in proxy.requests]
    proxy.requests.clear()
    return found


def test_a_commit_is_one_call_and_so_is_an_open(tmp_path: Path, spark: SparkSession) -> None:
    with counted(tmp_path / "lake") as (lake, proxy):
        assert since(proxy) == ["lakes/main"]
        lake.create_schema("s")
        lake.create_table("s.orders", COLUMNS).append(rows(spark, (1, "a")))
        table = lake.table("s.orders")
        table.append(rows(spark, (2, "b")))
        since(proxy)

        opened = lake.table("s.orders")
        opened.log.snapshot()
        assert since(proxy) == ["readers/load"]

        table.append(rows(spark, (3, "c")))
        assert [call for call in since(proxy) if call != "commits/tail"] == ["commits/propose"]


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("http://user:pw@127.0.0.1:1/main", InvalidRequest),
        ("http://127.0.0.1:1/main?x=1", InvalidRequest),
        ("http://example.invalid/main", InvalidRequest),
    ],
)
def test_an_address_that_gives_something_away_is_refused(address: str, error: type[Exception]) -> None:
    with pytest.raises(error) as refused:
        headgate.connect(address, token="s3cr3t-t0ken")

    assert "s3cr3t-t0ken" not in str(refused.value)
    assert "pw" not in str(refused.value)


def test_a_lake_that_is_not_served_is_not_found(tmp_path: Path) -> None:
    with served(tmp_path / "lake") as (_, url), pytest.raises(LakeNotFound):
        headgate.connect(f"{url}/another")


def test_a_token_is_shown_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_TOKEN", "s3cr3t-t0ken")
    with served(tmp_path / "lake") as (_, url), headgate.connect(f"{url}/main") as lake:
        address = lake.address
        assert address is not None
        assert address.token == "s3cr3t-t0ken"
        shown = f"{address!r} {lake!r} {lake._catalog!r} {lake._catalog._calls!r}"  # type: ignore[attr-defined]

    assert "s3cr3t-t0ken" not in shown
    assert isinstance(address, LakeAddress)
