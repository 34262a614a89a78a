"""Values of identity columns on paper: the grid, the mark, and which number a row gets."""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import InvalidRequest
from headgate.protocol.actions import CommitInfo, Format, Metadata
from headgate.protocol.features import identity_columns
from headgate.protocol.features.identity_columns import MAX_BIGINT, MIN_BIGINT, RUN_BITS, IdentitySpec
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

LONG = Primitive("long")
longs = st.integers(MIN_BIGINT, MAX_BIGINT)
steps = longs.filter(bool)
identities = st.builds(IdentitySpec, longs, steps)


def column(name: str = "id", data_type: DataType = LONG, **said: Any) -> Field:
    return Field(name, data_type, metadata={**IdentitySpec(1, 1).written(), **said})


def metadata(*fields: Field, partitioned: tuple[str, ...] = (), **configuration: str) -> Metadata:
    return Metadata(
        id="t",
        format=Format(provider="parquet", options={}),
        schema_string=schema_json.render(Struct(fields)),
        partition_columns=partitioned,
        configuration=configuration,
    )


@given(identities, st.lists(st.one_of(st.integers(0, 2**40), longs.map(str)), max_size=8))
def test_no_value_is_given_twice_and_all_are_on_the_grid(
    known: IdentitySpec, writes: list[int | str]
) -> None:
    """A write takes a number of values; text is a value that rows brought themselves."""
    last = None
    for write in writes:
        if isinstance(write, str):
            known = known.covering(int(write))
            continue
        first, left = known.following, known.left
        if write > left:
            with pytest.raises(InvalidRequest) as full:
                known.beyond(write)
            assert full.value.code == "HEADGATE_IDENTITY_EXHAUSTED"
            continue
        if write:
            known = known.beyond(write)
            assert known.mark is not None
            assert (first - known.start) % known.step == (known.mark - known.start) % known.step == 0
            assert MIN_BIGINT <= known.mark <= MAX_BIGINT
            assert last is None or (first - last) * known.step > 0, "it goes on behind what was given"
            last = known.mark


@given(identities, longs)
def test_what_follows_a_mark_is_beyond_every_value_that_it_covers(known: IdentitySpec, value: int) -> None:
    covered = known.covering(value)

    following = covered.following
    is_before_start = (value - known.start) * known.step < 0
    assert is_before_start or (following - value) * known.step > 0
    assert (following - known.start) * known.step >= 0
    if covered.mark is not None:
        assert MIN_BIGINT <= covered.mark <= MAX_BIGINT
        assert covered.covering(value) == covered


@given(identities, longs, longs)
def test_a_mark_never_goes_back(known: IdentitySpec, one: int, other: int) -> None:
    before = known.covering(one)
    after = before.covering(other)

    assert before.mark is None or after.mark == before.mark or before.is_beyond_mark(after.mark or 0)
    assert after == known.covering(other).covering(one), "in whatever order"


def test_what_covers_a_value_near_the_end_of_bigint_is_a_bigint() -> None:
    for edge, step in ((MAX_BIGINT, 2), (MIN_BIGINT, -2)):
        before_edge = edge - step // 2

        assert IdentitySpec(before_edge, step).covering(edge).mark == before_edge


@pytest.mark.parametrize(
    ("info", "tagged"),
    [
        (None, False),
        (CommitInfo(), False),
        (CommitInfo(tags={}), False),
        (CommitInfo(tags={identity_columns.TAG: "false"}), False),
        (CommitInfo(tags={identity_columns.TAG: "true"}), True),
    ],
)
def test_a_commit_says_of_itself_that_it_moves_marks_alone(info: CommitInfo | None, *, tagged: bool) -> None:
    assert identity_columns.is_tagged(info) is tagged


def test_marks_that_others_left_off_the_grid_are_rounded() -> None:
    assert IdentitySpec(1, 10, mark=5).following == 11
    assert IdentitySpec(1, 10, mark=-50).following == 1
    assert IdentitySpec(0, -3, mark=-4).following == -6
    assert IdentitySpec(1, 10, mark=MAX_BIGINT).left == 0


@given(st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 2**33 - 1)), unique=True))
def test_rows_of_any_partitions_have_numbers_of_their_own(places: list[tuple[int, int]]) -> None:
    numbers = [identity_columns.unique_row_number(*where) for where in places]

    assert len(set(numbers)) == len(numbers)
    assert all(0 <= number <= MAX_BIGINT for number in numbers)


def test_every_number_belongs_to_a_row_so_none_is_wasted_for_good() -> None:
    runs = {
        identity_columns.unique_row_number(partition, row << RUN_BITS) >> RUN_BITS
        for partition in range(256)
        for row in range(256)
    }

    assert runs >= set(range(1024))
    assert [identity_columns.unique_row_number(0, row) for row in range(3 << RUN_BITS)] == list(
        range(3 << RUN_BITS)
    )


@given(st.integers(1, 2000), st.integers(1, 10**9))
def test_numbers_are_not_far_beyond_the_number_of_rows(partitions: int, rows: int) -> None:
    runs = partitions * ((rows >> RUN_BITS) + 1)

    assert (
        identity_columns.unique_row_number(partitions - 1, rows - 1)
        <= 2 * runs * max(1, runs.bit_length()) << RUN_BITS
    )


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (metadata(column(data_type=Primitive("integer"))), "UNSUPPORTED_DATA_TYPE"),
        (metadata(column(data_type=Primitive("decimal(20,0)"))), "UNSUPPORTED_DATA_TYPE"),
        (metadata(column(**{identity_columns.STEP: 0})), "ILLEGAL_STEP"),
        (metadata(column(), Field("a", LONG), partitioned=("ID",)), "PARTITION_NOT_SUPPORTED"),
        (metadata(column(**{"delta.generationExpression": "1"})), "WITH_GENERATED_EXPRESSION"),
        (metadata(column(CURRENT_DEFAULT="1")), "WITH_GENERATED_EXPRESSION"),
        (metadata(Field("s", Struct((column(),)))), "ALTER_COLUMN_NOT_SUPPORTED"),
        (metadata(Field("s", Array(Struct((column(),)), contains_null=True))), "ALTER_COLUMN_NOT_SUPPORTED"),
        (
            metadata(Field("s", Map(LONG, Struct((column(),)), value_contains_null=True))),
            "ALTER_COLUMN_NOT_SUPPORTED",
        ),
    ],
)
def test_columns_that_cannot_be_identities_are_refused(made: Metadata, code: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        identity_columns.check_identity_columns(made)

    assert refused.value.code == f"DELTA_IDENTITY_COLUMNS_{code}"
    assert refused.value.sqlstate is not None


@pytest.mark.parametrize(
    "said",
    [
        {identity_columns.START: "1"},
        {identity_columns.START: True},
        {identity_columns.STEP: None},
        {identity_columns.STEP: 2**63},
        {identity_columns.HIGH_WATER_MARK: 1.5},
        {identity_columns.ALLOW_EXPLICIT_INSERT: "false"},
    ],
)
def test_an_identity_that_is_not_whole_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="does not say what its values are"):
        identity_columns.check_identity_columns(metadata(column(**said)))


def test_a_new_table_starts_anew_whatever_the_columns_say_of_marks() -> None:
    made = identity_columns.without_high_water_marks(
        Struct((column(**{identity_columns.HIGH_WATER_MARK: 7}), Field("a", LONG)))
    )

    assert identity_columns.columns_of_schema(made) == {"id": IdentitySpec(1, 1)}


def test_marks_follow_the_rows() -> None:
    before = metadata(column("up"), column("down", **{identity_columns.STEP: -5}), Field("a", LONG))

    after = identity_columns.advance_high_water_marks(before, {"up": 12, "down": -6, "a": 99})

    marks = {name: of.mark for name, of in identity_columns.columns_of_table(after).items()}
    assert marks == {"up": 12, "down": -9}
    assert identity_columns.advance_high_water_marks(after, {"up": 3}) is after
    assert identity_columns.advances_high_water_mark_only(before, after)
    assert not identity_columns.advances_high_water_mark_only(after, before)
    assert identity_columns.changes_high_water_mark_only(after, before)


@pytest.mark.parametrize(
    "other",
    [
        {"name": "another"},
        {"description": "said"},
        {"configuration": {"a": "b"}},
        {"partition_columns": ("a",)},
        {"schema_string": schema_json.render(Struct((column(**{identity_columns.HIGH_WATER_MARK: 5}),)))},
        {
            "schema_string": schema_json.render(
                Struct((column(**{identity_columns.STEP: 5}), Field("a", LONG)))
            )
        },
        {
            "schema_string": schema_json.render(
                Struct((column(**{identity_columns.ALLOW_EXPLICIT_INSERT: True}), Field("a", LONG)))
            )
        },
    ],
)
def test_what_changes_more_than_marks_does_not_pass_for_less(other: dict[str, Any]) -> None:
    before = metadata(column(), Field("a", LONG))
    moved = identity_columns.advance_high_water_marks(before, {"id": 5})

    assert identity_columns.advances_high_water_mark_only(before, moved)
    assert not identity_columns.changes_high_water_mark_only(before, msgspec.structs.replace(moved, **other))
    assert not identity_columns.changes_high_water_mark_only(before, before)


def test_one_mark_that_goes_back_is_not_hidden_by_another_that_goes_on() -> None:
    before = metadata(
        column("a", **{identity_columns.HIGH_WATER_MARK: 10}),
        column("b", **{identity_columns.HIGH_WATER_MARK: 10}),
    )
    after = metadata(
        column("a", **{identity_columns.HIGH_WATER_MARK: 11}),
        column("b", **{identity_columns.HIGH_WATER_MARK: 9}),
    )
    none = metadata(column("a", **{identity_columns.HIGH_WATER_MARK: 11}), column("b"))

    assert identity_columns.changes_high_water_mark_only(before, after)
    assert not identity_columns.advances_high_water_mark_only(before, after)
    assert not identity_columns.advances_high_water_mark_only(before, none)


def test_a_restored_table_does_not_give_values_once_more() -> None:
    then = metadata(column(**{identity_columns.HIGH_WATER_MARK: 3}), Field("a", LONG))
    now = metadata(column(**{identity_columns.HIGH_WATER_MARK: 8}))

    assert (
        identity_columns.columns_of_table(identity_columns.restore_high_water_marks(then, now))["id"].mark
        == 8
    )
    assert (
        identity_columns.columns_of_table(identity_columns.restore_high_water_marks(now, then))["id"].mark
        == 8
    )
    assert identity_columns.restore_high_water_marks(metadata(Field("id", LONG)), now) == metadata(
        Field("id", LONG)
    )


def test_a_restored_column_is_known_by_its_physical_name() -> None:
    mode = {"delta.columnMapping.mode": "name"}
    physical = {"delta.columnMapping.physicalName": "p1", "delta.columnMapping.id": 1}
    then = metadata(column("before", **physical, **{identity_columns.HIGH_WATER_MARK: 3}), **mode)
    now = metadata(column("after", **physical, **{identity_columns.HIGH_WATER_MARK: 8}), **mode)

    assert (
        identity_columns.columns_of_table(identity_columns.restore_high_water_marks(then, now))["before"].mark
        == 8
    )


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(InvalidRequest) as refused:
        act()
    return refused.value.code


def test_values_of_rows_that_are_there_are_never_set() -> None:
    for explicit in (True, False):
        field = column(**{identity_columns.ALLOW_EXPLICIT_INSERT: explicit})
        assert code_of(partial(identity_columns.check_not_updated, field)) == (
            "DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED"
        )
    identity_columns.check_not_updated(Field("a", LONG))


def test_rows_bring_values_only_where_they_may() -> None:
    always, by_default = column(), column("own", **{identity_columns.ALLOW_EXPLICIT_INSERT: True})
    schema = Struct((always, by_default, Field("a", LONG)))

    identity_columns.check_explicit_inserts(Struct((Field("OWN", LONG), Field("a", LONG))), schema)
    identity_columns.check_explicit_inserts(Struct((Field("id", Primitive("void")),)), schema)
    refused = code_of(partial(identity_columns.check_explicit_inserts, Struct((Field("ID", LONG),)), schema))
    assert refused == "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED"


def test_the_ends_of_bigint_are_values_too() -> None:
    for edge in (MIN_BIGINT, MAX_BIGINT):
        field = column(
            **{
                identity_columns.START: edge,
                identity_columns.STEP: edge,
                identity_columns.HIGH_WATER_MARK: edge,
            }
        )
        assert identity_columns.identity_spec(field) == IdentitySpec(edge, edge, edge)
    for beyond in (MIN_BIGINT - 1, MAX_BIGINT + 1):
        for key in (identity_columns.START, identity_columns.STEP, identity_columns.HIGH_WATER_MARK):
            malformed = partial(identity_columns.identity_spec, column(**{key: beyond}))
            assert code_of(malformed) == "HEADGATE_IDENTITY_MALFORMED"


def test_the_last_value_can_be_given_and_none_after_it() -> None:
    for edge, step in ((MAX_BIGINT, 1), (MIN_BIGINT, -1)):
        known = IdentitySpec(edge - 2 * step, step)
        assert known.left == 3
        assert known.beyond(3).mark == edge
        assert known.beyond(3).left == 0
        assert known.beyond(3).beyond(0) == known.beyond(3)
        assert code_of(partial(known.beyond, 4)) == identity_columns.EXHAUSTED


@pytest.mark.parametrize(
    "nested",
    [
        Struct((Field("t", Struct((column(),))),)),
        Map(Struct((column(),)), LONG, value_contains_null=True),
        Array(Array(Struct((column(),)), contains_null=True), contains_null=True),
    ],
    ids=["struct", "key", "array"],
)
def test_identities_are_found_however_deep_they_are(nested: DataType) -> None:
    refused = code_of(partial(identity_columns.check_identity_columns, metadata(Field("s", nested))))

    assert refused == "DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED"


def test_what_has_no_identities_needs_no_marks() -> None:
    plain = metadata(Field("a", LONG), Field("s", Map(LONG, LONG, value_contains_null=True)))

    identity_columns.check_identity_columns(plain)
    assert identity_columns.columns_of_table(plain) == {}
    assert identity_columns.advance_high_water_marks(plain, {"a": 5}) is plain
    assert not identity_columns.changes_high_water_mark_only(
        plain, msgspec.structs.replace(plain, name="other")
    )


@pytest.mark.parametrize(
    ("partition", "run", "number"), [(0, 0, 0), (0, 1, 1), (1, 0, 3), (0, 3, 5), (1, 1, 9), (3, 0, 13)]
)
def test_runs_are_put_one_behind_another_by_their_boxes(partition: int, run: int, number: int) -> None:
    assert identity_columns.unique_row_number(partition, run << RUN_BITS) == number << RUN_BITS
    assert identity_columns.unique_row_number(partition, (run << RUN_BITS) + 5) == (number << RUN_BITS) + 5


def test_values_are_bigint() -> None:
    assert (MIN_BIGINT, MAX_BIGINT) == (-9_223_372_036_854_775_808, 9_223_372_036_854_775_807)


def test_a_mark_moves_only_forward_and_not_before_the_start() -> None:
    known = IdentitySpec(10, 5)

    assert [known.covering(value).mark for value in (3, 5, 10, 11, 15)] == [None, None, 10, 15, 15]
    assert known.beyond(0) == known
    assert [IdentitySpec(1, 10, 5).is_beyond_mark(mark) for mark in (4, 5, 6)] == [False, False, True]
    assert [IdentitySpec(1, 1, 5).is_beyond_mark(mark) for mark in (4, 5, 6)] == [False, False, True]
    assert [IdentitySpec(1, -1, 5).is_beyond_mark(mark) for mark in (4, 5, 6)] == [True, False, False]


@pytest.mark.parametrize(
    "known", [IdentitySpec(1, 2), IdentitySpec(1, -2, -5), IdentitySpec(0, 1, 0, allows_explicit=True)]
)
def test_what_is_written_of_an_identity_is_read_again(known: IdentitySpec) -> None:
    written = known.written()

    assert identity_columns.identity_spec(Field("id", LONG, metadata=written)) == known
    assert written[identity_columns.ALLOW_EXPLICIT_INSERT] is known.allows_explicit
    assert (identity_columns.HIGH_WATER_MARK in written) is (known.mark is not None)


def test_a_column_that_does_not_say_so_takes_no_values_from_rows() -> None:
    said = {identity_columns.START: 1, identity_columns.STEP: 1}

    assert identity_columns.identity_spec(Field("id", LONG, metadata=said)) == IdentitySpec(
        1, 1, allows_explicit=False
    )


def test_a_whole_identity_column_is_accepted_beside_any_others() -> None:
    identity_columns.check_identity_columns(
        metadata(column(), Field("s", Struct((Field("x", LONG),))), Field("a", LONG), partitioned=("a",))
    )


def test_metadata_without_identities_moves_no_marks_however_it_is_written() -> None:
    plain = metadata(Field("a", LONG))
    spaced = msgspec.structs.replace(plain, schema_string=plain.schema_string.replace(",", ", "))

    assert not identity_columns.changes_high_water_mark_only(plain, spaced)
    assert identity_columns.advance_high_water_marks(plain, {}) is plain


def test_one_mark_may_move_while_another_stays() -> None:
    before = metadata(column("a"), column("b"), column("c", **{identity_columns.HIGH_WATER_MARK: 4}))
    after = identity_columns.advance_high_water_marks(before, {"a": 5})

    assert identity_columns.advances_high_water_mark_only(before, after)
    assert not identity_columns.advances_high_water_mark_only(
        before, msgspec.structs.replace(after, name="other")
    )
    assert not identity_columns.advances_high_water_mark_only(before, before)
