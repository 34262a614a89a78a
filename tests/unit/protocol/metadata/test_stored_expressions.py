"""SQL text in tables: what may be evaluated by whoever writes, and what may not."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import InvalidRequest
from headgate.protocol.metadata import sql_functions, stored_expressions
from headgate.protocol.metadata.sql_functions import FUNCTION_GROUPS, ExpressionPlace
from headgate.protocol.schema import expression_columns
from tests.support import commits
from tests.support.hostile_sql import ALLOWED, HOSTILE

PLACES = tuple(ExpressionPlace)
KEYS = ("delta.generationExpression", "CURRENT_DEFAULT", "EXISTS_DEFAULT", "delta.invariants")


def schema(key: str, text: object, *, nested: bool = False) -> str:
    """A schema of one column, whose metadata, or that of a field in it, has this text."""
    said = msgspec.json.encode({"expression": {"expression": text}}).decode() if "inv" in key else text
    column = {"name": "c", "type": "string", "nullable": True, "metadata": {key: said}}
    outer = {"type": "array", "elementType": {"type": "struct", "fields": [column]}, "containsNull": True}
    fields = [{**column, "type": outer, "metadata": {}}] if nested else [column]
    return msgspec.json.encode({"type": "struct", "fields": fields}).decode()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_refused(text: str, place: ExpressionPlace) -> None:
    with pytest.raises(InvalidRequest, match=place.value) as no:
        stored_expressions.check_expression(text, place, "c")

    assert no.value.code == "HEADGATE_UNSAFE_EXPRESSION"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", ALLOWED)
def test_what_people_write_is_allowed(text: str, place: ExpressionPlace) -> None:
    assert stored_expressions.expression_breach(text, place) is None


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("current_timestamp()", {ExpressionPlace.CONSTRAINT, ExpressionPlace.DEFAULT}),
        ("CURRENT_DATE", {ExpressionPlace.CONSTRAINT, ExpressionPlace.DEFAULT}),
        ("now()", {ExpressionPlace.CONSTRAINT, ExpressionPlace.DEFAULT, ExpressionPlace.GENERATED}),
        ("current_user()", {ExpressionPlace.DEFAULT}),
        ("session_user", {ExpressionPlace.DEFAULT}),
        ("uuid()", set()),
        ("current_schema", set()),
        ("s.current_schema", {*ExpressionPlace}),
    ],
)
def test_the_moment_and_the_writer_have_their_places(text: str, places: set[ExpressionPlace]) -> None:
    assert {
        place for place in ExpressionPlace if stored_expressions.expression_breach(text, place) is None
    } == places


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("key", KEYS)
def test_every_text_of_a_column_is_looked_at(key: str, nested: bool) -> None:
    hostile, harmless = (
        commits.metadata(schema(key, "f(1)", nested=nested)),
        commits.metadata(schema(key, "1")),
    )

    assert stored_expressions.first_breach(harmless) is None
    found = stored_expressions.first_breach(hostile)
    assert found is not None
    assert found[0].name == ("c.element.c" if nested else "c")
    assert stored_expressions.first_breach(hostile, before=hostile) is None


@pytest.mark.parametrize("key", ["delta.constraints.a", "Delta.Constraints.a"])
def test_constraints_are_looked_at_however_they_are_spelled(key: str) -> None:
    metadata = msgspec.structs.replace(commits.metadata(), configuration={key: "f(1) > 0"})

    with pytest.raises(InvalidRequest, match="CHECK constraint 'a'"):
        stored_expressions.check_new_expressions(metadata)


@pytest.mark.parametrize("said", [5, "[1]", "{}", '{"expression":{"expression":5}}', "[" * 5_000])
def test_an_invariant_that_is_none_is_refused_by_name(said: object) -> None:
    with pytest.raises(InvalidRequest, match="not stored as an invariant is"):
        stored_expressions.check_invariant(said, "c")


@pytest.mark.parametrize("key", ["delta.generationExpression", "CURRENT_DEFAULT"])
def test_text_that_is_no_text_is_refused(key: str) -> None:
    found = stored_expressions.first_breach(commits.metadata(schema(key, [1])))

    assert found is not None
    assert found[1] == "it is no text"


FRAGMENTS = st.sampled_from(
    [*" \n.,()[]'\"`\\-/*r$;", "abs", "reflect", "'a'", "`b`", "in", "case", "then", "--", "/*", "1"]
)


@given(st.lists(FRAGMENTS, max_size=12).map("".join))
def test_nothing_is_called_by_name_that_is_not_allowed(text: str) -> None:
    """However it is put together: outside of quotes no name before a parenthesis is that of reflect."""
    hostile = f"{text} reflect('a')"

    why = stored_expressions.expression_breach(hostile, ExpressionPlace.CONSTRAINT)
    assert why is not None or text.count("'") % 2 or text.count('"') % 2


def test_a_function_has_one_row() -> None:
    names = [name for row in FUNCTION_GROUPS for name in row.names]

    assert len(names) == len(set(names))
    assert all(name == name.lower() for name in names)
    assert not any(
        sql_functions.is_allowed(name, place) for name in ("reflect", "") for place in ExpressionPlace
    )


@pytest.mark.parametrize("call", ["int(", "struct(", "array[", "date("])
def test_deep_text_is_not_given_to_a_parser_that_tries_everything(call: str) -> None:
    deep = call * 60 + "a" + ("]" if "[" in call else ")") * 60

    assert expression_columns.top_level_columns(deep) is None
    assert expression_columns.top_level_columns(deep.replace(call, "(") + " ?") is None
