"""A lake on a Unity Catalog server: our own in its strict mode, and a real one that the environment names.

``HEADGATE_TESTS_UNITY_CATALOG_URL=uc+http://127.0.0.1:8080/unity`` names a catalog of a real server, in which
a schema is made; ``HEADGATE_TESTS_UNITY_CATALOG_TOKEN`` is the token, if it asks for one.
"""

import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.errors import TableNotFound, UnsupportedFeature
from headgate.lake.lake import Lake
from tests.support.http_faults import Fault
from tests.support.unity_servers import APIS, DELTA, LIMIT, UnitySite, unity_site

pytestmark = pytest.mark.interop
URL, TOKEN = "HEADGATE_TESTS_UNITY_CATALOG_URL", "HEADGATE_TESTS_UNITY_CATALOG_TOKEN"
REAL = "real"


@dataclass
class Connected:
    """A lake on a server, and a schema of it for this test."""

    lake: Lake
    address: str
    schema: str
    site: UnitySite | None = None

    def table(self, name: str = "orders") -> str:
        return f"{self.schema}.{name}"

    def reconnected(self) -> Lake:
        return headgate.connect(self.address, token=os.environ.get(TOKEN) if self.site is None else None)


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "name": pa.array([f"n{each}" for each in ids])})


def ids(lake: Lake, name: str, **options: int) -> list[int]:
    return sorted(lake.table(name).to_arrow(**options)["id"].to_pylist())


@pytest.fixture(params=[*APIS, REAL])
def connected(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connected]:
    schema = f"headgate_{uuid.uuid4().hex[:12]}"
    if request.param != REAL:
        with unity_site(tmp_path, request.param) as site, headgate.connect(site.address) as lake:
            lake.create_schema(schema)
            yield Connected(lake, site.address, schema, site)
        return
    address = os.environ.get(URL)
    if address is None:
        pytest.skip(f"the Unity Catalog server is in no package registry: {URL} names one that runs")
    with headgate.connect(address, token=os.environ.get(TOKEN)) as lake:
        lake.create_schema(schema)
        made = Connected(lake, address, schema)
        yield made
        for entry in lake.tables(schema):
            lake.drop_table(str(entry.name))


def test_a_lake_on_a_unity_catalog_server_without_spark(connected: Connected) -> None:
    lake, name = connected.lake, connected.table()
    table = lake.create_table(name, "id BIGINT, name STRING", properties={"delta.appendOnly": "false"})

    for number in range(1, LIMIT + 3):
        assert table.append(rows(number)) == number

    assert ids(lake, name) == list(range(1, LIMIT + 3))
    assert ids(lake, name, version=2) == [1, 2]
    assert [entry.name.table for entry in lake.tables(connected.schema)] == ["orders"]
    with connected.reconnected() as other:
        assert ids(other, name) == list(range(1, LIMIT + 3))
        other.table(name).append(rows(100))
    assert max(ids(lake, name)) == 100
    table.set_properties({"owner.team": "blue"})
    assert lake.table(name).log.snapshot().state.metadata.configuration["owner.team"] == "blue"
    with pytest.raises(UnsupportedFeature, match="does not offer"), lake.transaction() as tx:
        tx.table(name).append(rows(1))
        tx.create_table(connected.table("second"), "id BIGINT")
    lake.drop_table(name)
    with pytest.raises(TableNotFound):
        lake.table(name)


def test_appends_survive_lost_answers(connected: Connected) -> None:
    if connected.site is None:
        pytest.skip("a real server has no proxy before it here")
    lake, name, proxy = connected.lake, connected.table(), connected.site.proxy
    word = "add-commit" if not proxy.hidden else "commit_info"
    table = lake.create_table(name, "id BIGINT, name STRING")

    for number, fault in enumerate((Fault.LOST, Fault.FAILED, Fault.UNHEARD, Fault.DOUBLED), 1):
        proxy.arm("POST", word, fault)
        assert table.append(rows(number)) == number
        assert not any(rule[1] == word for rule in proxy.rules)

    assert ids(lake, name) == [1, 2, 3, 4]
    served = connected.site.served
    known = served.commits(served.tables()[0].table_id)
    assert [entry.version for entry in known] == [4, 3, 2, 1, 0]


@pytest.mark.spark
def test_spark_reads_and_writes_a_table_of_a_unity_catalog_server(
    spark: SparkSession, tmp_path: Path
) -> None:
    with unity_site(tmp_path, DELTA) as site, headgate.connect(site.address) as lake:
        lake.create_schema("sales")
        first = spark.createDataFrame([(1, "a"), (2, "b")], "id BIGINT, name STRING")
        table = lake.write(first, "sales.orders")
        table.append(spark.createDataFrame([(3, "c")], "id BIGINT, name STRING"))
        table.delete("id = 1")

        assert sorted(row.id for row in table.read().collect()) == [2, 3]
        assert sorted(row.id for row in table.read(version=0).collect()) == [1, 2]
        assert site.served.tail(site.served.tables()[0].table_id).latest == 2
