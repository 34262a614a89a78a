"""The demo's data: a day of retail orders as tills send them, and how they become revenue.

Every value is a hash of the seed and the order's number, so the same seed gives the same day on
any machine, however Spark splits the work.
"""

from dataclasses import dataclass
from datetime import date

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

STORES = ("Aarau", "Basel", "Chur", "Davos", "Geneva", "Lugano", "Sion", "Zug")
CATEGORIES = ("bakery", "books", "dairy", "flowers", "garden", "kitchen", "toys", "wine")
_TYPICAL_CENTS = (420, 2190, 380, 1650, 3900, 5200, 2750, 1890)

BRONZE = (
    "order_id STRING, ordered_at STRING, store STRING, category STRING, quantity STRING, unit_price STRING, "
    "delivery STRING"
)
SILVER = (
    "order_id STRING NOT NULL, ordered_at TIMESTAMP, store STRING, category STRING, quantity INT, "
    "unit_price DECIMAL(10,2), amount DECIMAL(12,2)"
)
GOLD = "day DATE, hour INT, category STRING, orders BIGINT, items BIGINT, revenue DECIMAL(20,2)"


@dataclass(frozen=True, slots=True)
class Day:
    """Which day's orders, and the seed they come from."""

    date: date
    seed: int


def delivery(spark: SparkSession, day: Day, numbers: range, name: str) -> DataFrame:
    """The orders of these numbers as they arrive: every fiftieth or so is an earlier one sent again."""
    number = F.col("id")
    again = (number > 0) & (_pick(day, "again", 50, of=number) == 0)
    earlier = F.pmod(_hash(day, "which", of=number), F.greatest(number, F.lit(1)))
    sent = spark.range(numbers.start, numbers.stop).select(
        F.when(again, earlier).otherwise(number).alias("order")
    )
    return _as_sent(sent, day, name)


def late(spark: SparkSession, day: Day, numbers: range, store: str) -> DataFrame:
    """Orders of one store that arrive after the day was closed, none of them sent before."""
    sent = spark.range(numbers.start, numbers.stop).select(F.col("id").alias("order"))
    return _as_sent(sent, day, f"late from {store}").withColumn("store", F.lit(store))


def _as_sent(orders: DataFrame, day: Day, name: str) -> DataFrame:
    """All text, and some of it wrong: times nobody can read, absent prices, nothing sold, untidy names."""
    flaw = _pick(day, "flaw", 1000)
    second = (_pick(day, "early", 86_400) + _pick(day, "late", 86_400)) / 2  # most people shop at noon
    moment = F.timestamp_seconds(F.unix_timestamp(F.lit(f"{day.date} 00:00:00")) + F.floor(second))
    kind = _pick(day, "category", len(CATEGORIES))
    cents = F.floor(_one_of(_TYPICAL_CENTS, kind) * (50 + _pick(day, "price", 101)) / 100)
    category = _one_of(CATEGORIES, kind)
    return orders.select(
        F.format_string(f"{day.date:%Y%m%d}-%08d", "order").alias("order_id"),
        F.when(flaw < 3, "soon").otherwise(F.date_format(moment, "yyyy-MM-dd HH:mm:ss")).alias("ordered_at"),
        _one_of(STORES, _pick(day, "store", len(STORES))).alias("store"),
        F.when(flaw >= 970, F.concat(F.lit(" "), F.upper(category))).otherwise(category).alias("category"),
        F.when(flaw.between(3, 6), "0").otherwise((1 + _pick(day, "quantity", 5)).cast("string"))
        .alias("quantity"),
        F.when(flaw.between(7, 11), "n/a").otherwise((cents / 100).cast("decimal(10,2)").cast("string"))
        .alias("unit_price"),
        F.lit(name).alias("delivery"),
    )  # fmt: skip


def clean(bronze: DataFrame) -> DataFrame:
    """The orders that make sense, typed, each once."""
    return (
        cast_orders(bronze)
        .where(is_valid())
        .dropDuplicates(["order_id"])
        .withColumn("amount", (F.col("quantity") * F.col("unit_price")).cast("decimal(12,2)"))
    )


def cast_orders(bronze: DataFrame) -> DataFrame:
    """The same rows with types; what cannot be read becomes null."""
    return bronze.select(
        "order_id",
        F.try_to_timestamp("ordered_at", F.lit("yyyy-MM-dd HH:mm:ss")).alias("ordered_at"),
        "store",
        F.lower(F.trim("category")).alias("category"),
        F.col("quantity").try_cast("int").alias("quantity"),
        F.col("unit_price").try_cast("decimal(10,2)").alias("unit_price"),
    )


def is_valid() -> Column:
    """Whether a typed order has a time, a price, and something sold."""
    return (
        F.col("ordered_at").isNotNull()
        & F.col("unit_price").isNotNull()
        & F.coalesce(F.col("quantity") > 0, F.lit(False))
    )


def revenue(silver: DataFrame) -> DataFrame:
    """What was sold, by hour and category."""
    return silver.groupBy(
        F.to_date("ordered_at").alias("day"), F.hour("ordered_at").alias("hour"), "category"
    ).agg(
        F.count("*").alias("orders"),
        F.sum("quantity").alias("items"),
        F.sum("amount").cast("decimal(20,2)").alias("revenue"),
    )


def _hash(day: Day, salt: str, *, of: Column) -> Column:
    return F.xxhash64(F.lit(f"{day.seed} {day.date} {salt}"), of)


def _pick(day: Day, salt: str, choices: int, *, of: Column | None = None) -> Column:
    chosen = F.col("order") if of is None else of
    return F.pmod(_hash(day, salt, of=chosen), F.lit(choices))


def _one_of(choices: tuple[str, ...] | tuple[int, ...], place: Column) -> Column:
    return F.element_at(F.array(*(F.lit(choice) for choice in choices)), (place + 1).cast("int"))
