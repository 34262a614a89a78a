"""Ten processes append to one table: every append lands, once, where its writer was told."""

import multiprocessing
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import TableId
from headgate.protocol.actions import Version
from headgate.protocol.log import codec, file_names
from headgate.settings import Settings
from tests.support import tables
from tests.support.waiting import PATIENCE_SECONDS

WRITERS = 10
APPENDS = 200 if "HEADGATE_CHAOS_ROUNDS" in os.environ else 20

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.chaos.writer"])


@dataclass(frozen=True, slots=True)
class Errand:
    """What one writer does: commit its own prepared files, one by one."""

    folder: str
    table_id: TableId
    location: str
    number: int


@pytest.mark.spark
def test_every_append_of_ten_processes_lands_once_where_its_writer_was_told(
    tmp_path: Path, spark: SparkSession
) -> None:
    catalog = open_catalog(tmp_path)
    staging = tables.create_managed(catalog)
    errands = [Errand(str(tmp_path), staging.table_id, staging.location, number) for number in range(WRITERS)]
    with _PROCESSES.Pool(WRITERS) as writers:
        told = writers.map_async(_append_all, errands, chunksize=1).get(PATIENCE_SECONDS)

    reports = {file: version for report in told for file, version in report.items()}
    table = tables.open_managed(catalog, staging.table_id, staging.location)
    versions = [Version(number) for number in range(1, table.publish() + 1)]
    logged = [
        codec.decode(version, table.store.read(file_names.published_path(version))) for version in versions
    ]
    assert len(reports) == len(versions) == WRITERS * APPENDS
    assert reports == {add.path: commit.version for commit in logged for add in commit.adds}
    assert len({commit.info.txn_id for commit in logged if commit.info}) == len(versions)
    catalog.close()

    with headgate.connect(tmp_path) as lake:
        rows = lake.table(str(tables.NAME)).read(spark=spark)
        by_writer = {row["writer"]: row["count"] for row in rows.groupBy("writer").count().collect()}
    assert by_writer == {f"writer-{number}": APPENDS for number in range(WRITERS)}


def _append_all(errand: Errand) -> dict[str, int]:
    """Append the errand's files through the table layer; the versions reported, by file."""
    writer = f"writer-{errand.number}"
    files = [f"{writer}/{row}.parquet" for row in range(APPENDS)]
    adds = [tables.parquet_file(errand.location, file, [row], writer) for row, file in enumerate(files)]
    catalog = open_catalog(errand.folder)
    table = tables.open_managed(catalog, errand.table_id, errand.location, settings=Settings())
    return {add.path: table.commit(tables.append_change(add), base=table.newest_known()) for add in adds}
