"""What a write does to metadata: every combination of what the decision depends on."""

from itertools import count, product

import pytest

from headgate.errors import HeadgateError, InvalidRequest, SchemaMismatch
from headgate.protocol.actions import Format, Metadata
from headgate.protocol.metadata import implicit_changes as rules
from headgate.protocol.metadata.implicit_changes import (
    MetadataOutcome,
    MetadataPlan,
    WriteFacts,
    WriteIntent,
    decide_outcome,
)
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import COLUMN_ID, PHYSICAL_NAME
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

INT, LONG, TEXT, VOID = (Primitive(name) for name in ("integer", "long", "string", "void"))


def struct(**columns: DataType) -> Struct:
    return Struct(tuple(Field(name, data_type) for name, data_type in columns.items()))


def table(schema: Struct, *partition_by: str, **configuration: str) -> Metadata:
    return Metadata(
        id="the-id",
        format=Format(provider="parquet", options={}),
        schema_string=schema_json.render(schema),
        partition_columns=partition_by,
        configuration={key.replace("__", "."): value for key, value in configuration.items()},
    )


def plan(existing: Metadata | None, wish: WriteIntent) -> MetadataPlan:
    numbers = count(1)
    return rules.plan_metadata(existing, wish, uuid=lambda: str(next(numbers)))


IDS = table(struct(id=LONG, part=TEXT), "part")


def test_the_table_of_decisions_is_the_one_of_the_seed() -> None:
    """Every combination, against the prose: first the missing table, then overwriting, then merging."""
    for values in product((False, True), repeat=7):
        facts = WriteFacts(*values)
        if not facts.exists:
            expected = MetadataOutcome.CREATE
        elif (
            facts.overwrite
            and facts.can_overwrite_schema
            and (facts.new_schema or facts.partitioning_changed)
        ):
            expected = MetadataOutcome.OVERWRITE
        elif facts.new_schema and facts.can_merge and not facts.new_partitioning:
            expected = MetadataOutcome.MERGE
        elif facts.new_schema or facts.new_partitioning:
            expected = MetadataOutcome.REFUSE
        else:
            expected = MetadataOutcome.KEEP
        assert decide_outcome(facts).outcome is expected


def test_rows_that_fit_change_nothing() -> None:
    """S281, S285"""
    for data in (struct(PART=TEXT, ID=LONG), struct(id=LONG), struct(id=LONG, part=VOID)):
        for overwrite in (False, True):
            planned = plan(IDS, WriteIntent(data, overwrite=overwrite))
            assert (planned.outcome, planned.metadata) == (MetadataOutcome.KEEP, None)


def test_a_new_column_needs_merge_schema() -> None:
    """S275: the mismatch names mergeSchema and the table's id; with the option the column comes last."""
    data = struct(extra=TEXT, id=LONG)

    with pytest.raises(SchemaMismatch, match=r"'extra' is not in the table.*mergeSchema") as caught:
        plan(IDS, WriteIntent(data))
    assert caught.value.code == "DELTA_METADATA_MISMATCH"
    assert caught.value.fields["table_id"] == "the-id"

    planned = plan(IDS, WriteIntent(data, can_merge=True))
    assert planned.outcome is MetadataOutcome.MERGE
    assert planned.metadata is not None
    assert schema_json.parse(planned.metadata.schema_string) == struct(id=LONG, part=TEXT, extra=TEXT)
    assert planned.metadata.partition_columns == ("part",)


def test_a_type_for_a_void_column_needs_merge_schema_too() -> None:
    def nested(kind: DataType) -> dict[str, DataType]:
        return {
            "v": kind,
            "s": struct(x=kind),
            "l": Array(kind, contains_null=True),
            "m": Map(TEXT, kind, value_contains_null=True),
            "k": Map(struct(x=kind), TEXT, value_contains_null=True),
        }

    existing = table(struct(id=LONG, **nested(VOID)))

    for column, kind in nested(TEXT).items():
        data = struct(**{column: kind})
        with pytest.raises(SchemaMismatch, match=f"column '{column}' would become .*mergeSchema"):
            plan(existing, WriteIntent(data))
        assert plan(existing, WriteIntent(data, can_merge=True)).outcome is MetadataOutcome.MERGE


@pytest.mark.parametrize("wish", [{"can_merge": True}, {"overwrite": True, "can_overwrite_schema": True}])
def test_columns_of_the_change_data_feed_do_not_come_with_rows(wish: dict[str, bool]) -> None:
    data = struct(id=LONG, part=TEXT, _Commit_Version=LONG)

    assert plan(IDS, WriteIntent(data, **wish)).metadata is not None
    with pytest.raises(InvalidRequest, match="_commit_version") as caught:
        plan(table(struct(id=LONG), **{"delta__enableChangeDataFeed": "true"}), WriteIntent(data, **wish))
    assert caught.value.code == "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS"


def test_other_columns_need_overwrite_schema() -> None:
    """S277, S282"""
    data = struct(id=TEXT, other=INT)

    with pytest.raises(SchemaMismatch, match="overwriteSchema"):
        plan(IDS, WriteIntent(data, overwrite=True))
    with pytest.raises(SchemaMismatch):  # types are compared before options are asked
        plan(IDS, WriteIntent(data, overwrite=True, can_merge=True))

    planned = plan(IDS, WriteIntent(data, overwrite=True, can_overwrite_schema=True))
    assert planned.outcome is MetadataOutcome.OVERWRITE
    assert planned.metadata is not None
    assert (planned.schema, planned.partition_columns) == (data, ())
    assert planned.metadata.id == "the-id"


def test_a_merge_of_an_overwrite_is_the_union() -> None:
    """S277"""
    planned = plan(IDS, WriteIntent(struct(new=INT), overwrite=True, can_merge=True))

    assert planned.schema == struct(id=LONG, part=TEXT, new=INT)


@pytest.mark.parametrize("can_merge", [False, True])
@pytest.mark.parametrize("overwrite", [False, True])
def test_partitions_change_only_with_the_schema(can_merge: bool, overwrite: bool) -> None:
    """S279, P28"""
    data = struct(id=LONG, part=TEXT)
    wish = WriteIntent(data, ("id",), overwrite=overwrite, can_merge=can_merge)

    with pytest.raises(SchemaMismatch, match="partitioned by part"):
        plan(IDS, wish)

    assert plan(IDS, WriteIntent(data, ("PART",))).outcome is MetadataOutcome.KEEP
    changed = plan(IDS, WriteIntent(data, ("id",), overwrite=True, can_overwrite_schema=True))
    assert changed.partition_columns == ("id",)
    gone = plan(IDS, WriteIntent(data, overwrite=True, can_overwrite_schema=True))
    assert (gone.outcome, gone.partition_columns) == (MetadataOutcome.OVERWRITE, ())


@pytest.mark.parametrize(
    ("data", "names", "code"),
    [
        (struct(a=LONG, b=LONG), ("c",), "DELTA_PARTITION_COLUMN_NOT_FOUND"),
        (struct(a=LONG, b=LONG), ("a", "A"), "DELTA_DUPLICATE_COLUMNS_FOUND"),
        (struct(a=LONG, b=LONG), ("a", "b"), "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION"),
        (struct(a=LONG, s=struct(x=LONG)), ("s",), "DELTA_INVALID_PARTITION_COLUMN_TYPE"),
        (struct(a=LONG, v=Primitive("variant")), ("v",), "DELTA_INVALID_PARTITION_COLUMN_TYPE"),
        (struct(a=LONG, v=VOID), ("V",), "DELTA_INVALID_PARTITION_COLUMN_TYPE"),
        (struct(a=VOID, v=LONG), ("v",), "DELTA_NON_PARTITION_COLUMN_ABSENT"),
    ],
)
def test_partitionings_that_cannot_be(data: Struct, names: tuple[str, ...], code: str) -> None:
    """S284, S295, S313"""
    with pytest.raises(InvalidRequest) as caught:
        plan(None, WriteIntent(data, names))

    assert caught.value.code == code


def test_partition_columns_take_the_spelling_of_the_rows() -> None:
    """S313"""
    planned = plan(None, WriteIntent(struct(id=LONG, part=TEXT), ("PART",)))

    assert (planned.outcome, planned.partition_columns) == (MetadataOutcome.CREATE, ("part",))


@pytest.mark.parametrize(
    ("existing", "wish"),
    [
        (None, WriteIntent(struct(id=LONG))),
        (IDS, WriteIntent(struct(id=LONG, new=TEXT), can_merge=True)),
        (IDS, WriteIntent(struct(id=LONG), overwrite=True, can_overwrite_schema=True)),
    ],
    ids=["create", "merge", "overwrite"],
)
def test_rearranging_rows_changes_no_metadata(existing: Metadata | None, wish: WriteIntent) -> None:
    """S298"""
    with pytest.raises(InvalidRequest, match="dataChange=false") as caught:
        plan(existing, _rearranging(wish))

    assert caught.value.code == "DELTA_DATA_CHANGE_FALSE"
    assert plan(IDS, _rearranging(WriteIntent(struct(id=LONG)))).outcome is MetadataOutcome.KEEP


def _rearranging(wish: WriteIntent) -> WriteIntent:
    return WriteIntent(
        wish.data,
        overwrite=wish.overwrite,
        can_merge=wish.can_merge,
        can_overwrite_schema=wish.can_overwrite_schema,
        keeps_rows=True,
    )


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (struct(a=LONG, A=LONG), "DELTA_DUPLICATE_COLUMNS_FOUND"),
        (struct(s=struct(x=LONG, X=LONG)), "DELTA_DUPLICATE_COLUMNS_FOUND"),
        (struct(a=Array(VOID, contains_null=True)), "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE"),
    ],
)
def test_rows_that_no_table_can_have(data: Struct, code: str) -> None:
    """S284, S294"""
    for existing in (None, IDS):
        with pytest.raises(HeadgateError) as caught:
            plan(existing, WriteIntent(data, can_merge=True))
        assert caught.value.code == code


def test_types_that_constraints_and_generated_columns_depend_on_stay() -> None:
    generated = Field("twice", INT, metadata={"delta.generationExpression": "2 * a"})
    schema = Struct((Field("a", Primitive("byte")), Field("b", Primitive("byte")), generated))
    existing = table(schema, **{"delta__constraints__small": "b < 10"})

    for data, code in (
        (struct(b=INT), "DELTA_CONSTRAINT_DATA_TYPE_MISMATCH"),
        (struct(a=INT), "DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH"),
    ):
        with pytest.raises(SchemaMismatch) as caught:
            plan(existing, WriteIntent(data, can_merge=True))
        assert caught.value.code == code
    with pytest.raises(InvalidRequest, match="'small'") as refused:
        plan(existing, WriteIntent(struct(a=INT), overwrite=True, can_overwrite_schema=True))
    assert refused.value.code == "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"


def test_mapped_columns_keep_their_ids_and_new_ones_get_new_ones() -> None:
    """S310"""
    fields = (
        _mapped("id", LONG, 1),
        _mapped("gone", TEXT, 2),
        _mapped("s", Struct((_mapped("x", LONG, 4),)), 3),
    )
    existing = table(
        Struct(fields), **{"delta__columnMapping__mode": "name", "delta__columnMapping__maxColumnId": "4"}
    )
    data = struct(ID=LONG, s=struct(x=LONG, y=LONG), new=TEXT)

    merged = plan(existing, WriteIntent(data, can_merge=True)).metadata
    overwritten = plan(existing, WriteIntent(data, overwrite=True, can_overwrite_schema=True)).metadata

    assert merged is not None and overwritten is not None
    assert _ids(merged) == {"id": 1, "gone": 2, "s": 3, "s.x": 4, "s.y": 5, "new": 6}
    assert _ids(overwritten) == {"ID": 1, "s": 5, "s.x": 4, "s.y": 6, "new": 7}
    for changed, highest in ((merged, "6"), (overwritten, "7")):
        assert changed.configuration["delta.columnMapping.maxColumnId"] == highest
        last = schema_json.parse(changed.schema_string).fields[-1]
        assert str(last.metadata[PHYSICAL_NAME]).startswith("col-")


def test_ids_of_another_table_mean_nothing_here() -> None:
    data = Struct((_mapped("id", LONG, 77),))

    planned = plan(None, WriteIntent(data))

    assert planned.schema == struct(id=LONG)


def test_types_widen_only_where_the_table_says_so() -> None:
    """S306"""
    plain, widening = table(struct(a=INT)), table(struct(a=INT), **{"delta__enableTypeWidening": "true"})

    with pytest.raises(SchemaMismatch):
        plan(plain, WriteIntent(struct(a=LONG), can_merge=True))
    with pytest.raises(SchemaMismatch):
        plan(widening, WriteIntent(struct(a=LONG)))
    planned = plan(widening, WriteIntent(struct(a=LONG), can_merge=True))
    assert planned.schema.fields[0].type == LONG
    assert "delta.typeChanges" in planned.schema.fields[0].metadata


def _mapped(name: str, data_type: DataType, number: int) -> Field:
    return Field(name, data_type, metadata={COLUMN_ID: number, PHYSICAL_NAME: f"p{number}"})


def _ids(metadata: Metadata) -> dict[str, int]:
    def walk(schema: Struct, where: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for field in schema.fields:
            found[f"{where}{field.name}"] = field.metadata[COLUMN_ID]
            if isinstance(field.type, Struct):
                found |= walk(field.type, f"{where}{field.name}.")
        return found

    return walk(schema_json.parse(metadata.schema_string), "")
