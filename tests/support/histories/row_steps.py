"""Steps that write and change rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.support.histories.model import Cells, Column, Condition, Row, State, condition, drawn, select
from tests.support.histories.shapes import free_name
from tests.support.histories.steps import Act, Now, Site, Step, sql
from tests.support.histories.values import addable, name, or_null

_DYNAMIC = "spark.sql.sources.partitionOverwriteMode"


def _written(now: Now, rows: Sequence[Cells]) -> tuple[Row, ...]:
    return tuple(now.state.stored(row) for row in rows)


def _writable(state: State) -> list[Column]:
    return [column for column in state.columns if column.computed is None and not column.identity]


def _writes(query: str, mode: str, **options: str) -> Act:
    return lambda site: site.delta.write(query, site.path, mode, options)


def append(random: Random, now: Now) -> Step:
    """Add rows, some columns of which may be left to the table; to an empty one at least some.

    A DataFrame's writer of Delta leaves no partition column to the table, its SQL does.
    """
    columns = _writable(now.state)
    if random.random() < 0.3:
        absent = random.choice(columns).name
        columns = [column for column in columns if column.name in ("id",) or column.name != absent]
    rows = drawn(random, columns, random.randint(0 if now.state.rows else 4, 8), random.choice([0, 10]))
    query = select(columns, rows, files=random.randint(1, 2))
    written = {column.name for column in columns}
    by_writer = random.random() < 0.5 and written.issuperset(now.state.partition_by)
    return Step(
        f"append {query}",
        lambda site: site.table.append(site.frame(query)),
        _writes(query, "append") if by_writer else sql(f"INSERT INTO {{t}} BY NAME {query}"),
        now.state.with_rows((*now.state.rows, *_written(now, rows))),
        {"numOutputRows": len(rows)},
    )


def append_with_a_new_column(random: Random, now: Now) -> Step:
    """Add rows that have a column more."""
    called = free_name(random, now.state.names, mapped=now.mapped)
    new = Column(called, random.choice(addable(now.features)))
    wider = _with_column(now.state, new)
    columns = _writable(wider)
    rows = drawn(random, columns, random.randint(1, 5))
    query = select(columns, rows)
    return Step(
        f"append with a new column {query}",
        lambda site: site.table.append(site.frame(query), merge_schema=True),
        _writes(query, "append", mergeSchema="true"),
        wider.with_rows((*wider.rows, *map(wider.stored, rows))),
        {"numOutputRows": len(rows)},
    )


def _with_column(state: State, column: Column) -> State:
    return replace(state, columns=(*state.columns, column), rows=tuple((*row, None) for row in state.rows))


def overwrite(random: Random, now: Now) -> Step:
    """Have these rows and no other."""
    columns = _writable(now.state)
    rows = drawn(random, columns, random.randint(3, 10))
    query = select(columns, rows, files=random.randint(1, 2))
    by_writer = random.random() < 0.5
    return Step(
        f"overwrite {query}",
        lambda site: site.table.overwrite(site.frame(query)),
        _writes(query, "overwrite") if by_writer else sql(f"INSERT OVERWRITE {{t}} BY NAME {query}"),
        now.state.with_rows(_written(now, rows)),
        {"numOutputRows": len(rows)},
    )


def replace_where(random: Random, now: Now) -> Step:
    """Rows that a condition selects make room for others that it selects."""
    parts = [now.state.column(part) for part in now.state.partition_by]
    where = condition(random, now.state, parts if parts and random.random() < 0.5 else None)
    columns = _writable(now.state)
    rows = drawn(random, columns, 12)
    rows = [
        {**row, **{part: row[part] or None for part in now.state.partition_by if row[part] == ""}}
        for row in rows
    ]
    rows = [row for row in rows if where.holds(now.state.cells(now.state.stored(row)))][:5]
    query, text = select(columns, rows), where.text()
    kept = [row for row in now.state.rows if not where.holds(now.state.cells(row))]
    return Step(
        f"replace where {text} {query}",
        lambda site: site.table.overwrite(site.frame(query), replace_where=text),
        _writes(query, "overwrite", replaceWhere=text),
        now.state.with_rows((*kept, *_written(now, rows))),
    )


def replace_partitions(random: Random, now: Now) -> Step | None:
    """The partitions that get rows have these and no other."""
    if not now.state.partition_by:
        return None
    columns = _writable(now.state)
    rows = drawn(random, columns, random.randint(1, 4))
    query, new = select(columns, rows), _written(now, rows)
    places = [now.state.names.index(part) for part in now.state.partition_by]
    replaced = {tuple(row[place] for place in places) for row in new}
    kept = [row for row in now.state.rows if tuple(row[place] for place in places) not in replaced]
    return Step(
        f"replace partitions {query}",
        lambda site: site.table.overwrite(site.frame(query), partition_overwrite="dynamic"),
        _writes(query, "overwrite", partitionOverwriteMode="dynamic"),
        now.state.with_rows((*kept, *new)),
    )


def delete(random: Random, now: Now) -> Step:
    """Take rows away."""
    where = condition(random, now.state)
    kept = [row for row in now.state.rows if not where.holds(now.state.cells(row))]
    return Step(
        f"delete {where.text()}",
        lambda site: site.table.delete(where.text(), spark=site.spark),
        sql(f"DELETE FROM {{t}} WHERE {where.text()}"),
        now.state.with_rows(kept),
        {"numDeletedRows": len(now.state.rows) - len(kept)},
    )


Values = Mapping[str, tuple[str, Callable[[Cells], Any]]]
"""New values of columns, as SQL over a row and as a function of it."""


def _values(random: Random, state: State, alias: str = "") -> Values:
    """New values for some columns: of the same type as them."""
    free = [column for column in _writable(state) if column.name != "id"]
    chosen = random.sample(free, random.randint(1, min(3, len(free))))
    return {column.name: _value(random, state, column, alias) for column in chosen}


def _value(random: Random, state: State, column: Column, alias: str) -> tuple[str, Callable[[Cells], Any]]:
    alike = [other.name for other in state.columns if other.kind.sql == column.kind.sql]
    if random.random() < 0.4:
        other = random.choice(alike)
        return (f"{alias}." if alias else "") + name(other), lambda cells: cells[other]
    value = or_null(random, column.kind)
    return column.kind.literal(value), lambda cells: value


def _changed(state: State, row: Row, values: Values, seen: Cells | None = None) -> Row:
    cells = state.cells(row)
    return state.stored({**cells, **{called: of(seen or cells) for called, (_, of) in values.items()}})


def update(random: Random, now: Now) -> Step:
    """Change rows, some of which go to another partition."""
    where, values = condition(random, now.state), _values(random, now.state)
    hit = [where.holds(now.state.cells(row)) for row in now.state.rows]
    rows = [
        _changed(now.state, row, values) if met else row for row, met in zip(now.state.rows, hit, strict=True)
    ]
    texts = {name(called): text for called, (text, _) in values.items()}
    assigned = ", ".join(f"{called} = {text}" for called, text in texts.items())
    return Step(
        f"update {assigned} WHERE {where.text()}",
        lambda site: site.table.update(texts, where.text(), spark=site.spark),
        sql(f"UPDATE {{t}} SET {assigned} WHERE {where.text()}"),
        now.state.with_rows(rows),
        {"numUpdatedRows": sum(hit)},
    )


@dataclass(frozen=True)
class _Clause:
    """A clause of MERGE: of which rows, under which condition, and what becomes of them."""

    when: str
    condition: Condition | None
    alias: str
    action: str
    values: Values | None = None

    def holds(self, cells: Cells) -> bool:
        return self.condition is None or self.condition.holds(cells)

    @property
    def said(self) -> str | None:
        return None if self.condition is None else self.condition.text(self.alias)

    @property
    def sql(self) -> str:
        text = f"WHEN {self.when}" + (f" AND {self.said}" if self.condition else "") + " THEN "
        pairs = {name(called): value for called, (value, _) in (self.values or {}).items()}
        match self.action:
            case "UPDATE" if self.values is not None:
                return (
                    text + "UPDATE SET " + ", ".join(f"{called} = {value}" for called, value in pairs.items())
                )
            case "INSERT" if self.values is not None:
                return text + f"INSERT ({', '.join(pairs)}) VALUES ({', '.join(pairs.values())})"
            case "UPDATE" | "INSERT":
                return text + ("UPDATE SET *" if self.action == "UPDATE" else "INSERT *")
        return text + "DELETE"

    def add_to(self, merge: Any) -> Any:
        """The same of Headgate's MERGE."""
        called = f"when_{self.when.lower().replace(' ', '_')}_{self.action.lower()}"
        if self.action == "DELETE":
            return getattr(merge, called)(self.said)
        if self.values is None:
            return getattr(merge, f"{called}_all")(self.said)
        return getattr(merge, called)(
            self.said, {name(column): value for column, (value, _) in self.values.items()}
        )


def merge(random: Random, now: Now) -> Step:
    """Change rows by others with the same id, those without, and insert some; maybe with a column more."""
    state = now.state
    evolves = random.random() < 0.3 and all(column.is_plain for column in state.columns)
    if evolves:
        kind = random.choice(addable(now.features))
        state = _with_column(state, Column(free_name(random, state.names, mapped=now.mapped), kind))
    columns = _writable(state)
    source = list({row["id"]: row for row in drawn(random, columns, random.randint(1, 8))}.values())
    clauses = _clauses(random, state, star=evolves)
    query = select(columns, source)
    evolving = " WITH SCHEMA EVOLUTION" if evolves else ""
    statement = f"MERGE{evolving} INTO {{t}} AS t USING ({query}) AS s ON t.id = s.id " + " ".join(
        clause.sql for clause in clauses
    )

    def ours(site: Site) -> None:
        merging = site.table.merge(site.frame(query), "t.id = s.id")
        for clause in clauses:
            merging = clause.add_to(merging)
        (merging.with_schema_evolution() if evolves else merging).execute()

    rows, metrics = _merged(state, source, clauses)
    return Step(statement.replace("{t}", "table"), ours, sql(statement), state.with_rows(rows), metrics)


def _clauses(random: Random, state: State, *, star: bool) -> list[_Clause]:
    plain = [column for column in state.columns if column.is_plain or column.default]
    stars = star or (all(column.is_plain for column in state.columns) and random.random() < 0.4)
    from_source: Values = {
        column.name: (f"s.{name(column.name)}", _from(column.name)) for column in plain if column.name != "id"
    }
    keyed: Values = {"id": ("s.id", _from("id")), **from_source}
    some = dict(list(keyed.items())[: random.randint(1, len(keyed))])
    updated = dict(random.sample(list(from_source.items()), random.randint(1, len(from_source))))
    clauses = []
    if random.random() < 0.4:
        alias = random.choice("ts")
        clauses.append(_Clause("MATCHED", _about(random, state, alias), alias, "DELETE"))
    if star or random.random() < 0.8:
        asked = _about(random, state, "s") if random.random() < 0.3 else None
        clauses.append(_Clause("MATCHED", asked, "s", "UPDATE", None if stars else updated))
    if star or random.random() < 0.7 or not clauses:
        asked = _about(random, state, "s") if random.random() < 0.3 else None
        clauses.append(_Clause("NOT MATCHED", asked, "s", "INSERT", None if stars else some))
    if random.random() < 0.3:
        values = _values(random, state, "t") if not star else None
        if values:
            asked = condition(random, state, depth=0)
            clauses.append(_Clause("NOT MATCHED BY SOURCE", asked, "t", "UPDATE", values))
    if random.random() < 0.3:
        clauses.append(_Clause("NOT MATCHED BY SOURCE", _about(random, state, "t"), "t", "DELETE"))
    return clauses


def _from(called: str) -> Callable[[Cells], Any]:
    return lambda cells: cells[called]


def _about(random: Random, state: State, alias: str) -> Condition:
    """A condition about rows of that side: a source has only what writers fill, a target no new column."""
    known = _writable(state) if alias == "s" else state.columns[:3]
    return condition(random, state, [column for column in known if column.name != "k"], depth=0)


def _merged(
    state: State, source: Sequence[Cells], clauses: Sequence[_Clause]
) -> tuple[list[Row], dict[str, int]]:
    by_id = {row["id"]: row for row in source}
    counts = {"UPDATE": 0, "DELETE": 0, "INSERT": 0}
    rows: list[Row] = []
    for row in state.rows:
        cells = state.cells(row)
        match = by_id.get(cells["id"])
        clause = _first(clauses, "MATCHED" if match is not None else "NOT MATCHED BY SOURCE", cells, match)
        if clause is None:
            rows.append(row)
            continue
        counts[clause.action] += 1
        if clause.action == "UPDATE":
            rows.append(_changed(state, row, clause.values or _all(state), match))
    known = {row[state.names.index("id")] for row in state.rows}
    for cells in (row for row in source if row["id"] not in known):
        clause = _first(clauses, "NOT MATCHED", cells, cells)
        if clause is not None:
            counts["INSERT"] += 1
            values = clause.values or _all(state)
            rows.append(state.stored({called: of(cells) for called, (_, of) in values.items()}))
    words = {
        "UPDATE": "numTargetRowsUpdated",
        "DELETE": "numTargetRowsDeleted",
        "INSERT": "numTargetRowsInserted",
    }
    return rows, {words[action]: count for action, count in counts.items()}


def _all(state: State) -> Values:
    return {called: (called, _from(called)) for called in state.names}


def _first(clauses: Sequence[_Clause], when: str, cells: Cells, match: Cells | None) -> _Clause | None:
    """The first clause about such rows whose condition is true."""
    for clause in clauses:
        seen = match if clause.alias == "s" and match is not None else cells
        if clause.when == when and clause.holds(seen):
            return clause
    return None
