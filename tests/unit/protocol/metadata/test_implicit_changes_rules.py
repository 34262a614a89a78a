"""What a write must not do to metadata, and which of its options mean nothing without another."""

from itertools import count

import pytest

from headgate.errors import HeadgateError, InvalidRequest, SchemaMismatch
from headgate.protocol.actions import Format, Metadata
from headgate.protocol.metadata import implicit_changes as rules
from headgate.protocol.metadata.implicit_changes import MetadataOutcome, MetadataPlan, WriteIntent
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

INT, LONG, TEXT, VOID = (Primitive(name) for name in ("integer", "long", "string", "void"))
WIDENS = {"delta.enableTypeWidening": "true"}


def struct(**columns: DataType) -> Struct:
    return Struct(tuple(Field(name, data_type) for name, data_type in columns.items()))


def table(schema: Struct, *partition_by: str, **configuration: str) -> Metadata:
    return Metadata(
        id="the-id",
        format=Format(provider="parquet", options={}),
        schema_string=schema_json.render(schema),
        partition_columns=partition_by,
        configuration=configuration,
    )


def plan(existing: Metadata | None, wish: WriteIntent) -> MetadataPlan:
    numbers = count(1)
    return rules.plan_metadata(existing, wish, uuid=lambda: str(next(numbers)))


def refusal(existing: Metadata, wish: WriteIntent) -> str:
    with pytest.raises(HeadgateError) as caught:
        plan(existing, wish)
    return caught.value.code


IDS = table(struct(id=LONG, part=TEXT), "part")


def test_options_mean_nothing_where_there_is_no_table() -> None:
    assert plan(None, WriteIntent(struct(id=LONG), can_merge=True)).outcome is MetadataOutcome.CREATE


def test_the_schema_is_overwritten_only_if_the_rows_are() -> None:
    """An append with the option is an append."""
    assert (
        refusal(IDS, WriteIntent(struct(id=LONG, new=TEXT), can_overwrite_schema=True))
        == "DELTA_METADATA_MISMATCH"
    )
    assert plan(IDS, WriteIntent(struct(id=LONG), can_overwrite_schema=True)).outcome is MetadataOutcome.KEEP


def test_an_overwritten_schema_brings_its_partitioning() -> None:
    wish = WriteIntent(struct(id=LONG, day=TEXT), ("day",), overwrite=True, can_overwrite_schema=True)

    planned = plan(IDS, wish)

    assert planned.metadata is not None
    assert planned.metadata.partition_columns == planned.partition_columns == ("day",)


def test_types_widen_only_if_the_schema_may_change() -> None:
    """S290"""
    existing = table(struct(c=INT), **WIDENS)

    assert refusal(existing, WriteIntent(struct(c=LONG))) == "DELTA_FAILED_TO_MERGE_FIELDS"
    assert plan(existing, WriteIntent(struct(c=LONG), can_merge=True)).schema == Struct(
        (Field("c", LONG, metadata={"delta.typeChanges": [{"fromType": "integer", "toType": "long"}]}),)
    )


@pytest.mark.parametrize(
    ("names", "schema", "code"),
    [
        ((), Struct(()), None),
        ((), struct(a=VOID), None),
        (("p",), struct(p=TEXT, a=VOID, b=LONG), None),
        (("p",), struct(p=TEXT, a=VOID), "DELTA_NON_PARTITION_COLUMN_ABSENT"),
        (("p",), struct(p=TEXT), "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION"),
        (("absent",), struct(a=LONG), "DELTA_INVALID_PARTITION_COLUMN_TYPE"),
        (("a",), struct(a=Array(LONG, contains_null=True), b=LONG), "DELTA_INVALID_PARTITION_COLUMN_TYPE"),
    ],
)
def test_which_partitionings_there_can_be(names: tuple[str, ...], schema: Struct, code: str | None) -> None:
    if code is None:
        rules.check_partitioning(names, schema)
        return
    with pytest.raises(InvalidRequest) as caught:
        rules.check_partitioning(names, schema)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("name", "code"), [("b", "DELTA_AMBIGUOUS_PARTITION_COLUMN"), ("c", "DELTA_PARTITION_COLUMN_NOT_FOUND")]
)
def test_a_partition_column_is_one_column(name: str, code: str) -> None:
    rows = struct(a=LONG, b=LONG, B=LONG)
    assert rules.normalize_partition_columns(("A",), rows) == ("a",)

    with pytest.raises(InvalidRequest) as caught:
        rules.normalize_partition_columns((name,), rows)

    assert caught.value.code == code


@pytest.mark.parametrize(
    ("constraint", "columns", "refused"),
    [
        ("a > 0", struct(a=LONG, c=TEXT), False),
        ("a > 0 AND b > 0", struct(a=LONG, c=TEXT), True),
        ("a > (", struct(c=TEXT), False),  # nobody can tell what it is about
    ],
)
def test_constraints_keep_their_columns_when_the_schema_is_overwritten(
    constraint: str, columns: Struct, refused: bool
) -> None:
    existing = table(struct(a=LONG, b=LONG), **{"delta.constraints.c": constraint})
    wish = WriteIntent(columns, overwrite=True, can_overwrite_schema=True)

    if refused:
        assert refusal(existing, wish) == "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"
    else:
        assert plan(existing, wish).outcome is MetadataOutcome.OVERWRITE


def _listed(data_type: DataType) -> DataType:
    return Array(data_type, contains_null=True)


def _mapped(key: DataType, value: DataType) -> DataType:
    return Map(key, value, value_contains_null=True)


@pytest.mark.parametrize(
    ("before", "rows", "refused"),
    [
        (INT, LONG, True),
        (struct(x=INT), struct(x=LONG), True),
        (struct(x=INT), struct(x=INT, y=TEXT), False),
        (struct(x=INT, z=INT), struct(x=LONG), True),
        (struct(x=INT, z=INT), struct(z=LONG, x=INT), True),
        (_listed(INT), _listed(LONG), True),
        (_listed(struct(x=INT)), _listed(struct(x=INT, y=TEXT)), False),
        (_mapped(INT, INT), _mapped(LONG, INT), True),
        (_mapped(INT, INT), _mapped(INT, LONG), True),
        (_mapped(INT, struct(x=INT)), _mapped(INT, struct(x=INT, y=TEXT)), False),
        (_mapped(struct(x=INT), INT), _mapped(struct(x=INT, y=TEXT), INT), False),
    ],
)
@pytest.mark.parametrize("constraint", ["c IS NOT NULL", "c IS NOT ("], ids=["told", "not to be told"])
def test_no_type_changes_that_a_constraint_may_depend_on(
    before: DataType, rows: DataType, refused: bool, constraint: str
) -> None:
    """S288: a new field of a struct changes no value that was there."""
    existing = table(struct(c=before, d=TEXT), **WIDENS, **{"delta.constraints.k": constraint})
    wish = WriteIntent(struct(c=rows), can_merge=True)

    if refused:
        assert refusal(existing, wish) == "DELTA_CONSTRAINT_DATA_TYPE_MISMATCH"
    else:
        assert plan(existing, wish).outcome is MetadataOutcome.MERGE


def test_a_column_that_had_no_type_yet_may_get_one_whatever_depends_on_it() -> None:
    existing = table(struct(c=VOID, d=TEXT), **{"delta.constraints.k": "c IS NULL"})

    assert plan(existing, WriteIntent(struct(c=LONG), can_merge=True)).outcome is MetadataOutcome.MERGE


def test_a_constraint_on_another_column_is_no_hindrance() -> None:
    existing = table(struct(c=INT, d=TEXT), **WIDENS, **{"delta.constraints.k": "d <> ''"})

    assert plan(existing, WriteIntent(struct(c=LONG), can_merge=True)).outcome is MetadataOutcome.MERGE


def test_a_mismatch_tells_of_what_differs_and_of_nothing_else() -> None:
    with pytest.raises(SchemaMismatch) as caught:
        plan(IDS, WriteIntent(struct(id=LONG, part=TEXT), ("id",), overwrite=True))
    assert "partition by id" in caught.value.message
    assert "overwrite all rows with the option overwriteSchema" in caught.value.message
    assert "mergeSchema" not in caught.value.message

    with pytest.raises(SchemaMismatch) as caught:
        plan(IDS, WriteIntent(struct(id=LONG, new=TEXT)))
    assert "'new' is not in the table" in caught.value.message
    assert "partition by" not in caught.value.message
    assert "overwriteSchema" not in caught.value.message
    assert "would become" not in caught.value.message

    with pytest.raises(SchemaMismatch) as caught:
        plan(table(struct(c=Primitive("short"))), WriteIntent(struct(c=INT)))
    assert "column 'c' would become integer from short" in caught.value.message
    assert "not in the table" not in caught.value.message
