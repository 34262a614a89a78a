"""Steps that change what the table is, and steps that change no row."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

from tests.support.histories.model import Column, State, condition, drawn, select
from tests.support.histories.shapes import free_name
from tests.support.histories.steps import Now, Site, Step, sql
from tests.support.histories.values import KINDS, TEXTS, WIDER, addable, name, quoted


def _alter(said: str, ours: Callable[[Any], object], theirs: str, after: State, **more: Any) -> Step:
    return Step(said, lambda site: ours(site.table), sql(f"ALTER TABLE {{t}} {theirs}"), after, **more)


def add_column(random: Random, now: Now) -> Step:
    """A column more, somewhere."""
    new = Column(free_name(random, now.state.names, mapped=now.mapped), random.choice(addable(now.features)))
    behind = random.choice([None, *now.state.names])
    place = len(now.state.columns) if behind is None else now.state.names.index(behind) + 1
    columns = (*now.state.columns[:place], new, *now.state.columns[place:])
    rows = tuple((*row[:place], None, *row[place:]) for row in now.state.rows)
    ddl = f"{name(new.name)} {new.kind.sql}"
    return _alter(
        f"add column {ddl} after {behind}",
        lambda table: table.add_columns(ddl, after=behind),
        f"ADD COLUMNS ({ddl}{'' if behind is None else f' AFTER {name(behind)}'})",
        replace(now.state, columns=columns, rows=rows),
    )


def rename_column(random: Random, now: Now) -> Step | None:
    """Another name for a column; MERGE of Delta fails where a partition column without mapping has a dot."""
    free = [column.name for column in now.state.columns if not column.fixed]
    if not now.mapped or not free:
        return None
    old = random.choice(free)
    new = free_name(random, now.state.names, mapped=old not in now.state.partition_by)

    def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(new if each == old else each for each in names)

    columns = tuple(replace(c, name=new) if c.name == old else c for c in now.state.columns)
    after = replace(
        now.state,
        columns=columns,
        partition_by=renamed(now.state.partition_by),
        cluster_by=renamed(now.state.cluster_by),
    )
    return _alter(
        f"rename {old} to {new}",
        lambda table: table.rename_column(name(old), new),
        f"RENAME COLUMN {name(old)} TO {name(new)}",
        after,
    )


def drop_column(random: Random, now: Now) -> Step | None:
    """A column less."""
    held = {*now.state.partition_by, *now.state.cluster_by}
    free = [column.name for column in now.state.columns if not column.fixed and column.name not in held]
    if not now.mapped or not free or len(now.state.columns) < 5:
        return None
    gone = random.choice(free)
    place = now.state.names.index(gone)
    columns = (*now.state.columns[:place], *now.state.columns[place + 1 :])
    rows = tuple((*row[:place], *row[place + 1 :]) for row in now.state.rows)
    return _alter(
        f"drop {gone}",
        lambda table: table.drop_columns(name(gone)),
        f"DROP COLUMN {name(gone)}",
        replace(now.state, columns=columns, rows=rows),
    )


def widen_column(random: Random, now: Now) -> Step | None:
    """A wider type for a column; Delta does not add the feature that TIMESTAMP_NTZ needs by itself."""
    free = [column for column in now.state.columns if not column.fixed and column.kind.sql in WIDER]
    if not now.on("delta.enableTypeWidening") or not free:
        return None
    column = random.choice(free)
    to, convert = random.choice(sorted(WIDER[column.kind.sql].items(), key=lambda pair: pair[0]))
    if to == "TIMESTAMP_NTZ" and "timestampNtz" not in now.features:
        return None
    place = now.state.names.index(column.name)
    columns = tuple(replace(c, kind=KINDS[to]) if c is column else c for c in now.state.columns)
    rows = tuple(
        (*row[:place], None if row[place] is None else _converted(row[place], convert), *row[place + 1 :])
        for row in now.state.rows
    )
    return _alter(
        f"widen {column.name} from {column.kind.sql} to {to}",
        lambda table: table.widen_column(name(column.name), to),
        f"ALTER COLUMN {name(column.name)} TYPE {to}",
        replace(now.state, columns=columns, rows=rows),
    )


def _converted(value: Any, convert: Callable[[Any], Any]) -> Any:
    return value if value == "NaN" else convert(value)


def _settings(random: Random, now: Now) -> tuple[str, str]:
    choices = [
        ("user.note", random.choice([text for text in TEXTS if text])),
        ("delta.checkpointInterval", random.choice(["1", "2", "5"])),
        ("delta.enableDeletionVectors", random.choice(["true", "false"])),
        ("delta.enableChangeDataFeed", random.choice(["true", "true", "false"])),
        ("delta.dataSkippingNumIndexedCols", random.choice(["0", "1", "3", "-1"])),
        ("delta.checkpoint.writeStatsAsStruct", random.choice(["true", "false"])),
        ("delta.checkpoint.writeStatsAsJson", random.choice(["true", "false"])),
        ("delta.enableRowTracking", "true"),
        ("delta.enableInCommitTimestamps", "true"),
        ("delta.enableTypeWidening", "true"),
        ("delta.checkpointPolicy", random.choice(["v2", "classic"])),
    ]
    if not now.mapped:
        choices += [("delta.columnMapping.mode", "name")] * 2
    return random.choice(choices)


def set_property(random: Random, now: Now) -> Step:
    """A property has a value, and the table what that needs."""
    key, value = _settings(random, now)
    return _alter(
        f"set {key} to {value!r}",
        lambda table: table.set_properties({key: value}),
        f"SET TBLPROPERTIES ('{key}' = {quoted(value)})",
        now.state,
        closes=key == "delta.columnMapping.mode",
    )


_UNSETTABLE = (
    "user.note", "delta.checkpointInterval", "delta.enableDeletionVectors", "delta.enableChangeDataFeed",
    "delta.dataSkippingNumIndexedCols", "delta.checkpoint.writeStatsAsStruct", "delta.checkpointPolicy",
    "delta.checkpoint.writeStatsAsJson", "delta.enableTypeWidening",
)  # fmt: skip


def unset_property(random: Random, now: Now) -> Step | None:
    """A property has its default again."""
    there = [key for key in _UNSETTABLE if key in now.properties]
    if not there:
        return None
    key = random.choice(there)
    return _alter(
        f"unset {key}",
        lambda table: table.unset_properties([key]),
        f"UNSET TBLPROPERTIES ('{key}')",
        now.state,
    )


def optimize(random: Random, now: Now) -> Step:
    """Other files with the same rows."""
    parts = [now.state.column(part) for part in now.state.partition_by]
    if parts and random.random() < 0.4:
        where = condition(random, now.state, parts).text()
        return Step(
            f"optimize where {where}",
            lambda site: site.table.optimize(where, spark=site.spark),
            sql(f"OPTIMIZE {{t}} WHERE {where}"),
            now.state,
        )
    full = bool(now.state.cluster_by) and random.random() < 0.4
    return Step(
        "optimize full" if full else "optimize",
        lambda site: site.table.optimize(full=full, spark=site.spark),
        sql(f"OPTIMIZE {{t}}{' FULL' if full else ''}"),
        now.state,
    )


def z_order(random: Random, now: Now) -> Step | None:
    """Rows alike in some columns in the same files."""
    free = [c for c in now.state.columns if c.kind.ordered and c.name not in now.state.partition_by]
    if now.state.cluster_by or int(now.properties.get("delta.dataSkippingNumIndexedCols", "32")) != 32:
        return None
    by = [name(column.name) for column in random.sample(free, min(len(free), random.randint(1, 2)))]
    return Step(
        f"z-order by {by}",
        lambda site: site.table.optimize(z_order_by=by, spark=site.spark),
        sql(f"OPTIMIZE {{t}} ZORDER BY ({', '.join(by)})"),
        now.state,
    )


def purge(random: Random, now: Now) -> Step:
    """No file with deleted rows."""
    return Step(
        "purge",
        lambda site: site.table.purge(spark=site.spark),
        sql("REORG TABLE {t} APPLY (PURGE)"),
        now.state,
    )


def cluster_by(random: Random, now: Now) -> Step | None:
    """Clustered by other columns, or no longer."""
    if now.state.partition_by or not now.state.cluster_by:
        return None
    free = [
        c.name for c in now.state.columns[:4] if c.kind.ordered and c.kind.sql != "BINARY" and not c.identity
    ]
    by = tuple(random.sample(free, random.randint(0, min(2, len(free)))))
    said = f"({', '.join(map(name, by))})" if by else "NONE"
    return _alter(
        f"cluster by {said}",
        lambda table: table.cluster_by(*map(name, by)),
        f"CLUSTER BY {said}",
        replace(now.state, cluster_by=by),
    )


def restore(random: Random, now: Now) -> Step | None:
    """The table as it was; Delta brings back ids of rows that it gave to others since."""
    free = [version for version in now.past if version != now.version]
    if not free:
        return None
    version = random.choice(free)
    then = now.past[version]
    return Step(
        f"restore {version}",
        lambda site: site.table.restore(version=version),
        sql(f"RESTORE TABLE {{t}} TO VERSION AS OF {version}") if now.has_row_ids_of(version) else None,
        then,
    )


def checkpoint(random: Random, now: Now) -> Step:
    """The log in one file."""
    return Step(
        "checkpoint",
        lambda site: site.table.checkpoint(),
        lambda site: site.delta.checkpoint(site.path),
        now.state,
    )


def compact_log(random: Random, now: Now) -> Step | None:
    """Some commits in one file, of which Delta only reads."""
    if now.version < 2:
        return None
    start = random.randint(0, now.version - 1)
    end = random.randint(start + 1, now.version)
    return Step(
        f"compact the log from {start} to {end}",
        lambda site: site.table.compact_log(start, end),
        None,
        now.state,
    )


def vacuum(random: Random, now: Now) -> Step:
    """No file that this version does not need."""
    return Step(
        "vacuum",
        lambda site: site.table.vacuum(timedelta(0), enforce_retention=False),
        sql("VACUUM {t} RETAIN 0 HOURS"),
        now.state,
        forgets=True,
    )


def set_domain(random: Random, now: Now) -> Step | None:
    """What a user keeps beside the rows."""
    if "domainMetadata" not in now.features:
        return None
    domain, content = random.choice(["shop.loaded", "a domain"]), random.choice(TEXTS)
    return Step(
        f"set the domain {domain!r} to {content!r}",
        lambda site: site.table.set_domain(domain, content),
        lambda site: site.delta.set_domain(site.path, domain, content),
        now.state,
    )


def add_constraint(random: Random, now: Now) -> Step | None:
    """A condition that all rows meet."""
    if now.state.constraints:
        return None
    return _alter(
        "add a constraint",
        lambda table: table.add_constraint("positive", "id >= 0"),
        "ADD CONSTRAINT positive CHECK (id >= 0)",
        replace(now.state, constraints={"positive": "id >= 0"}),
    )


def drop_constraint(random: Random, now: Now) -> Step | None:
    """No such condition any more."""
    if not now.state.constraints:
        return None
    return _alter(
        "drop the constraint",
        lambda table: table.drop_constraint("positive"),
        "DROP CONSTRAINT positive",
        replace(now.state, constraints={}),
    )


def break_constraint(random: Random, now: Now) -> Step | None:
    """What both refuse."""
    if not now.state.constraints:
        return None
    columns = [column for column in now.state.columns if column.computed is None and not column.identity]
    (row,) = drawn(random, columns, 1)
    query = select(columns, [{**row, "id": -1}])
    return Step(
        "append a row that breaks the constraint",
        lambda site: site.table.append(site.frame(query)),
        sql(f"INSERT INTO {{t}} BY NAME {query}"),
        now.state,
        forbidden=True,
    )


_DROPPED = {
    "deletionVectors": "delta.enableDeletionVectors",
    "v2Checkpoint": "delta.checkpointPolicy",
    "inCommitTimestamp": "delta.enableInCommitTimestamps",
    "rowTracking": "delta.enableRowTracking",
    "typeWidening": "delta.enableTypeWidening",
    "checkConstraints": "",
    "columnMapping": "delta.columnMapping.mode",
}


def drop_feature(random: Random, now: Now) -> Step | None:
    """The protocol names a feature no longer.

    Where Delta drops column mapping from a clustered table it can neither cluster nor optimize it any more.
    """
    there = sorted(now.features & _DROPPED.keys())
    if any("." in part for part in now.state.partition_by):
        there = [feature for feature in there if feature != "columnMapping"]
    if not there:
        return None
    feature = random.choice(there)
    spoils = feature == "columnMapping" and bool(now.state.cluster_by)

    def ours(site: Site) -> None:
        if feature == "deletionVectors":
            site.table.set_properties({"delta.enableDeletionVectors": "false"})
            site.table.purge(spark=site.spark)
        site.table.drop_feature(feature)

    return Step(
        f"drop the feature {feature}",
        ours,
        sql(f"ALTER TABLE {{t}} DROP FEATURE {feature}") if not spoils else None,
        now.state,
        closes=True,
        refusable=True,
    )
