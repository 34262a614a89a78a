"""Mistakes that need no Spark session: names, columns, properties, versions, folders, rights."""

from datetime import datetime, timedelta

from pyspark.sql.types import LongType, StructType

import headgate
from tests.mistakes.ground import COLUMNS, IDS, Ground, Mistake

_NONE = ""


def _five(_: Ground) -> StructType:
    return StructType([*COLUMNS.fields, *StructType().add("a", LongType()).fields])


LAKES = (
    Mistake("a lake in a bucket", lambda g: headgate.connect("s3://bucket/lake"), "s3://"),
    Mistake("a lake nowhere", lambda g: headgate.connect(None), _NONE),
    Mistake(
        "a warehouse elsewhere", lambda g: headgate.connect(g.folder / "x", warehouse="/elsewhere"), _NONE
    ),
    Mistake("a file in place of a lake", lambda g: headgate.connect(g.file()), _NONE),
    Mistake("a lake where no folder can be made", lambda g: headgate.connect("/proc/lake"), _NONE),
    Mistake("a folder in place of a database", lambda g: headgate.connect(g.with_folder("odd", None)), _NONE),
    Mistake(
        "a text in place of a database",
        lambda g: headgate.connect(g.with_folder("text", b"not a database " * 1000)),
        _NONE,
    ),
    Mistake("a lake that was deleted", lambda g: g.without_its_folder().create_schema("t"), _NONE),
    Mistake("settings by name", lambda g: headgate.connect(g.folder / "x", settings={"publish": 1}), _NONE),
)

NAMES = (
    Mistake("a table without its schema", lambda g: g.lake.table("orders"), "orders"),
    Mistake("a table that is misspelled", lambda g: g.lake.table("s.order"), "s.order"),
    Mistake("a table of another schema", lambda g: g.lake.table("t.orders"), "t.orders"),
    Mistake("a number for a table", lambda g: g.lake.table(5), _NONE),
    Mistake("three parts in a name", lambda g: g.lake.table("main.s.orders"), "main.s.orders"),
    Mistake("dropping what is not there", lambda g: g.lake.drop_table("s.order"), "s.order"),
    Mistake("renaming to a name in use", lambda g: g.lake.rename("s.orders", "s.returns"), "s.returns"),
    Mistake("bringing back what was not dropped", lambda g: g.lake.undrop("s.orders2"), "s.orders2"),
    Mistake("purging a live table", lambda g: g.lake.purge("s.orders")),
    Mistake("a schema with a dot", lambda g: g.lake.create_schema("a.b"), _NONE),
    Mistake("checking what is not there", lambda g: g.lake.check("s.order"), "s.order"),
    Mistake("a dropped table", lambda g: g.dropped().set_comment("still here?"), "s.gone"),
    Mistake(
        "a table that is not in a snapshot",
        lambda g: g.lake.snapshot("s.orders").table("s.returns"),
        "s.returns",
    ),
    Mistake("an unknown isolation", lambda g: g.lake.transaction(isolation="none"), _NONE),
)

MADE = (
    Mistake("a table that exists", lambda g: g.lake.create_table("s.orders", COLUMNS)),
    Mistake("a table in no schema", lambda g: g.lake.create_table("t.new", COLUMNS), "t.new"),
    Mistake("columns in a list", lambda g: g.lake.create_table("s.new", ["id", "name"]), "s.new"),
    Mistake("no columns", lambda g: g.lake.create_table("s.new", StructType()), "s.new"),
    Mistake(
        "a column twice",
        lambda g: g.lake.create_table("s.new", StructType().add("id", LongType()).add("ID", LongType())),
        "s.new",
    ),
    Mistake(
        "partitioned by a misspelled column",
        lambda g: g.lake.create_table("s.new", COLUMNS, partition_by="dya"),
        "s.new",
    ),
    Mistake(
        "partitioned by a number",
        lambda g: g.lake.create_table("s.new", COLUMNS, partition_by=3),
        "s.new",
    ),
    Mistake(
        "partitioned by every column", lambda g: g.lake.create_table("s.new", IDS, partition_by="id"), "s.new"
    ),
    Mistake(
        "partitioned and clustered",
        lambda g: g.lake.create_table("s.new", COLUMNS, partition_by="day", cluster_by="id"),
        "s.new",
    ),
    Mistake(
        "clustered by five columns",
        lambda g: g.lake.create_table("s.new", _five(g), cluster_by=["id", "name", "day", "amount", "a"]),
        "s.new",
    ),
    Mistake(
        "clustered by a misspelled column",
        lambda g: g.lake.create_table("s.new", COLUMNS, cluster_by="dya"),
        "s.new",
    ),
    Mistake(
        "a misspelled property",
        lambda g: g.lake.create_table("s.new", COLUMNS, properties={"delta.apendOnly": "true"}),
        "s.new",
    ),
    Mistake(
        "a property that is no text",
        lambda g: g.lake.create_table("s.new", COLUMNS, properties={"delta.appendOnly": True}),
        "s.new",
    ),
    Mistake("properties in a list", lambda g: g.orders.set_properties(["delta.appendOnly"])),
    Mistake("nothing at a path", lambda g: headgate.at_path(g.folder / "nothing"), "nothing"),
    Mistake("nothing to check at a path", lambda g: headgate.check_path(g.folder / "nothing"), "nothing"),
    Mistake("a path beside the table's", lambda g: headgate.at_path(g.folder / "plane"), "plane"),
    Mistake("a number for a path", lambda g: headgate.at_path(5), _NONE),
    Mistake("a lake's table by its path", lambda g: headgate.at_path(g.orders.location), "s.orders"),
    Mistake(
        "other columns than the table at a path has",
        lambda g: headgate.at_path(g.folder / "plain", columns=StructType().add("nr", LongType())),
        "plain",
    ),
    Mistake(
        "another partitioning than the table at a path has",
        lambda g: headgate.at_path(g.folder / "plain", columns=COLUMNS, partition_by="day"),
        "plain",
    ),
    Mistake("adopting nothing", lambda g: g.lake.adopt(g.folder / "nothing", "s.new"), "nothing"),
    Mistake("cloning nothing", lambda g: g.lake.clone("s.order", "s.new"), "s.order"),
    Mistake("cloning over a table", lambda g: g.lake.clone("s.orders", "s.returns"), "s.returns"),
    Mistake("cloning a path with nothing", lambda g: g.lake.clone(g.folder / "nothing", "s.new"), "nothing"),
)

CHANGED = (
    Mistake("dropping a column that is not there", lambda g: g.orders.drop_columns("nope")),
    Mistake("dropping a column without mapping", lambda g: g.orders.drop_columns(["name"])),
    Mistake("dropping a number", lambda g: g.orders.drop_columns(5)),
    Mistake("renaming a column that is not there", lambda g: g.orders.rename_column("nme", "label")),
    Mistake("renaming a column without mapping", lambda g: g.orders.rename_column("name", "label")),
    Mistake(
        "adding a column that is there", lambda g: g.orders.add_columns(StructType().add("ID", LongType()))
    ),
    Mistake("moving a column nowhere", lambda g: g.orders.move_column("name")),
    Mistake("moving a column behind none", lambda g: g.orders.move_column("name", after="dya")),
    Mistake("describing a column that is not there", lambda g: g.orders.set_column_comment("nme", "a name")),
    Mistake("a property with a wrong value", lambda g: g.orders.set_properties({"delta.appendOnly": "yes"})),
    Mistake(
        "a duration without a unit", lambda g: g.orders.set_properties({"delta.logRetentionDuration": "30"})
    ),
    Mistake("unsetting a property that is not there", lambda g: g.orders.unset_properties("delta.apendOnly")),
    Mistake("dropping a constraint that is not there", lambda g: g.orders.drop_constraint("positive")),
    Mistake("dropping a feature that is not there", lambda g: g.orders.drop_feature("deletionVectors")),
    Mistake("a misspelled feature", lambda g: g.orders.add_feature("deletionVector")),
    Mistake("a domain of Delta's", lambda g: g.orders.set_domain("delta.mine", "{}")),
    Mistake("a domain's configuration as a dict", lambda g: g.orders.set_domain("acme.mark", {"at": 5})),
    Mistake("clustering a partitioned table", lambda g: g.orders.cluster_by("id")),
)

PAST = (
    Mistake("a version to come", lambda g: g.orders.restore(version=99)),
    Mistake("a version before the first", lambda g: g.orders.domains(version=-1)),
    Mistake("a version in words", lambda g: g.orders.restore(version="latest")),
    Mistake("a version and a moment", lambda g: g.orders.restore(version=0, timestamp="2026-01-01")),
    Mistake("neither version nor moment", lambda g: g.orders.restore()),
    Mistake("a moment before the table", lambda g: g.orders.restore(timestamp="2020-01-01T00:00:00Z")),
    Mistake("a moment to come", lambda g: g.orders.restore(timestamp="2199-01-01T00:00:00Z")),
    Mistake("a moment in words", lambda g: g.orders.restore(timestamp="yesterday")),
    Mistake("a moment as a number", lambda g: g.orders.restore(timestamp=20260131)),
    Mistake("hours without a unit", lambda g: g.orders.vacuum(168)),
    Mistake("too short a retention", lambda g: g.plain.vacuum(timedelta(hours=1)), "plain"),
    Mistake("a flag in quotes", lambda g: g.orders.vacuum(dry_run="yes")),
    Mistake("a compaction backwards", lambda g: g.orders.compact_log(3, 1)),
    Mistake("a lease for days", lambda g: g.lake.lease("s.orders", ttl=timedelta(days=3))),
    Mistake("a lease without a unit", lambda g: g.lake.lease("s.orders", ttl=60)),
    Mistake("a lease of a version to come", lambda g: g.lake.lease("s.orders", version=99)),
    Mistake("events since a moment", lambda g: g.lake.events(after=datetime(2026, 1, 1)), _NONE),
    Mistake("a truncated staged commit", lambda g: g.with_truncated_commit().domains(version=1)),
)

RIGHTS = (
    Mistake("an unknown privilege", lambda g: g.lake.grant("SELECT", on="s.orders", to="ann")),
    Mistake("a privilege on no table", lambda g: g.lake.grant("READ", on="s.order", to="ann"), "s.order"),
    Mistake("dropping without the right", lambda g: g.ann.drop_table("s.orders")),
    Mistake("making without the right", lambda g: g.ann.create_table("s.new", IDS), "s.new"),
    Mistake("writing without the right", lambda g: g.ann.table("s.orders").set_comment("mine")),
    Mistake("an unknown maintenance", lambda g: g.lake.permit("s.orders", "vacuum")),
    Mistake("an unknown rule", lambda g: g.lake.set_rule("max_files", 5), _NONE),
    Mistake(
        "a foreign key to no column", lambda g: g.lake.add_foreign_key("s.orders", "id", "s.returns", "nr")
    ),
    Mistake("an unknown kind of event", lambda g: g.lake.listen(print, kinds="commits"), _NONE),
    Mistake("an owner that is not registered", lambda g: g.plain.coordinate("nobody", {}), "plain"),
)

ROWS = (
    Mistake("appending a list", lambda g: g.orders.append([(1, "one", "2026-01-01", 1.0)])),
    Mistake("appending a dict", lambda g: g.orders.append({"id": [1]})),
    Mistake("merging a list", lambda g: g.orders.merge([(1, "one")], "t.id = s.id")),
    Mistake("an option that is misspelled", lambda g: g.orders.batch_writer(merge_shema=True)),
    Mistake("an option of the wrong kind", lambda g: g.orders.batch_writer(max_records_per_file="many")),
    Mistake("an unknown output mode", lambda g: g.orders.batch_writer(mode="replace")),
    Mistake("generating something else", lambda g: g.orders.generate("manifest")),
)

MISTAKES: tuple[Mistake, ...] = (*LAKES, *NAMES, *MADE, *CHANGED, *PAST, *RIGHTS, *ROWS)
