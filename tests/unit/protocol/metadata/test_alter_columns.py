"""What a change of columns makes of a table's metadata, and which changes there cannot be."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.actions import Metadata
from headgate.protocol.domains import lifecycle
from headgate.protocol.log.replay import State
from headgate.protocol.metadata import alter_columns
from headgate.protocol.metadata.alter_columns import After, First
from headgate.protocol.schema import column_ids, column_mapping, schema_contents
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.column_path import format_path, parse_path
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct, describe_type
from tests.support import attempts

LONG, STRING = Primitive("long"), Primitive("string")
ADDRESS = Struct((Field("street", STRING), Field("city", STRING)))
SCHEMA = Struct(
    (
        Field("id", LONG, nullable=False),
        Field("Day", Primitive("date")),
        Field("address", ADDRESS),
        Field("lines", Array(Struct((Field("sku", STRING), Field("n", LONG))), contains_null=True)),
        Field("by_name", Map(STRING, Struct((Field("a", LONG), Field("b", LONG))), value_contains_null=True)),
    )
)


def counter() -> Callable[[], str]:
    numbers: Iterator[int] = iter(range(100))
    return lambda: f"u{next(numbers)}"


def state(schema: Struct = SCHEMA, *, mapped: bool = True, partitions: tuple[str, ...] = ("Day",)) -> State:
    plain = attempts.table()
    metadata = msgspec.structs.replace(
        plain.metadata, schema_string=schema_json.render(schema), partition_columns=partitions
    )
    if mapped:
        named = {**metadata.configuration, property_values.COLUMN_MAPPING_MODE: "name"}
        metadata = column_ids.assign_on_mode_change(
            metadata, msgspec.structs.replace(metadata, configuration=named)
        )
    return replace(plain, metadata=metadata)


def schema_of(metadata: Metadata) -> Struct:
    return schema_json.parse(metadata.schema_string)


def top(metadata: Metadata) -> list[str]:
    return [field.name for field in schema_of(metadata).fields]


def with_properties(found: State, **properties: str) -> State:
    named = {name.replace("__", "."): value for name, value in properties.items()}
    metadata = msgspec.structs.replace(
        found.metadata, configuration={**found.metadata.configuration, **named}
    )
    return replace(found, metadata=metadata)


@pytest.mark.parametrize(
    ("text", "path"),
    [("a", ("a",)), ("a.b", ("a", "b")), ("`a.b`.c", ("a.b", "c")), ("`a``b`", ("a`b",)), ("a b", ("a b",))],
)
def test_a_column_is_written_as_in_sql(text: str, path: tuple[str, ...]) -> None:
    assert parse_path(text) == path


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "`a", "a`b`", "`a`b"])
def test_what_is_no_column_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="is not a column"):
        parse_path(text)


@given(st.lists(st.text(min_size=1).filter(lambda part: part.strip("`")), min_size=1, max_size=3))
def test_a_path_is_read_as_it_is_shown(parts: list[str]) -> None:
    assert parse_path(format_path(tuple(parts))) == tuple(parts)


@pytest.mark.parametrize(
    ("place", "names"),
    [
        (None, ["id", "Day", "address", "lines", "by_name", "x", "y"]),
        (First(), ["x", "y", "id", "Day", "address", "lines", "by_name"]),
        (After("DAY"), ["id", "Day", "x", "y", "address", "lines", "by_name"]),
    ],
)
def test_columns_are_added_where_they_are_wanted(
    place: alter_columns.ColumnPosition, names: list[str]
) -> None:
    after = alter_columns.add_columns(state(), (), (Field("x", LONG), Field("y", STRING)), place)

    assert top(after) == names


@pytest.mark.parametrize(
    ("parent", "where"),
    [
        ("address", "struct<street: string, city: string, x: long>"),
        ("lines.element", "array<struct<sku: string, n: long, x: long>>"),
        ("by_name.value", "map<string, struct<a: long, b: long, x: long>>"),
    ],
)
def test_columns_are_added_inside_structs_arrays_and_maps(parent: str, where: str) -> None:
    path = parse_path(parent)

    after = schema_of(alter_columns.add_columns(state(), path, (Field("x", LONG),)))

    changed = after.find(path[0])
    assert changed is not None
    assert describe_type(changed.type) == where


@pytest.mark.parametrize(
    ("parent", "column", "said"),
    [
        ("", Field("ID", LONG), "already a column ID"),
        ("address", Field("City", LONG), "already a column address.City"),
        ("", Field("x", LONG, nullable=False), "cannot be NOT NULL"),
        ("id", Field("x", LONG), "id is not a struct"),
        ("nowhere", Field("x", LONG), "no column nowhere"),
        ("lines", Field("x", LONG), "lines is not a struct"),
        ("lines.key", Field("x", LONG), "no column lines.key"),
    ],
)
def test_a_column_that_cannot_be_added_is_refused(parent: str, column: Field, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        alter_columns.add_columns(state(), parse_path(parent) if parent else (), (column,))


def test_names_that_parquet_dislikes_need_column_mapping() -> None:
    spaced = (Field("unit price", LONG),)

    assert "unit price" in top(alter_columns.add_columns(state(), (), spaced))
    with pytest.raises(InvalidRequest, match="unit price"):
        alter_columns.add_columns(state(mapped=False), (), spaced)


def test_a_column_that_is_added_gets_an_id_that_no_other_ever_had() -> None:
    before = state()
    without = alter_columns.drop_columns(before, [("by_name",)])

    after = column_ids.assign_column_ids(
        alter_columns.add_columns(replace(before, metadata=without), (), (Field("by_name", LONG),)), counter()
    )

    new = schema_of(after).find("by_name")
    highest = int(before.metadata.configuration[property_values.MAX_COLUMN_ID])
    assert new is not None
    assert new.metadata[column_mapping.COLUMN_ID] == highest + 1
    assert new.metadata[column_mapping.PHYSICAL_NAME] == "col-u0"
    assert after.configuration[property_values.MAX_COLUMN_ID] == str(highest + 1)


def test_a_renamed_column_is_the_same_in_the_files() -> None:
    """S215: the payload of clustering names columns as the files do, so it stays as it is."""
    before = state()
    clustered = replace(
        before, domains={"delta.clustering": lifecycle.clustering_domain([("address", "city")])}
    )

    after = alter_columns.rename_column(clustered, ("address", "city"), "town")

    paths = column_mapping.physical_paths(schema_of(after), ColumnMappingMode.NAME)
    assert paths["address", "town"] == ("address", "city")
    assert lifecycle.clustering_columns(clustered.domains) == (("address", "city"),)


def test_texts_of_a_renamed_column_compare_as_before() -> None:
    """The metadata says it under the name of the column."""
    said = {"__COLLATIONS": {"a": "icu.UNICODE", "a.element": "spark.UTF8_LCASE"}, "comment": "x"}
    before = state(
        Struct((Field("a", Array(STRING, contains_null=True), metadata=said), Field("b", LONG))),
        partitions=(),
    )

    after = alter_columns.rename_column(before, ("A",), "letters")

    found = schema_of(after).fields[0]
    assert (found.name, found.metadata["comment"]) == ("letters", "x")
    collations = {"letters": "icu.UNICODE", "letters.element": "spark.UTF8_LCASE"}
    assert found.metadata["__COLLATIONS"] == collations


def test_a_renamed_partition_column_still_is_one() -> None:
    after = alter_columns.rename_column(state(), ("day",), "date")

    assert after.partition_columns == ("date",)
    assert top(after)[1] == "date"


def test_only_the_case_of_a_name_can_change_too() -> None:
    assert top(alter_columns.rename_column(state(), ("day",), "DAY"))[1] == "DAY"


@pytest.mark.parametrize("to", ["day", "ID"])
def test_a_name_that_is_taken_is_refused(to: str) -> None:
    with pytest.raises(InvalidRequest, match="already a column"):
        alter_columns.rename_column(state(), ("address",), to)


def test_columns_are_dropped_in_one_go() -> None:
    after = alter_columns.drop_columns(state(), [("lines",), ("address", "city"), ("by_name", "value", "b")])

    assert describe_type(schema_of(after)) == (
        "struct<id: long, Day: date, address: struct<street: string>, by_name: map<string, struct<a: long>>>"
    )


@pytest.mark.parametrize(
    ("paths", "code"),
    [
        ([("day",)], "DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN"),
        ([("address", "street"), ("address", "city")], "DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA"),
        ([("nowhere",)], "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"),
        ([("id", "x")], "DELTA_ADD_COLUMN_PARENT_NOT_STRUCT"),
    ],
)
def test_a_column_that_cannot_be_dropped_is_refused(paths: list[tuple[str, ...]], code: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        alter_columns.drop_columns(state(), paths)

    assert refused.value.code == code


@pytest.mark.parametrize("path", [("address", "city"), ("ADDRESS",)])
def test_a_clustering_column_is_not_dropped(path: tuple[str, ...]) -> None:
    """S210: nor is a struct that has one."""
    clustered = replace(
        state(), domains={"delta.clustering": lifecycle.clustering_domain([("address", "city")])}
    )

    with pytest.raises(InvalidRequest) as refused:
        alter_columns.drop_columns(clustered, [path])

    assert refused.value.code == "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN"
    assert alter_columns.drop_columns(clustered, [("address", "street")])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda found: alter_columns.rename_column(found, ("id",), "key"), "DELTA_UNSUPPORTED_RENAME_COLUMN"),
        (lambda found: alter_columns.drop_columns(found, [("id",)]), "DELTA_UNSUPPORTED_DROP_COLUMN"),
    ],
)
def test_without_mapping_files_know_a_column_by_its_name(
    change: Callable[[State], Metadata], code: str
) -> None:
    with pytest.raises(InvalidRequest, match=r"set the property delta\.columnMapping\.mode") as refused:
        change(state(mapped=False))

    assert refused.value.code == code


@pytest.mark.parametrize(
    "change",
    [
        lambda found: alter_columns.rename_column(found, ("ID",), "key"),
        lambda found: alter_columns.drop_columns(found, [("id",)]),
    ],
)
def test_a_column_that_others_depend_on_stays(change: Callable[[State], Metadata]) -> None:
    constrained = with_properties(state(), delta__constraints__positive="id > 0 AND length('day') = 3")
    generated = state(
        Struct((*SCHEMA.fields, Field("half", LONG, metadata={"delta.generationExpression": "id DIV 2"})))
    )

    with pytest.raises(InvalidRequest, match="the constraint 'positive'"):
        change(constrained)
    with pytest.raises(InvalidRequest, match="column 'half' is generated"):
        change(generated)
    assert alter_columns.rename_column(constrained, ("day",), "date")
    assert alter_columns.drop_columns(generated, [("half",)])


def test_an_expression_that_cannot_be_read_may_be_about_any_column() -> None:
    constrained = with_properties(state(), delta__constraints__odd="id >>> <<<")

    with pytest.raises(InvalidRequest, match="the constraint 'odd'"):
        alter_columns.rename_column(constrained, ("lines",), "rows")


def test_columns_move_within_their_struct() -> None:
    assert top(alter_columns.move_column(state(), ("lines",), First()))[0] == "lines"
    assert top(alter_columns.move_column(state(), ("id",), After("lines")))[3] == "id"
    inner = schema_of(alter_columns.move_column(state(), ("address", "city"), First())).find("address")
    assert inner is not None
    assert describe_type(inner.type) == "struct<city: string, street: string>"
    with pytest.raises(InvalidRequest, match="no column 'nowhere'"):
        alter_columns.move_column(state(), ("id",), After("nowhere"))
    with pytest.raises(InvalidRequest, match="no column 'id' in the same struct"):
        alter_columns.move_column(state(), ("id",), After("id"))


def test_a_column_may_become_nullable_and_be_described() -> None:
    nullable = schema_of(alter_columns.drop_not_null(state(), ("id",))).fields[0]
    said = alter_columns.set_column_comment(state(), ("id",), "the key")
    unsaid = alter_columns.set_column_comment(replace(state(), metadata=said), ("id",), None)

    assert nullable.nullable
    assert schema_of(said).fields[0].metadata["comment"] == "the key"
    assert not schema_of(said).fields[0].nullable
    assert schema_of(unsaid) == schema_of(state().metadata)


def test_a_column_may_have_a_default_where_the_table_allows_it() -> None:
    plain = state(
        Struct((*SCHEMA.fields, Field("made", LONG, metadata={"delta.generationExpression": "id"})))
    )
    allowing = replace(
        plain,
        protocol=msgspec.structs.replace(
            plain.protocol, min_writer_version=7, writer_features=frozenset({"allowColumnDefaults"})
        ),
    )

    said = alter_columns.set_column_default(allowing, ("lines",), "array()")
    unsaid = alter_columns.set_column_default(replace(allowing, metadata=said), ("lines",), None)

    found = schema_of(said).find("lines")
    assert found is not None
    assert found.metadata["CURRENT_DEFAULT"] == "array()"
    assert schema_of(unsaid) == schema_of(allowing.metadata)
    with pytest.raises(InvalidRequest, match="allows none") as refused:
        alter_columns.set_column_default(plain, ("lines",), "array()")
    assert refused.value.code == "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED"
    with pytest.raises(InvalidRequest, match="computed"):
        alter_columns.set_column_default(allowing, ("made",), "1")


def test_the_list_of_columns_with_statistics_follows() -> None:
    listed = with_properties(state(), delta__dataSkippingStatsColumns="id, address.city ,`odd, name`,lines")

    renamed = alter_columns.rename_column(listed, ("address",), "home")
    dropped = alter_columns.drop_columns(listed, [("address", "city")])

    assert renamed.configuration["delta.dataSkippingStatsColumns"] == "id,home.city,`odd, name`,lines"
    assert dropped.configuration["delta.dataSkippingStatsColumns"] == "id,`odd, name`,lines"


@pytest.mark.parametrize("change", ["add", "rename"])
def test_columns_of_the_change_data_feed_are_its_own(change: str) -> None:
    recording = with_properties(state(), delta__enableChangeDataFeed="true")

    with pytest.raises(InvalidRequest, match="_change_type"):
        if change == "add":
            alter_columns.add_columns(recording, (), (Field("_change_type", STRING),))
        else:
            alter_columns.rename_column(recording, ("lines",), "_change_type")


def test_a_table_starts_to_map_with_the_names_its_files_have() -> None:
    found = schema_of(state().metadata)
    ids = [field.metadata[column_mapping.COLUMN_ID] for field in found.fields]

    assert column_mapping.physical_schema(found, ColumnMappingMode.NAME) == column_mapping.physical_schema(
        SCHEMA, ColumnMappingMode.NONE
    )
    assert len(set(ids)) == len(ids)
    assert state().metadata.configuration[property_values.MAX_COLUMN_ID] == "11"


@pytest.mark.parametrize(
    ("before", "after"), [("none", "id"), ("name", "none"), ("id", "name"), ("name", "id"), ("id", "none")]
)
def test_a_table_cannot_map_otherwise(before: str, after: str) -> None:
    one, other = (
        with_properties(state(mapped=False), delta__columnMapping__mode=mode).metadata
        for mode in (before, after)
    )

    with pytest.raises(InvalidRequest, match="cannot go from"):
        column_ids.assign_on_mode_change(one, other)


def test_a_column_that_stays_keeps_its_id_and_name() -> None:
    before = schema_of(state().metadata)
    foreign = Struct(
        (
            Field(
                "ADDRESS",
                Struct((Field("CITY", STRING), Field("zip", STRING))),
                metadata={column_mapping.COLUMN_ID: 99},
            ),
            Field("other", LONG),
        )
    )

    kept = column_ids.keep_column_ids(foreign, before)

    assert not kept.fields[0].metadata  # another type: it has one more field
    inner = kept.fields[0].type
    assert isinstance(inner, Struct)
    assert inner.fields[0].metadata[column_mapping.PHYSICAL_NAME] == "city"
    assert not inner.fields[1].metadata
    assert not kept.fields[1].metadata


def test_nothing_changes_where_nothing_is_mapped_or_all_is() -> None:
    assert (
        column_ids.assign_column_ids(state(mapped=False).metadata, counter()) == state(mapped=False).metadata
    )
    assert column_ids.assign_column_ids(state().metadata, counter()) is not None
    assert column_ids.assign_column_ids(state().metadata, counter()) == state().metadata


@pytest.mark.parametrize(
    ("path", "to", "history"),
    [
        ("id", Primitive("decimal(20,0)"), [{"fromType": "long", "toType": "decimal(20,0)"}]),
        ("Day", Primitive("timestamp_ntz"), [{"fromType": "date", "toType": "timestamp_ntz"}]),
        ("address.n", LONG, [{"fromType": "integer", "toType": "long"}]),
        (
            "counts",
            Array(LONG, contains_null=True),
            [{"fromType": "integer", "toType": "long", "fieldPath": "element"}],
        ),
    ],
)
def test_a_wider_type_is_written_down(path: str, to: DataType, history: list[dict[str, str]]) -> None:
    number = Primitive("integer")
    wide = Struct(
        (
            *SCHEMA.fields[:2],
            Field("address", Struct((Field("n", number),))),
            Field("counts", Array(number, contains_null=True)),
        )
    )
    before = with_properties(state(wide), delta__enableTypeWidening="true")

    after = schema_of(alter_columns.change_column_type(before, parse_path(path), to))

    found, inside = Field("", LONG), after
    for part in parse_path(path):
        found = inside.find(part) or found
        inside = found.type if isinstance(found.type, Struct) else inside
    assert found.type == to
    assert found.metadata["delta.typeChanges"] == history


DEEP = Map(Primitive("short"), Array(Primitive("integer"), contains_null=False), value_contains_null=False)


@pytest.mark.parametrize(
    ("path", "field_path", "after"),
    [
        ("m.KEY", "key", "map<long, array<integer>>"),
        ("m.value.Element", "value.element", "map<short, array<long>>"),
        ("lines.element.x.element", "element", "array<long>"),
    ],
)
def test_what_is_in_arrays_and_maps_becomes_wider_too(path: str, field_path: str, after: str) -> None:
    """Of a column that is in an array itself, the column says it."""
    inner = Struct((Field("x", Array(Primitive("integer"), contains_null=False)),))
    schema = Struct((Field("m", DEEP), Field("lines", Array(inner, contains_null=True))))
    before = with_properties(state(schema, partitions=()), delta__enableTypeWidening="true")

    found = schema_of(alter_columns.change_column_type(before, parse_path(path), LONG))

    columns = {column.name: column for column in schema_contents.all_fields(found)}
    changed = columns["x" if "x" in path else "m"]
    (told,) = changed.metadata["delta.typeChanges"]
    assert (describe_type(changed.type), told["fieldPath"]) == (after, field_path)


@pytest.mark.parametrize("path", ["m.element", "m.value.key", "m.value.element.x", "id.element", "lines.n"])
def test_what_is_not_in_a_type_is_not_found(path: str) -> None:
    schema = Struct((*SCHEMA.fields, Field("m", DEEP)))
    before = with_properties(state(schema), delta__enableTypeWidening="true")

    with pytest.raises(InvalidRequest, match="has no column") as refused:
        alter_columns.change_column_type(before, parse_path(path), LONG)
    assert refused.value.code == "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"


@pytest.mark.parametrize("to", [Primitive("integer"), STRING, Primitive("decimal(10,0)"), ADDRESS])
def test_a_type_that_is_not_wider_is_refused(to: DataType) -> None:
    before = with_properties(state(), delta__enableTypeWidening="true")

    with pytest.raises(InvalidRequest, match="is not a wider type"):
        alter_columns.change_column_type(before, ("id",), to)


def test_types_stay_unless_the_table_says_otherwise() -> None:
    with pytest.raises(InvalidRequest, match=r"delta\.enableTypeWidening"):
        alter_columns.change_column_type(state(), ("id",), Primitive("decimal(20,0)"))
