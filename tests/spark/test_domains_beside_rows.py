"""Metadata domains in the commit of whatever else makes a version: statements, streams, new tables."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake, Table
from headgate.errors import DomainConflict, GroupConflict, InvalidRequest
from headgate.plugins import domain_handlers as domains
from headgate.plugins.registry import Registry
from headgate.protocol.actions import Commit, Version
from headgate.spark.streaming.stream_write_options import BatchDomains
from tests.support import streams

pytestmark = pytest.mark.spark

NAME = "acme.mark"
Move = Callable[[Table, Mapping[str, str]], object]


@pytest.fixture(params=["managed", "by path"])
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Table]]:
    """Opens the same table of five rows in two files again, as another process would."""
    if request.param == "by path":
        headgate.at_path(tmp_path / "t", columns="id BIGINT")
        yield lambda: headgate.at_path(tmp_path / "t")
        return
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("s")
        lake.create_table("s.t", "id BIGINT")
        lake.permit("s.t", "data reorganisation")
        yield lambda: lake.table("s.t")


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a registry of its own."""
    monkeypatch.setattr(domains, "_HANDLERS", Registry(domains.KIND))


def filled(spark: SparkSession, opening: Callable[[], Table]) -> Table:
    table = opening()
    table.append(spark.range(0, 3, numPartitions=1))
    table.append(spark.range(3, 5, numPartitions=1))
    return opening()


def committed(table: Table, version: int) -> Commit:
    """What the log has for a version, once it is published."""
    table.publish()
    return table.log.commits(Version(version), Version(version))[0]


STATEMENTS: Mapping[str, Move] = {
    "delete": lambda table, mark: table.delete("id = 1", domains=mark),
    "update": lambda table, mark: table.update({"id": "id + 10"}, "id = 2", domains=mark),
    "merge": lambda table, mark: table.merge(
        table.read(version=2), "t.id = s.id", domains=mark
    ).when_matched_delete("s.id = 0").execute(),
    "optimize": lambda table, mark: table.optimize(domains=mark),
    "overwrite": lambda table, mark: table.overwrite(table.read(version=1), domains=mark),
    "restore": lambda table, mark: table.restore(version=2, domains=mark),
}  # fmt: skip
NOTHING_TO_DO: Mapping[str, Move] = {
    "delete": lambda table, mark: table.delete("id = 99", domains=mark),
    "update": lambda table, mark: table.update({"id": "0"}, "id = 99", domains=mark),
    "merge": lambda table, mark: table.merge(
        table.read().where("id = 99"), "t.id = s.id", domains=mark
    ).when_matched_delete().once("etl", 1).execute(),
    "optimize": lambda table, mark: table.optimize(domains=mark),
    "purge": lambda table, mark: table.purge(domains=mark),
    "restore": lambda table, mark: table.restore(version=table.version(), domains=mark),
}  # fmt: skip


def test_rows_and_domain_are_one_version(spark: SparkSession, opening: Callable[[], Table]) -> None:
    table = filled(spark, opening)

    for version, (name, statement) in enumerate(STATEMENTS.items(), start=3):
        statement(table, {NAME: name})

        commit = committed(opening(), version)
        assert [(found.domain, found.configuration) for found in commit.domains] == [(NAME, name)]
        assert commit.removes
        assert (commit.protocol is None) == (version > 3)
        assert opening().version() == version
        assert opening().domain(NAME) == name


def test_a_statement_that_changes_no_row_still_sets_the_domain(
    spark: SparkSession, opening: Callable[[], Table]
) -> None:
    table = filled(spark, opening)
    first = table.optimize().version + 1

    for version, (name, statement) in enumerate(NOTHING_TO_DO.items(), start=first):
        statement(table, {NAME: name})

        commit = committed(opening(), version)
        assert not (commit.adds or commit.removes)
        assert [txn.app_id for txn in commit.txns] == (["etl"] if name == "merge" else [])
        assert (opening().version(), opening().domains()) == (version, {NAME: name})
    assert sorted(row.id for row in opening().read().collect()) == [0, 1, 2, 3, 4]


def test_a_statement_that_was_overtaken_leaves_rows_and_files_as_they_were(
    spark: SparkSession, opening: Callable[[], Table]
) -> None:
    table = filled(spark, opening)
    table.set_domain(NAME, "0")
    opening().set_domain(NAME, "9")
    before = set(Path(table.location).rglob("*.parquet"))
    overtaken: list[Callable[[], object]] = [
        lambda: table.delete("id = 1", domains={NAME: "1"}, since=3),
        lambda: table.update({"id": "0"}, "id = 1", domains={NAME: "1"}, since=3),
        lambda: (
            table.merge(spark.range(2), "t.id = s.id", domains={NAME: "1"}, since=3)
            .when_matched_delete()
            .execute()
        ),
    ]

    for statement in overtaken:
        with pytest.raises(DomainConflict):
            statement()

    assert set(Path(table.location).rglob("*.parquet")) == before
    assert opening().domains() == {NAME: "9"}
    assert opening().read().count() == 5


def test_what_cannot_be_set_is_refused_before_anything_is_read(
    spark: SparkSession, opening: Callable[[], Table]
) -> None:
    table = opening()
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: table.delete(domains={"delta.x": "1"}), "belongs to Delta"),
        (lambda: table.update({"id": "1"}, domains={"acme.x": 1}), "must be text"),  # type: ignore[dict-item]
        (lambda: table.merge(spark.range(1), "t.id = s.id", domains={"": "1"}), "needs a name"),
        (lambda: table.optimize(domains={"acme.x": '{"delta.y": 1}'}), "belongs to Delta"),
        (lambda: table.delete(domains=["acme.x"]), "must be a dict"),  # type: ignore[arg-type]
        (lambda: table.delete(since=0), "give domains too"),
    ]

    for call, words in wrong:
        with pytest.raises(InvalidRequest, match=words):
            call()

    assert opening().version() == 0


def test_new_columns_and_a_first_domain_are_one_protocol(
    spark: SparkSession, opening: Callable[[], Table]
) -> None:
    """Both ask something of the protocol, which one commit can say only once."""
    table = opening()
    table.add_feature("timestampNtz")
    frame = spark.sql("SELECT 1L AS id, TIMESTAMP_NTZ'2026-01-01 00:00:00' AS at")

    version = table.append(frame, merge_schema=True, domains={NAME: "1"})

    protocol = opening().log.snapshot().state.protocol
    assert {"timestampNtz", "domainMetadata"} <= set(protocol.writer_features or ())
    assert opening().domain(NAME, version=version) == "1"


def test_a_stream_sets_domains_with_each_batch(
    spark: SparkSession, opening: Callable[[], Table], tmp_path: Path
) -> None:
    table, source = opening(), tmp_path / "source"

    def run(sets: Mapping[str, str] | BatchDomains) -> None:
        frame = streams.of(spark, source).select("id")
        query = table.write_stream(
            frame, checkpoint=tmp_path / "checkpoint", available_now=True, domains=sets
        )
        query.awaitTermination()

    streams.feed(source, streams.ids(0, 2))
    run({NAME: "streamed"})
    streams.feed(source, streams.ids(2, 5))
    run(lambda batch, number: {NAME: f"{number}: {batch.count()} rows"})
    run(lambda batch, number: {NAME: "never, there is no batch"})

    assert opening().version() == 2
    assert opening().domain(NAME, version=1) == "streamed"
    assert opening().domain(NAME) == "1: 3 rows"
    with pytest.raises(InvalidRequest, match="belongs to Delta"):
        run({"delta.x": "1"})


def test_a_batch_without_rows_is_a_version_only_if_a_domain_changes(
    spark: SparkSession, opening: Callable[[], Table]
) -> None:
    table = opening()
    empty = spark.range(0)

    table.batch_writer(app_id="q", domains={NAME: "1"})(empty, 0)
    table.batch_writer(app_id="q", domains={NAME: "1"})(empty, 1)
    assert opening().version() == 1
    table.batch_writer(app_id="q", domains={NAME: "2"})(empty, 2)

    assert opening().version() == 2
    assert opening().domains() == {NAME: "2"}


def test_a_table_has_domains_from_its_first_version_on(
    spark: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    mark = {NAME: "1"}
    made = [
        lake.create_table("s.a", "id BIGINT", domains=mark),
        lake.create_table("s.b", "id BIGINT", domains=mark, cluster_by=["id"]),
        lake.write(spark.range(3), "s.c", domains=mark),
        lake.replace_table("s.d", "id BIGINT", or_create=True, domains=mark),
        lake.replace_table("s.e", rows=spark.range(3), or_create=True, domains=mark),
        headgate.at_path(tmp_path / "f", columns="id BIGINT", domains=mark),
        headgate.write_path(spark.range(3), tmp_path / "g", domains=mark),
    ]
    with lake.transaction() as tx:
        tx.create_table("s.h", "id BIGINT", domains=mark).append(spark.range(3))
    made.append(lake.table("s.h"))

    for table in made:
        assert table.domain(NAME, version=0) == "1", table.name
        assert table.log.snapshot().state.protocol.has("domainMetadata")
        table.append(spark.range(1), domains={NAME: "2"})
    lake.replace_table("s.a", "id BIGINT", domains={NAME: "3"})
    assert lake.table("s.a").domains() == {NAME: "3"}
    with pytest.raises(InvalidRequest, match="give its columns too"):
        headgate.at_path(tmp_path / "f", domains=mark)
    with pytest.raises(InvalidRequest, match="there is no table yet"):
        lake.write(spark.range(3), "s.x", domains=mark, since=0)


def test_statements_of_a_transaction_set_domains_of_several_tables_at_once(
    spark: SparkSession, lake: Lake
) -> None:
    for name in ("s.a", "s.b"):
        lake.create_table(name, "id BIGINT").append(spark.range(4))

    with lake.transaction() as tx:
        tx.table("s.a").delete("id = 1", domains={NAME: "a"})
        tx.table("s.a").update({"id": "id + 10"}, "id = 99", domains={"acme.more": "a"})
        tx.table("s.b").merge(
            spark.range(2), "t.id = s.id", domains={NAME: "b"}
        ).when_matched_delete().execute()
        assert lake.table("s.a").domains() == {}

    assert lake.table("s.a").domains() == {NAME: "a", "acme.more": "a"}
    assert lake.table("s.b").domains() == {NAME: "b"}
    assert (lake.table("s.a").version(), lake.table("s.b").version()) == (2, 2)
    with pytest.raises(GroupConflict), lake.transaction(["s.a", "s.b"]) as tx:
        tx.table("s.a").delete("id = 2", domains={NAME: "lost"})
        lake.table("s.a").set_domain(NAME, "won")
    assert lake.table("s.a").domain(NAME) == "won"
