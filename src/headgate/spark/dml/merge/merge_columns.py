"""The columns of merged rows: those of the table, perhaps with new ones, each as its clause says."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol as Port

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.protocol import property_values, protocol_upgrade, table_features
from headgate.protocol.actions import Action, Metadata, Protocol
from headgate.protocol.features import identity_columns
from headgate.protocol.metadata import implicit_changes as metadata_rules
from headgate.protocol.metadata.implicit_changes import WriteIntent
from headgate.protocol.schema import enforcement, merging, type_widening
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.merging import MergeOptions
from headgate.protocol.schema.types import Struct, as_nullable
from headgate.spark.data_files import fit_schema
from headgate.spark.data_files.data_file_writer import WrittenFiles
from headgate.spark.dml import assignments, generated_columns
from headgate.spark.dml.edits import EditKind
from headgate.spark.dml.merge import merge_clauses
from headgate.spark.dml.merge.merge_clauses import MergeClause, Sides, When
from headgate.spark.dml.merge.merge_source import MergeSource
from headgate.spark.dml.target_scan import DmlTarget
from headgate.spark.parquet import logical_columns
from headgate.spark.session import schema as spark_schema
from headgate.spark.session.internal_names import InternalNames

_CASTS = MergeOptions(casts=True)


class MergeAliases(Port):
    """Under which alias a MERGE knows its target, and whether the table may get new columns."""

    @property
    def target_alias(self) -> str: ...
    @property
    def evolves(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class EvolvedSchema:
    """The table's columns once the MERGE is done, and the metadata that says so if they are others."""

    schema: Struct
    source: MergeSource
    own: InternalNames
    """The names of what is said of rows beside the columns of both sides."""
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    """The protocol that they demand, if it is another."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """What changes besides rows."""
        return tuple(action for action in (self.protocol, self.metadata) if action is not None)

    def with_values(self, before: Metadata, folders: Sequence[WrittenFiles]) -> "EvolvedSchema":
        """The same, with marks of identity columns that no value in these files is beyond."""
        after = known = self.metadata or before
        for written in folders:
            after = identity_columns.advance_high_water_marks(after, written.farthest)
        return self if after == known else replace(self, metadata=after)


def evolve_schema(
    clauses: Sequence[MergeClause], target: DmlTarget, source: MergeSource, *, evolves: bool
) -> EvolvedSchema:
    """The columns of the table after the MERGE: with evolution, those of the source that it uses come in."""
    schema = target.columns.schema
    if not evolves:
        return EvolvedSchema(schema, source, target.own)
    used = _used_columns(clauses, source.schema, schema)
    if not used.fields:
        return EvolvedSchema(schema, source, target.own)
    before = target.base.state.protocol
    wish = WriteIntent(spark_schema.without_writer_metadata(used), can_merge=True, casts=True)
    version = target.base.version + 1 if before.has(type_widening.PREVIEW) else None
    planned = metadata_rules.plan_metadata(
        target.metadata, wish, uuid=target.table.world.uuid, preview_version=version
    )
    metadata = planned.metadata
    if metadata is None:
        return EvolvedSchema(schema, source, target.own)
    mapped = property_values.MAX_COLUMN_ID in metadata.configuration
    enforcement.check_new_schema(as_nullable(planned.schema), mapped=mapped)
    after = protocol_upgrade.protocol_for_changed_table(before, metadata)
    table_features.check_writable(after, metadata)
    wanted = schema_json.parse(metadata.schema_string)
    return EvolvedSchema(wanted, source, target.own, metadata, None if after == before else after)


def _used_columns(clauses: Sequence[MergeClause], source: Struct, table: Struct) -> Struct:
    """The columns of the source that a clause brings in: with ``*`` all of them, else those that it names."""
    bringing = [clause for clause in clauses if clause.when is not When.NOT_MATCHED_BY_SOURCE]
    if any(clause.star for clause in bringing):
        return source
    named = (assignments.split_name(name) for clause in bringing for name in clause.values)
    return _pick_columns(source, table, {tuple(part.lower() for part in path) for path in named})


def _pick_columns(source: Struct, table: Struct, paths: Collection[tuple[str, ...]]) -> Struct:
    """Those columns of the source that are named, and that the table has not, or has of a fitting type.

    Where types do not fit, a column of the table is set to something else than the source's.
    """
    chosen = []
    for field in source.fields:
        inside = {path[1:] for path in paths if path[0] == field.name.lower()}
        known = table.find(field.name)
        if () in inside:
            if known is None or not merging.incompatible_types(Struct((known,)), Struct((field,)), _CASTS):
                chosen.append(field)
        elif inside and isinstance(field.type, Struct):
            within = known.type if known is not None and isinstance(known.type, Struct) else Struct(())
            if parts := _pick_columns(field.type, within, inside).fields:
                chosen.append(replace(field, type=Struct(parts)))
    return Struct(tuple(chosen))


def rows_with_new_columns(target: DmlTarget, evolved: EvolvedSchema) -> DataFrame:
    """The rows of the target, with the columns it will have."""
    rows = target.rows()
    if evolved.metadata is None:
        return rows
    old = as_nullable(target.columns.schema)
    new = {}
    for field in as_nullable(evolved.schema).fields:
        found = old.find(field.name)
        if found is None:
            new[field.name] = logical_columns.with_collation(
                F.lit(None).cast(logical_columns.spark_type(field.type)), field
            )
        elif not fit_schema.is_same_type(found.type, field.type):
            fitted = fit_schema.fit_column(spark_schema.column(found.name), found.type, field.type)
            new[field.name] = logical_columns.with_collation(fitted, field)
    return rows.withColumns(new)


def columns_by_clause(
    rows: DataFrame,
    clauses: Sequence[MergeClause],
    kinds: Collection[EditKind],
    evolved: EvolvedSchema,
    asked: MergeAliases,
) -> Mapping[str, Column]:
    """Each column of the table, as the clause that decides about a row of ``rows`` says."""
    said = _assignments_by_clause(clauses, kinds, evolved, asked)
    fitted = _cast_to_schema(rows, said, evolved.schema, evolves=asked.evolves)
    return {
        field.name: case_by_clause(
            F.col(evolved.own.clause),
            {n: some[field.name] for n, some in fitted.items() if field.name in some},
        )
        for field in evolved.schema.fields
        if any(field.name in some for some in fitted.values())
    }


def with_generated_columns(
    rows: DataFrame,
    clauses: Sequence[MergeClause],
    kinds: Collection[EditKind],
    evolved: EvolvedSchema,
    asked: MergeAliases,
) -> DataFrame:
    """Edited rows of these clauses with the generated columns that their clause does not set."""
    clause, kind = evolved.own.clause, F.col(evolved.own.kind)
    if not generated_columns.has_generated_columns(evolved.schema):
        return rows.drop(clause)
    said = _assignments_by_clause(clauses, kinds, evolved, asked)
    givers = {
        field.name: [number for number, values in said.items() if field.name in values]
        for field in evolved.schema.fields
    }
    own = {name: F.col(clause).isin(numbers) for name, numbers in givers.items() if numbers}
    return generated_columns.recompute_generated(rows, evolved.schema, own, kind).drop(clause)


def _assignments_by_clause(
    clauses: Sequence[MergeClause], kinds: Collection[EditKind], evolved: EvolvedSchema, asked: MergeAliases
) -> Mapping[int, Mapping[str, Column]]:
    """By the number of its clause, what each column becomes."""
    source = evolved.source
    sides = Sides(evolved.schema, source.schema, asked.target_alias, source.column, evolved.own.number)
    return {
        number: merge_clauses.clause_columns(clause, sides, evolves=asked.evolves)
        for number, clause in enumerate(clauses)
        if clause.kind in kinds
    }


def insert_columns(values: Mapping[str, Column], evolved: EvolvedSchema) -> list[Column]:
    """The columns of an edit that inserts."""
    kind = F.lit(int(EditKind.INSERTED)).cast("int").alias(evolved.own.kind)
    return [kind, *(column.alias(name) for name, column in values.items())]


def case_by_clause(clause: Column, values: Mapping[int, Column]) -> Column:
    """One of several values, by the number of the clause; null for any other."""
    chosen: Column | None = None
    for number, value in values.items():
        holds = clause == number
        chosen = F.when(holds, value) if chosen is None else chosen.when(holds, value)
    return F.lit(None) if chosen is None else chosen


def _cast_to_schema(
    rows: DataFrame, said: Mapping[int, Mapping[str, Column]], schema: Struct, *, evolves: bool
) -> Mapping[int, Mapping[str, Column]]:
    """The same values in the types of the table: a column cannot have one type here and another there."""
    wanted = {field.name: field for field in as_nullable(schema).fields}
    fitted: dict[int, Mapping[str, Column]] = {}
    for number, values in said.items():
        found = spark_schema.frame_schema(rows.select(*(value.alias(name) for name, value in values.items())))
        for field in found.fields:
            enforcement.check_assignable(field.name, field.type, wanted[field.name].type, may_lack=evolves)
        fitted[number] = {
            name: logical_columns.with_collation(
                fit_schema.fit_column(value, field.type, wanted[name].type), wanted[name]
            )
            for (name, value), field in zip(values.items(), found.fields, strict=True)
        }
    return fitted
