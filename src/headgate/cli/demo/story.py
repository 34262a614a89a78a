"""The demo's story: a day of orders through bronze, silver and gold, late arrivals, and time travel."""

import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from decimal import Decimal
from itertools import pairwise

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headgate.cli import console
from headgate.cli.console import OutputColumn
from headgate.cli.demo import backstage, retail
from headgate.cli.demo.retail import STORES
from headgate.cli.demo.scene import Scene
from headgate.lake.table import Table

_DELIVERIES = 4
_APPENDS_EACH = 2


def run_story(scene: Scene) -> None:
    """The whole story; what it claims is with its narrator."""
    _bronze(scene)
    closed = scene.bronze.version()
    _silver(scene)
    report = _gold(scene)
    added = _late_arrivals(scene)
    _refresh(scene)
    _time_travel(scene, closed=closed, added=added, report=report)
    backstage.show_refusal(scene)
    backstage.show_publishing(scene)
    backstage.show_history(scene)


def _bronze(scene: Scene) -> None:
    say, table = scene.say, scene.bronze
    say.chapter(f"Bronze: the orders of {scene.day.date:%A, %-d %B %Y}, as the tills sent them")
    already = scene.count(table)
    with say.work(
        f"{console.format_plural(scene.rows, 'order')} appended to {table.name} in {_DELIVERIES} deliveries",
        steps=_DELIVERIES,
    ) as step:
        for number, part in enumerate(_split(range(scene.rows), _DELIVERIES), start=1):
            table.append(retail.delivery(scene.spark, scene.day, part, f"delivery {number}"))
            step()
    rows = scene.count(table)
    say.claim(
        f"{table.name} is at version {table.version()} and has {rows:,} rows",
        expected=already + scene.rows, found=rows,
    )  # fmt: skip


def _silver(scene: Scene) -> None:
    say, table = scene.say, scene.silver
    say.chapter("Silver: typed, checked, each order once")
    with say.work(f"{table.name} overwritten with the clean orders"):
        table.overwrite(retail.clean(scene.read(scene.bronze)))
    arrived, valid, kept = (
        retail.cast_orders(scene.read(scene.bronze))
        .select(
            F.count("*"),
            F.count_if(retail.is_valid()),
            F.count_distinct(F.when(retail.is_valid(), F.col("order_id"))),
        )
        .collect()[0]
    )
    say.say(
        f"{arrived:,} arrived: {arrived - valid:,} made no sense, {valid - kept:,} were sent again, "
        f"{kept:,} are orders"
    )
    rows, distinct = scene.read(table).select(F.count("*"), F.count_distinct("order_id")).collect()[0]
    say.claim(
        f"{table.name} has {rows:,} rows and {distinct:,} different orders",
        expected=(kept, kept), found=(rows, distinct),
    )  # fmt: skip


def _gold(scene: Scene) -> int:
    say, table = scene.say, scene.gold
    say.chapter("Gold: revenue by hour and category")
    with say.work(f"{table.name} overwritten with the report"):
        version = table.overwrite(retail.revenue(scene.read(scene.silver)))
    _claim_revenue(scene)
    by_category = (
        scene.read(table)
        .groupBy("category")
        .agg(
            F.sum("orders").alias("orders"),
            F.sum("revenue").alias("revenue"),
            F.max_by("hour", "revenue").alias("best_hour"),
        )
        .orderBy(F.desc("revenue"))
        .collect()
    )
    say.table(
        (
            OutputColumn("category"),
            OutputColumn("orders", right=True),
            OutputColumn("revenue", right=True, style="green"),
            OutputColumn("best hour", right=True),
        ),
        [
            (row.category, f"{row.orders:,}", _money(row.revenue), f"{row.best_hour:02d}:00")
            for row in by_category
        ],
    )
    return version


def _claim_revenue(scene: Scene) -> None:
    reported = _revenue(scene.read(scene.gold))
    sold = scene.read(scene.silver).select(F.sum("amount")).collect()[0][0]
    scene.say.claim(
        f"{scene.gold.name} reports {_money(reported)}, to the cent what {scene.silver.name} sold",
        expected=sold, found=reported,
    )  # fmt: skip


def _late_arrivals(scene: Scene) -> int:
    """Eight stores append at the same time; how many rows they added."""
    say, table = scene.say, scene.bronze
    each = max(scene.rows // 200, 1)
    jobs = [(store, place) for place in range(_APPENDS_EACH) for store in STORES]
    say.chapter(f"Late arrivals: {len(STORES)} stores append to {table.name} at the same moment")
    rows_before, version_before, start = scene.count(table), table.version(), time.monotonic()
    with (
        say.work(f"{len(jobs)} appends by {len(STORES)} concurrent writers", steps=len(jobs)) as step,
        ThreadPoolExecutor(max_workers=len(STORES)) as writers,
    ):
        futures = []
        for number, (store, _) in enumerate(jobs):
            first = scene.rows + number * each
            orders = retail.late(scene.spark, scene.day, range(first, first + each), store)
            futures.append(writers.submit(table.append, orders))
        for _ in as_completed(futures):
            step()
    took = time.monotonic() - start
    versions = sorted(future.result() for future in futures)
    added = len(jobs) * each
    _claim_none_lost(scene, versions, version_before=version_before, rows=rows_before + added, each=each)
    say.say(f"{len(jobs) / took:.1f} appends a second, each a Spark job and a ratified commit")
    return added


def _claim_none_lost(scene: Scene, versions: list[int], *, version_before: int, rows: int, each: int) -> None:
    say, table = scene.say, scene.bronze
    expected = list(range(version_before + 1, version_before + 1 + len(versions)))
    say.claim(
        f"{len(set(versions))} commits became versions {versions[0]} to {versions[-1]}, each its own",
        expected=expected, found=versions,
    )  # fmt: skip
    found = scene.count(table)
    say.claim(f"{table.name} has {found:,} rows: none was lost, none came twice", expected=rows, found=found)
    names = [f"late from {store}" for store in STORES]
    prefix = f"{scene.day.date:%Y%m%d}-"
    arrived = scene.read(table).where(
        F.col("delivery").isin(names) & F.col("order_id").startswith(prefix)
    ).groupBy("delivery").count().collect()  # fmt: skip
    say.claim(
        f"all of the {console.format_plural(each * _APPENDS_EACH, 'order')} of each store are there",
        expected=dict.fromkeys(names, each * _APPENDS_EACH),
        found={row.delivery: row["count"] for row in arrived},
    )


def _refresh(scene: Scene) -> None:
    with scene.say.work(f"{scene.silver.name} and {scene.gold.name} brought up to date"):
        scene.silver.overwrite(retail.clean(scene.read(scene.bronze)))
        scene.gold.overwrite(retail.revenue(scene.read(scene.silver)))
    _claim_revenue(scene)


def _time_travel(scene: Scene, *, closed: int, added: int, report: int) -> None:
    say, bronze, gold = scene.say, scene.bronze, scene.gold
    say.chapter("Time travel: the tables as they were")
    now, then = scene.count(bronze), scene.count(bronze, version=closed)
    say.claim(
        f"{bronze.name} has {now:,} rows now and had {then:,} at version {closed}, {now - then:,} fewer",
        expected=added, found=now - then,
    )  # fmt: skip
    moment = _committed_at(bronze, closed)
    as_of = scene.count(bronze, timestamp=moment)
    say.claim(f"as of {moment} it had {as_of:,} too", expected=then, found=as_of)
    before, after = _revenue(scene.read(gold, version=report)), _revenue(scene.read(gold))
    missing = retail.clean(
        scene.read(bronze).join(scene.read(bronze, version=closed), "order_id", "left_anti")
    )
    late = missing.select(F.sum("amount")).collect()[0][0]
    say.claim(
        f"{gold.name} said {_money(before)} at version {report} and says {_money(after)} now: "
        f"the late orders are worth {_money(after - before)}",
        expected=late, found=after - before,
    )  # fmt: skip


def _committed_at(table: Table, version: int) -> str:
    stamp = next(entry.timestamp for entry in table.log.history() if entry.version == version)
    return console.format_timestamp(stamp)


def _revenue(gold: DataFrame) -> Decimal:
    total: Decimal = gold.select(F.sum("revenue")).collect()[0][0]
    return total


def _money(amount: Decimal) -> str:
    return f"CHF {amount:,}"


def _split(numbers: range, parts: int) -> list[range]:
    edges = [numbers.start + len(numbers) * part // parts for part in range(parts + 1)]
    return [range(first, last) for first, last in pairwise(edges)]
