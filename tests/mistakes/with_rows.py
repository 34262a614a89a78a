"""Mistakes with rows, which Spark must look at: writes, conditions, merges, constraints, reads."""

from datetime import timedelta

from pyspark.sql import functions as F

import headgate
from tests.mistakes.ground import Mistake, RowsGround

_WRITTEN = "id BIGINT, name STRING, day STRING, amount DOUBLE"


def _merge_twice(ground: RowsGround) -> object:
    twice = ground.frame([(1, "x"), (1, "y")], "id BIGINT, name STRING")
    return ground.orders.merge(twice, "t.id = s.id").when_matched_update(set={"name": "s.name"}).execute()


WRITES = (
    Mistake("a column more", lambda g: g.orders.append(g.rows.withColumn("note", F.lit("x")))),
    Mistake("a column of another type", lambda g: g.orders.append(g.rows.withColumn("amount", F.lit("x")))),
    Mistake(
        "a column that only a cast makes fit",
        lambda g: g.orders.append(g.rows.withColumn("id", F.col("id").cast("int"))),
    ),
    Mistake(
        "no value where one must be",
        lambda g: g.orders.append(g.frame([(None, "x", "2026-01-01", 1.0)], _WRITTEN)),
    ),
    Mistake(
        "a CHECK constraint broken",
        lambda g: g.returns.append(g.frame([(3, "x", "2026-01-01", -1.0)], _WRITTEN)),
        "s.returns",
    ),
    Mistake("a misspelled option", lambda g: g.orders.append(g.rows, merge_shema=True)),
    Mistake(
        "two ways to replace",
        lambda g: g.orders.overwrite(g.rows, replace_where="id > 1", partition_overwrite="dynamic"),
    ),
    Mistake(
        "rows outside of what is replaced",
        lambda g: g.orders.overwrite(g.rows, replace_where="day = '2026-01-01'"),
    ),
    Mistake(
        "a condition with a misspelled column",
        lambda g: g.orders.overwrite(g.rows, replace_where="dya = '2026-01-01'"),
    ),
    Mistake("writing to a table that exists", lambda g: g.lake.write(g.rows, "s.orders")),
    Mistake("an unknown mode", lambda g: g.lake.write(g.rows, "s.orders", mode="replace")),
    Mistake("a transaction without its number", lambda g: g.orders.append(g.rows, txn="load-orders")),
    Mistake(
        "columns that are no DDL", lambda g: g.lake.create_table("s.new", "id BIGINT name STRING"), "s.new"
    ),
    Mistake("a type that is none", lambda g: g.lake.create_table("s.new", "id BIGNT"), "s.new"),
    Mistake("nothing to replace", lambda g: g.lake.replace_table("s.order", "id BIGINT"), "s.order"),
    Mistake(
        "nothing to write to at a path", lambda g: headgate.write_path(g.rows, g.folder / "plain"), "plain"
    ),
)

CHANGES = (
    Mistake("deleting by a misspelled column", lambda g: g.orders.delete("dya = '2026-01-01'")),
    Mistake("deleting by what is no SQL", lambda g: g.orders.delete("id >> = 5")),
    Mistake("deleting by a number", lambda g: g.orders.delete(5)),
    Mistake("deleting from an append-only table", lambda g: g.log.delete("id = 1"), "s.log"),
    Mistake("updating by a number", lambda g: g.orders.update({"name": 5})),
    Mistake("updating by a text", lambda g: g.orders.update("name = 'x'")),
    Mistake("updating nothing", lambda g: g.orders.update({})),
    Mistake("updating a misspelled column", lambda g: g.orders.update({"nme": "'x'"})),
    Mistake("updating from a misspelled column", lambda g: g.orders.update({"name": "upper(nme)"})),
    Mistake("a text that is taken for a column", lambda g: g.orders.update({"name": "paid"})),
    Mistake("updating to another type", lambda g: g.orders.update({"amount": "array(1)"})),
    Mistake(
        "updating what breaks a constraint", lambda g: g.returns.update({"amount": "-amount"}), "s.returns"
    ),
    Mistake("merging without a clause", lambda g: g.orders.merge(g.rows, "t.id = s.id").execute()),
    Mistake(
        "merging by a misspelled column",
        lambda g: g.orders.merge(g.rows, "t.id = s.nr").when_matched_delete().execute(),
    ),
    Mistake("merging a row twice", _merge_twice),
    Mistake(
        "merging a number",
        lambda g: g.orders.merge(g.rows, "t.id = s.id").when_matched_update(set={"name": 5}),
    ),
    Mistake(
        "merging into a misspelled column",
        lambda g: g.orders.merge(g.rows, "t.id = s.id").when_matched_update(set={"nme": "s.name"}).execute(),
    ),
    Mistake("a constraint that rows break", lambda g: g.orders.add_constraint("big", "amount > 100")),
    Mistake("a constraint about no column", lambda g: g.orders.add_constraint("big", "amont > 100")),
    Mistake(
        "a constraint that is there",
        lambda g: g.returns.add_constraint("positive", "amount > 0"),
        "s.returns",
    ),
    Mistake("z-ordering by a misspelled column", lambda g: g.plain.optimize(z_order_by="dya"), "plain"),
    Mistake("optimizing by a column of rows", lambda g: g.plain.optimize("id > 1"), "plain"),
    Mistake("widening a column to a narrower type", lambda g: g.orders.widen_column("id", "INT")),
    Mistake("widening to what is no type", lambda g: g.orders.widen_column("id", "LONGER")),
)

READS = (
    Mistake("reading by a misspelled column", lambda g: g.orders.read(where="dya = '2026-01-01'")),
    Mistake("reading by what is no SQL", lambda g: g.orders.read(where="day ==== 1")),
    Mistake("reading a version to come", lambda g: g.orders.read(version="99")),
    Mistake("reading before the table", lambda g: g.orders.read(timestamp="2020-01-01")),
    Mistake("changes of a table that records none", lambda g: g.orders.changes(0)),
    Mistake("changes since words", lambda g: g.orders.changes("the beginning")),
    Mistake("changes since a duration", lambda g: g.orders.changes(timedelta(days=1))),
    Mistake("row ids of a table that has none", lambda g: g.orders.read(row_ids=True)),
    Mistake("a limit in words", lambda g: g.orders.history(limit="ten")),
    Mistake(
        "changing a table with a file deleted", lambda g: g.without_a_file().update({"name": "'x'"}), "holes"
    ),
)

MISTAKES: tuple[Mistake, ...] = (*WRITES, *CHANGES, *READS)
