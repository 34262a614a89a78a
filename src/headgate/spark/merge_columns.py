"""The columns of merged rows: those of the table, perhaps with new ones, each as its clause says."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol as Port

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.protocol import features, identity, type_changes, upgrade
from headgate.protocol import metadata as metadata_rules
from headgate.protocol.actions import Action, Metadata, Protocol
from headgate.protocol.metadata import Wish
from headgate.protocol.schema import assign, enforce
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Struct
from headgate.spark import assignments, columns, fitting, merge_clauses
from headgate.spark import schema as spark_schema
from headgate.spark.edits import Kind
from headgate.spark.files import Written
from headgate.spark.matches import KIND
from headgate.spark.merge_clauses import Clause
from headgate.spark.merge_source import Source
from headgate.spark.targets import Target

_CLAUSE = "__headgate_clause"


class Named(Port):
    """Under which aliases a MERGE knows its two sides, and whether the table may get new columns."""

    @property
    def target_alias(self) -> str: ...
    @property
    def source_alias(self) -> str | None: ...
    @property
    def evolves(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Evolved:
    """The table's columns once the MERGE is done, and the metadata that says so if they are others."""

    schema: Struct
    source: Struct
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    """The protocol that they demand, if it is another."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """What changes besides rows."""
        return tuple(action for action in (self.protocol, self.metadata) if action is not None)

    def with_values(self, before: Metadata, folders: Sequence[Written]) -> "Evolved":
        """The same, with marks of identity columns that no value in these files is beyond."""
        after = known = self.metadata or before
        for written in folders:
            after = identity.marked(after, written.farthest)
        return self if after == known else replace(self, metadata=after)


def evolve(clauses: Sequence[Clause], target: Target, source: Source, *, evolves: bool) -> Evolved:
    """The columns of the table after the MERGE: with evolution, those of the source that it uses come in."""
    schema = target.columns.schema
    if not evolves:
        return Evolved(schema, source.schema)
    star = any(clause.star for clause in clauses)
    named = {assignments.parts_of(name)[0].lower() for clause in clauses for name in clause.values}
    used = tuple(field for field in source.schema.fields if star or field.name.lower() in named)
    if not used:
        return Evolved(schema, source.schema)
    before = target.base.state.protocol
    wish = Wish(spark_schema.unbound(Struct(used)), can_merge=True, casts=True)
    version = target.base.version + 1 if before.has(type_changes.PREVIEW) else None
    planned = metadata_rules.plan_metadata(
        target.metadata, wish, uuid=target.table.world.uuid, preview_version=version
    )
    metadata = planned.metadata
    if metadata is None:
        return Evolved(schema, source.schema)
    enforce.check_new(planned.schema, mapped=assign.HIGHEST in metadata.configuration)
    after = upgrade.of_changed_table(before, metadata)
    features.check_writable(after, metadata)
    wanted = schema_json.parse(metadata.schema_string)
    return Evolved(wanted, source.schema, metadata, None if after == before else after)


def extended(target: Target, evolved: Evolved) -> DataFrame:
    """The rows of the target, with the columns it will have."""
    rows = target.rows()
    if evolved.metadata is None:
        return rows
    old = spark_schema.nullable(target.columns.schema)
    new = {}
    for field in spark_schema.nullable(evolved.schema).fields:
        found = old.find(field.name)
        if found is None:
            new[field.name] = columns.collated(F.lit(None).cast(columns.spark_type(field.type)), field)
        elif not fitting.alike(found.type, field.type):
            fitted = fitting.fitted(spark_schema.column(found.name), found.type, field.type)
            new[field.name] = columns.collated(fitted, field)
    return rows.withColumns(new)


def by_clause(
    rows: DataFrame, clauses: Sequence[Clause], kinds: Collection[Kind], evolved: Evolved, merge: Named
) -> Mapping[str, Column]:
    """Each column of the table, as the clause that decides about a row of ``rows`` says."""
    aliases = (merge.target_alias, merge.source_alias)
    said = {
        number: merge_clauses.values(
            clause, evolved.schema, evolved.source, aliases=aliases, evolves=merge.evolves
        )
        for number, clause in enumerate(clauses)
        if clause.kind in kinds
    }
    fitted = _fitted(rows, said, evolved.schema)
    return {
        field.name: case(
            F.col(_CLAUSE), {n: some[field.name] for n, some in fitted.items() if field.name in some}
        )
        for field in evolved.schema.fields
        if any(field.name in some for some in fitted.values())
    }


def of_new_row(values: Mapping[str, Column]) -> list[Column]:
    """The columns of an edit that inserts."""
    kind = F.lit(int(Kind.INSERTED)).cast("int").alias(KIND)
    return [kind, *(column.alias(name) for name, column in values.items())]


def case(clause: Column, values: Mapping[int, Column]) -> Column:
    """One of several values, by the number of the clause; null for any other."""
    chosen: Column | None = None
    for number, value in values.items():
        holds = clause == number
        chosen = F.when(holds, value) if chosen is None else chosen.when(holds, value)
    return F.lit(None) if chosen is None else chosen


def _fitted(
    rows: DataFrame, said: Mapping[int, Mapping[str, Column]], schema: Struct
) -> Mapping[int, Mapping[str, Column]]:
    """The same values in the types of the table: a column cannot have one type here and another there."""
    wanted = {field.name: field for field in spark_schema.nullable(schema).fields}
    fitted: dict[int, Mapping[str, Column]] = {}
    for number, values in said.items():
        found = spark_schema.of_frame(rows.select(*(value.alias(name) for name, value in values.items())))
        fitted[number] = {
            name: columns.collated(fitting.fitted(value, field.type, wanted[name].type), wanted[name])
            for (name, value), field in zip(values.items(), found.fields, strict=True)
        }
    return fitted
