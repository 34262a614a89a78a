"""Executors and workers die at any moment of any operation, over and over: ``make chaos``."""

import os
import random
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from tests.spark.cluster import operations, slow
from tests.spark.cluster.operations import Bench, Statement, content, expected
from tests.support import cluster as clusters
from tests.support.changed_tables import FEED, VECTORS
from tests.support.cluster import Cluster

pytestmark = pytest.mark.spark
ROUNDS = int(os.environ.get("HEADGATE_CHAOS_ROUNDS", "0"))
_STATEMENTS = (
    operations.appended(200, 230),
    operations.DELETED,
    operations.UPDATED,
    operations.MERGED,
    operations.REPLACED,
    operations.OVERWRITTEN,
    Statement("optimize", lambda table, spark: table.optimize(spark=spark), lambda rows: rows),
)


@pytest.mark.skipif(not ROUNDS, reason="only with HEADGATE_CHAOS_ROUNDS, which make chaos sets")
@pytest.mark.timeout(0)
def test_executors_die_at_any_time(spark: SparkSession, cluster: Cluster, tmp_path: Path) -> None:
    chance = random.Random(ROUNDS)
    ended: dict[str, int] = {}
    with headgate.connect(tmp_path / "lake") as lake, ThreadPoolExecutor(1) as pool:
        lake.create_schema("s")
        bench = Bench(spark, lake, tmp_path)
        for number in range(ROUNDS):
            name = f"s.t{number // 20}"
            if not number % 20:
                clusters.settled(cluster, spark)
                switches = [VECTORS, FEED] if chance.random() < 0.5 else []
                columns = operations.numbered_columns() if number // 20 % 2 else operations.COLUMNS
                bench.make(name, *switches, columns=columns)
                lake.permit(name, "data reorganisation")
                bench.apply(name, [operations.appended(0, 60)])
            statement = chance.choice(_STATEMENTS)
            if statement.name == "append":  # an id is in a table once
                bench.apply(name, [Statement("delete", _without_appended, _model_without_appended)])
            job: Future[object] = pool.submit(statement.run, lake.table(name), spark)
            _kill(cluster, chance)
            happened = job.exception() is None
            rows = statement.model(bench.rows[name]) if happened else bench.rows[name]
            bench.expect(name, rows, f"{statement.name} in round {number}: {job.exception()}")
            if number // 20 % 2:
                operations.check_numbers(lake.table(name), spark)
            ended[f"{statement.name} {happened}"] = ended.get(f"{statement.name} {happened}", 0) + 1
            if number % 20 == 19:
                slow.check_leftovers(lake, lake.table(name))
        assert content(lake.table(name).read()) == expected(bench.rows[name])
    print(f"{ROUNDS} rounds, 0 lost, 0 doubled, 0 torn:", sorted(ended.items()))


def _kill(cluster: Cluster, chance: random.Random) -> None:
    time.sleep(chance.uniform(0, 3))
    for number in chance.choice([(0,), (1,), (0, 1)]):
        if chance.random() < 0.3:
            cluster.kill_worker(number)
            cluster.start_worker(number)
        else:
            cluster.kill_executors(number)


def _without_appended(table: headgate.Table, spark: SparkSession) -> object:
    return table.delete("id >= 200", spark=spark)


def _model_without_appended(rows: operations.Rows) -> operations.Rows:
    return {key: text for key, text in rows.items() if key < 200}
