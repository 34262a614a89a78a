"""The shop: orders are loaded, changed, followed as a stream and reported."""

import json
from pathlib import Path
from typing import Any

import orders
import report
import session
import stream
from pyspark.sql import SparkSession

NEW = "SELECT id, concat('customer ', id % 3) AS customer, id * 10 AS amount FROM range({first}, {last})"


def main(spark: SparkSession, folder: Path) -> Any:
    """Run it all; what was seen on the way."""
    session.prepare(spark)
    table = orders.create(spark)
    seen: list[Any] = [orders.upsert(spark.sql(NEW.format(first=0, last=5)))]
    orders.append(spark.sql(NEW.format(first=5, last=6)))
    report.raise_amounts(spark, "customer 0", 1)
    seen.append(report.by_customer(spark))
    seen.append(orders.upsert(spark.sql(NEW.format(first=4, last=8))))
    arriving = folder / "arriving"
    arriving.mkdir(parents=True)
    for number, change in enumerate(({"id": 1, "amount": None}, {"id": 20, "customer": "last", "amount": 7})):
        (arriving / f"{number}.json").write_text(json.dumps(change))
    stream.follow(spark, arriving, folder / "checkpoint")
    rows = sorted(list(row) for row in table.toDF().collect())
    return [*seen, rows, [row.operation for row in table.history(2).collect()]]
