"""Sail, in its own environment: a Spark Connect server over a catalog of Unity Catalog's older API.

Run by path with that environment's interpreter; it knows nothing of this project.
"""

import contextlib
import json
import os
import sys


def main(url: str, catalog: str, token: str) -> None:
    entry = f'{{name="{catalog}", type="unity", uri="{url}/api/2.1/unity-catalog", '
    os.environ["SAIL_CATALOG__LIST"] = f'[{entry}default_catalog="{catalog}", token="{token}"}}]'
    os.environ["SAIL_CATALOG__DEFAULT_CATALOG"] = catalog
    from pysail.spark import SparkConnectServer  # noqa: PLC0415 — it reads the settings when it is imported
    from pyspark.sql import SparkSession  # noqa: PLC0415

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    _, port = server.listening_address
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    for line in sys.stdin:
        print(json.dumps(_answer(spark, json.loads(line)), default=str), flush=True)
    with contextlib.suppress(Exception):
        spark.stop()
    server.stop()


def _answer(spark, asked):
    try:
        rows = []
        for statement in asked["statements"]:
            rows = [list(row) for row in spark.sql(statement).collect()]
        return {"answer": rows}
    except Exception as exc:
        return {"refusal": str(exc)}


if __name__ == "__main__":
    main(*sys.argv[1:])
