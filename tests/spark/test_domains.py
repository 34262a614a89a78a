"""Rows and metadata domains in one commit, and handlers that were registered."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake, Table
from headgate.errors import DomainConflict, InvalidRequest
from headgate.plugins import domain_handlers as domains
from headgate.plugins.registry import Registry
from headgate.protocol.actions import DomainMetadata

pytestmark = pytest.mark.spark


@pytest.fixture(params=["managed", "by path"])
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Table]]:
    """Opens the same table again, as another process would."""
    if request.param == "by path":
        headgate.at_path(tmp_path / "t", columns="id BIGINT")
        yield lambda: headgate.at_path(tmp_path / "t")
        return
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("s")
        lake.create_table("s.t", "id BIGINT")
        yield lambda: _again(lake)


def _again(lake: Lake) -> Table:
    return lake.table("s.t")


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a registry of its own."""
    monkeypatch.setattr(domains, "_HANDLERS", Registry(domains.KIND))


def data_files(table: Table) -> set[Path]:
    return set(Path(table.location).rglob("*.parquet"))


def test_rows_and_their_watermark_are_one_version(spark: SparkSession, opening: Callable[[], Table]) -> None:
    table = opening()

    first = table.append(spark.range(10), domains={"acme.watermark": "10"})
    second = table.append(spark.range(10, 15), domains={"acme.watermark": "15"})

    assert (first, second) == (1, 2)
    for version in (1, 2):
        assert opening().read(version=version).count() == int(
            opening().domain("acme.watermark", version=version) or 0
        )
    history = opening().history().collect()
    assert [entry["operation"] for entry in history[:2]] == ["WRITE", "WRITE"]


def test_a_loader_that_was_overtaken_leaves_nothing_behind(
    spark: SparkSession, opening: Callable[[], Table]
) -> None:
    table = opening()
    table.set_domain("acme.watermark", "0")
    opening().append(spark.range(5), domains={"acme.watermark": "5"}, since=1)
    before = data_files(table)

    with pytest.raises(DomainConflict, match=r"acme\.watermark"):
        table.append(spark.range(5), domains={"acme.watermark": "5"}, since=1)

    assert data_files(table) == before
    assert opening().read().count() == 5


def test_both_land_when_a_handler_is_registered(spark: SparkSession, opening: Callable[[], Table]) -> None:
    table = opening()
    table.set_domain("acme.progress", "0")
    domains.register("acme.progress", domains.max_of())

    opening().append(spark.range(5), domains={"acme.progress": "9"}, since=1)
    version = table.append(spark.range(5), domains={"acme.progress": "4"}, since=1)

    assert version == 3
    assert opening().read().count() == 10
    assert table.domain("acme.progress") == opening().domain("acme.progress") == "9"


def test_a_handler_that_raises_leaves_no_files(spark: SparkSession, opening: Callable[[], Table]) -> None:
    def broken(*_: object) -> DomainMetadata:
        raise RuntimeError("out of order")

    table = opening()
    table.set_domain("acme.progress", "0")
    opening().set_domain("acme.progress", "1")
    domains.register("acme.*", broken)
    before = data_files(table)

    with pytest.raises(DomainConflict, match="broken raised RuntimeError: out of order"):
        table.append(spark.range(5), domains={"acme.progress": "4"}, since=1)

    assert data_files(table) == before
    assert opening().domains() == {"acme.progress": "1"}


def test_what_cannot_be_set_is_refused_before_a_row_is_written(
    spark: SparkSession, opening: Callable[[], Table]
) -> None:
    table = opening()

    with pytest.raises(InvalidRequest, match="belongs to Delta"):
        table.append(spark.range(5), domains={"delta.x": "1"})
    with pytest.raises(InvalidRequest, match="give domains too"):
        table.append(spark.range(5), since=0)

    assert not data_files(table)
    assert opening().version() == 0


def test_an_overwrite_keeps_the_domains(spark: SparkSession, opening: Callable[[], Table]) -> None:
    table = opening()
    table.append(spark.range(5), domains={"acme.a": "1"})

    table.overwrite(spark.range(3))

    assert opening().domains() == {"acme.a": "1"}


def test_a_map_of_strings_lives_in_a_table(spark: SparkSession, opening: Callable[[], Table]) -> None:
    offsets, table = domains.StringMap("acme.offsets"), opening()

    assert offsets.get(table) == {}
    offsets.set(table, {"p0": "1"})
    table.append(spark.range(1), domains={offsets.name: offsets.encode({"p0": "2"})})

    assert offsets.get(opening()) == {"p0": "2"}
