"""The table of orders: what it is, and how changes come into it."""

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession

ORDERS = "shop.orders"


def create(spark: SparkSession) -> DeltaTable:
    """The table, which is made if there is none."""
    return (
        DeltaTable.createIfNotExists(spark)
        .tableName(ORDERS)
        .addColumn("id", "BIGINT", nullable=False)
        .addColumn("customer", "STRING")
        .addColumn("amount", "BIGINT")
        .addColumn("doubled", "BIGINT", generatedAlwaysAs="amount * 2")
        .comment("what customers ordered")
        .execute()
    )


def append(rows: DataFrame) -> None:
    """Add rows that are new."""
    rows.write.format("delta").mode("append").saveAsTable(ORDERS)


def upsert(changes: DataFrame) -> list[int]:
    """Bring changes in: how many orders were updated, and how many are new."""
    done = (
        DeltaTable.forName(changes.sparkSession, ORDERS)
        .alias("orders")
        .merge(changes.alias("changes"), "orders.id = changes.id")
        .whenMatchedDelete("changes.amount IS NULL")
        .whenMatchedUpdate(set={"amount": "changes.amount", "customer": "changes.customer"})
        .whenNotMatchedInsert(
            values={"id": "changes.id", "customer": "changes.customer", "amount": "changes.amount"}
        )
        .execute()
        .first()
    )
    return [done.num_updated_rows, done.num_deleted_rows, done.num_inserted_rows]
