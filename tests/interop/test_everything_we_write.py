"""Whatever Headgate writes into a log, others read the same rows and complain of nothing.

One small table for each thing, and one with all of them; as an ordinary table, and managed by a catalog.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import deltalake
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake.exceptions import CommitFailedError

from headgate.catalog.embedded import open_catalog
from headgate.clock import SystemWorld
from headgate.protocol.actions import Action, AddFile, AppTransaction, EpochMillis, RemoveFile, Version
from headgate.protocol.domains.lifecycle import CLUSTERING_DOMAIN, clustering_domain
from headgate.protocol.domains.rules import RemoveDomain, SetDomain
from headgate.protocol.log import codec, file_names
from headgate.protocol.log.file_names import LogFileKind
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from headgate.table.opened_table import OpenedTable
from headgate.table.read import log_reader
from headgate.table.transaction import Change, Operation
from tests.support import peers
from tests.support.peers import Said
from tests.support.tables import NAME, ON_DEMAND, SCHEMA, open_filesystem, open_managed, parquet_file

pytestmark = pytest.mark.interop

ROUTES = ("filesystem", "inline", "staged")
AT_ONCE = Settings(publish=Publish.NOW)
ROWS = [(1, "a"), (2, "a"), (3, "b"), (4, "c")]


@dataclass(frozen=True)
class Thing:
    """Something that can be in a log: how it gets there, and how one sees that it did."""

    seen: Callable[[OpenedTable], object]
    properties: Mapping[str, str] = field(default_factory=dict)
    actions: tuple[Action, ...] = ()
    """Committed together with rows."""
    then: Callable[[OpenedTable], object] = OpenedTable.publish
    """Done when there are rows, before the last ones come."""
    settings: Settings = ON_DEMAND


def files(table: OpenedTable, kind: LogFileKind) -> list[str]:
    return [file.path for file in log_reader.list_log(table.store) if file.kind is kind]


def compact(table: OpenedTable) -> None:
    table.publish()
    table.compact_log(1, 3)


def checkpoint_alone(table: OpenedTable) -> None:
    """A checkpoint, and nothing left of what it was made of."""
    for older in range(table.checkpoint()):
        table.store.delete(file_names.published_path(Version(older)))


def give_domains(table: OpenedTable) -> None:
    table.change_domains([SetDomain("acme.a", "1"), SetDomain("acme.b", '{"offset": 2}')])
    table.change_domains([RemoveDomain("acme.a")])


def do_everything(table: OpenedTable) -> None:
    compact(table)
    give_domains(table)
    checkpoint_alone(table)


def has_sidecars(table: OpenedTable) -> bool:
    (checkpoint,) = files(table, LogFileKind.CHECKPOINT)
    return file_names.is_v2_checkpoint(checkpoint) and any(table.store.list_from(file_names.SIDECAR_FOLDER))


def has_both_statistics(table: OpenedTable) -> bool:
    (path,) = files(table, LogFileKind.CHECKPOINT)
    content = pq.read_table(pa.BufferReader(table.store.read(path)))
    adds = [row for row in content["add"].to_pylist() if row]
    return bool(adds) and all(row["stats"] and row["stats_parsed"]["numRecords"] for row in adds)


def is_stamped(table: OpenedTable) -> bool:
    latest = table.snapshot().version
    content = codec.decode(latest, table.store.read(file_names.published_path(latest)))
    return content.info is not None and content.info.in_commit_timestamp is not None


def rows_have_ids(table: OpenedTable) -> bool:
    found = table.snapshot()
    return "delta.rowTracking" in found.state.domains and found.files.columns["base_row_id"].null_count == 0


def has_domains(table: OpenedTable) -> bool:
    return {"acme.b": '{"offset": 2}'}.items() <= table.domains().items() and "acme.a" not in table.domains()


DOMAINS = {"delta.feature.domainMetadata": "supported"}
STAMPS = {"delta.enableInCommitTimestamps": "true"}
ROW_IDS = {"delta.enableRowTracking": "true"}
APPEND_ONLY = {"delta.appendOnly": "true"}
V2 = {"delta.checkpointPolicy": "v2"}
STATS = {"delta.checkpoint.writeStatsAsStruct": "true", "delta.checkpoint.writeStatsAsJson": "true"}
ETL = AppTransaction(app_id="etl", version=7)
CLUSTERED = clustering_domain([("id",)])

THINGS = {
    "v2 checkpoint": Thing(has_sidecars, V2, then=checkpoint_alone),
    "classic checkpoint": Thing(has_both_statistics, STATS, then=checkpoint_alone),
    "compaction": Thing(lambda table: files(table, LogFileKind.COMPACTED), then=compact),
    "checksums": Thing(lambda table: table.verify() == (), settings=AT_ONCE),
    "row tracking": Thing(rows_have_ids, ROW_IDS),
    "domains": Thing(has_domains, then=give_domains),
    "clustering": Thing(lambda table: CLUSTERING_DOMAIN in table.domains(), DOMAINS, (CLUSTERED,)),
    "timestamps": Thing(is_stamped, STAMPS),
    "applications": Thing(lambda table: "etl" in table.snapshot().state.txns, actions=(ETL,)),
    "append-only": Thing(
        lambda table: table.snapshot().state.metadata.configuration["delta.appendOnly"] == "true", APPEND_ONLY
    ),
}
TOGETHER = tuple(thing for name, thing in THINGS.items() if name != "classic checkpoint")
THINGS["everything"] = Thing(
    lambda table: all(thing.seen(table) for thing in TOGETHER),
    {**DOMAINS, **STAMPS, **ROW_IDS, **APPEND_ONLY, **V2, **STATS},
    (CLUSTERED, ETL), do_everything, AT_ONCE,
)  # fmt: skip


UNKNOWN_TO_DELTA_RS = {
    "row tracking": "RowTracking",
    "domains": "DomainMetadata",
    "clustering": "DomainMetadata",
    "timestamps": "InCommitTimestamp",
    "everything": "RowTracking",
}


def made(folder: Path, route: str, thing: Thing) -> OpenedTable:
    """A new empty table that is to have the thing."""
    definition = TableDefinition(SCHEMA, properties=thing.properties)
    if route == "filesystem":
        location = str(folder / "table")
        create.write_version_0(locate(location), definition, managed=False, world=SystemWorld())
        return open_filesystem(location, settings=thing.settings)
    catalog = open_catalog(folder)
    catalog.create_schema(NAME.schema)
    staging = catalog.stage(NAME)
    create.write_version_0(locate(staging.location), definition, managed=True, world=SystemWorld())
    catalog.register(staging, NAME)
    limit = 0 if route == "staged" else ON_DEMAND.inline_limit_bytes
    settings = replace(thing.settings, inline_limit_bytes=limit)
    return open_managed(catalog, staging.table_id, staging.location, settings=settings)


def write(table: OpenedTable, thing: Thing) -> None:
    """Five versions and what the thing adds, so that ROWS are there, all of it published."""

    def data(name: str, *ids: int) -> AddFile:
        add = parquet_file(table.location, f"{name}.parquet", list(ids), name[0])
        bounds = {"numRecords": len(ids), "minValues": {"id": min(ids)}, "maxValues": {"id": max(ids)}}
        stats = msgspec.json.encode({**bounds, "nullCount": {"id": 0}}).decode()
        return msgspec.structs.replace(add, stats=stats)

    def commit(*actions: Action, changes_data: bool = True) -> None:
        operation = Operation("WRITE" if changes_data else "OPTIMIZE", changes_data=changes_data)
        table.commit(Change(operation, actions), base=table.snapshot())

    before, moved = data("before", 3), msgspec.structs.replace(data("b", 3), data_change=False)
    commit(data("a", 1, 2), *thing.actions)
    commit(before)
    commit(removed(before, table), moved, changes_data=False)
    thing.then(table)
    commit(data("c", 4))
    table.publish()


def removed(add: AddFile, table: OpenedTable) -> RemoveFile:
    """Its rows are elsewhere from now on."""
    return RemoveFile(
        path=add.path, data_change=False, deletion_timestamp=EpochMillis(table.world.now_ms()),
        extended_file_metadata=True, partition_values={}, size=add.size,
    )  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], OpenedTable]:
    """A table of each thing by each route."""
    tables = {}
    for name, thing in THINGS.items():
        for route in ROUTES:
            table = made(tmp_path_factory.mktemp("lake"), route, thing)
            write(table, thing)
            tables[name, route] = table
    return tables


@pytest.fixture(scope="module")
def by_deltalake(written: dict[tuple[str, str], OpenedTable]) -> dict[str, Said]:
    return peers.by_deltalake([table.location for table in written.values()])


EACH = pytest.mark.parametrize("name", THINGS)
BY_EACH_ROUTE = pytest.mark.parametrize("route", ROUTES)


@EACH
@BY_EACH_ROUTE
def test_it_is_there(written: dict[tuple[str, str], OpenedTable], name: str, route: str) -> None:
    assert THINGS[name].seen(written[name, route])


@EACH
@BY_EACH_ROUTE
def test_duckdb_reads_it_and_complains_of_nothing(
    written: dict[tuple[str, str], OpenedTable], name: str, route: str
) -> None:
    table = written[name, route]
    latest = None if route == "filesystem" else int(table.snapshot().version)

    assert peers.by_duckdb(table.location, latest=latest) == Said(ROWS)


@EACH
def test_deltalake_reads_it_and_complains_of_nothing(
    written: dict[tuple[str, str], OpenedTable], by_deltalake: dict[str, Said], name: str
) -> None:
    etl = 7 if ETL in THINGS[name].actions else None

    assert by_deltalake[written[name, "filesystem"].location] == Said(ROWS, etl=etl)


@EACH
@pytest.mark.parametrize("route", ["inline", "staged"])
def test_deltalake_refuses_it_if_a_catalog_manages_the_table(
    written: dict[tuple[str, str], OpenedTable], by_deltalake: dict[str, Said], name: str, route: str
) -> None:
    said = by_deltalake[written[name, route].location]

    assert said.rows is None
    assert "catalog-managed" in said.refusal


@EACH
def test_deltalake_appends_to_it_or_says_which_feature_it_does_not_know(
    written: dict[tuple[str, str], OpenedTable], tmp_path: Path, name: str
) -> None:
    copy = shutil.copytree(written[name, "filesystem"].location, tmp_path / "copy")
    more = pa.table({"id": [5], "writer": ["d"]})

    if name in UNKNOWN_TO_DELTA_RS:
        with pytest.raises(CommitFailedError, match=UNKNOWN_TO_DELTA_RS[name]):
            deltalake.write_deltalake(copy, more, mode="append")
        return
    deltalake.write_deltalake(copy, more, mode="append")

    ours = open_filesystem(str(copy)).snapshot()
    assert (ours.version, ours.files.columns.num_rows) == (
        written[name, "filesystem"].snapshot().version + 1,
        4,
    )
    assert peers.by_duckdb(str(copy)) == Said([*ROWS, (5, "d")])


def test_a_complaint_would_be_heard(tmp_path: Path) -> None:
    thing = THINGS["classic checkpoint"]
    table = made(tmp_path, "filesystem", thing)
    write(table, thing)
    table.store.put(file_names.LAST_CHECKPOINT, b"{")

    by_duckdb = peers.by_duckdb(table.location)
    by_deltalake = peers.by_deltalake([table.location], level="debug")

    assert (by_duckdb.rows, "_last_checkpoint" in by_duckdb.complaints) == (ROWS, True)
    assert "DEBUG" in by_deltalake[table.location].complaints
