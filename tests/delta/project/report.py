"""What the shop reports, in SQL."""

from orders import ORDERS
from pyspark.sql import SparkSession


def by_customer(spark: SparkSession) -> list[list[object]]:
    """How much each customer ordered."""
    found = spark.sql(
        f"SELECT customer, sum(amount) AS amount FROM {ORDERS} GROUP BY customer ORDER BY customer"
    )
    return [list(row) for row in found.collect()]


def raise_amounts(spark: SparkSession, customer: str, by: int) -> None:
    """Raise what a customer pays."""
    spark.sql(f"UPDATE {ORDERS} SET amount = amount + {by} WHERE customer = '{customer}'")
