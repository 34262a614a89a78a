"""Hostile SQL text in tables is not evaluated by whoever writes to them, and Spark agrees what it calls."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import headgate
from headgate import Lake, Table
from headgate.errors import HeadgateError
from headgate.protocol.metadata import stored_expressions
from headgate.protocol.metadata.sql_functions import FUNCTION_GROUPS, ExpressionPlace
from tests.support.handmade import column, write_log
from tests.support.hostile_sql import ALLOWED, HOSTILE, PROPERTY, RUNS

pytestmark = pytest.mark.spark

HARMFUL = f"{RUNS} IS NULL OR true"
Statement = Callable[[SparkSession, Table], object]
STATEMENTS: dict[str, Statement] = {
    "append": lambda spark, table: table.append(spark.sql("SELECT 1L AS id")),
    "overwrite": lambda spark, table: table.overwrite(spark.sql("SELECT 1L AS id")),
    "merge": lambda spark, table: (
        table.merge(spark.sql("SELECT 9L AS id"), "t.id = s.id")
        .when_not_matched_insert(values={"id": "s.id"})
        .execute()
    ),
}


@pytest.fixture(autouse=True)
def untouched(spark: SparkSession) -> Iterator[None]:
    """No text has run, when all is done."""
    system = spark._jvm.java.lang.System
    system.clearProperty(PROPERTY)
    yield
    assert system.getProperty(PROPERTY) is None


def theirs(folder: Path, stored: str) -> Table:
    """Somebody else's table by its path, with text that runs code in one of its places."""
    invariant = msgspec.json.encode({"expression": {"expression": HARMFUL}}).decode()
    said = {
        "constraint": {},
        "generated": {"delta.generationExpression": RUNS},
        "default": {"CURRENT_DEFAULT": RUNS},
        "invariant": {"delta.invariants": invariant},
    }[stored]
    more = {**column("more", "string"), "metadata": said}
    properties = {"delta_constraints_c": HARMFUL} if stored == "constraint" else {}
    writers = ["checkConstraints", "generatedColumns", "allowColumnDefaults", "invariants", "appendOnly"]
    write_log(folder, [column("id", "long"), more], [], writers=writers, **properties)
    return headgate.at_path(folder)


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("stored", ["constraint", "generated", "default", "invariant"])
def test_whoever_writes_to_a_table_of_others_runs_nothing(
    spark: SparkSession, tmp_path: Path, stored: str, statement: str
) -> None:
    table = theirs(tmp_path / "t", stored)

    with pytest.raises(HeadgateError) as no:
        STATEMENTS[statement](spark, table)

    assert no.value.code == "HEADGATE_UNSAFE_EXPRESSION"
    assert table.version() == 0
    assert table.read().count() == 0


@pytest.mark.parametrize("expression", [HARMFUL, *HOSTILE[1:8]])
def test_a_constraint_is_refused_before_rows_are_looked_at(
    spark: SparkSession, lake: Lake, expression: str
) -> None:
    table = lake.create_table("s.t", "id BIGINT")
    table.append(spark.sql("SELECT 1L AS id"))

    with pytest.raises(HeadgateError) as no:
        table.add_constraint("c", expression)

    assert no.value.code == "HEADGATE_UNSAFE_EXPRESSION"


def test_a_default_says_when(spark: SparkSession, tmp_path: Path) -> None:
    when = {**column("at", "timestamp"), "metadata": {"CURRENT_DEFAULT": "current_timestamp()"}}
    write_log(tmp_path / "t", [column("id", "long"), when], [], writers=["allowColumnDefaults"])
    table = headgate.at_path(tmp_path / "t")

    table.append(spark.sql("SELECT 1L AS id"))

    assert table.read().where("at IS NOT NULL").count() == 1


@pytest.mark.parametrize("text", ALLOWED)
def test_spark_can_parse_what_is_allowed(spark: SparkSession, text: str) -> None:
    assert called(spark, text) is not None


NAMES = frozenset(name for row in FUNCTION_GROUPS for name in row.names)
FRAGMENTS = st.sampled_from(
    (
        *(
            "reflect",
            "abs",
            "id",
            "sum",
            "case",
            "when",
            "then",
            "else",
            "end",
            "in",
            "like",
            "any",
            "all",
            "from",
        ),
        *(
            "exists",
            "map",
            "values",
            "table",
            "with",
            "select",
            "extract",
            "trim",
            "year",
            "interval",
            "date",
            "for",
        ),
        *(
            "cast",
            "as",
            "varchar",
            "is",
            "not",
            "and",
            "or",
            "null",
            "1",
            "1.5",
            "2e3",
            "r",
            "x",
            "IDENTIFIER",
            "over",
        ),
        *(
            "(",
            ")",
            "(",
            ")",
            ",",
            ".",
            "[",
            "]",
            "->",
            "=>",
            "::",
            ":",
            "=",
            "-",
            "+",
            "*",
            "/",
            "<=>",
            "!",
            "|",
        ),
        *(
            "'a'",
            "'\\''",
            '"b"',
            "`c`",
            "'",
            '"',
            "`",
            "\\",
            "--",
            "/*",
            "*/",
            "\n",
            " ",
            " ",
            " ",
            "\u017f",
            "$$",
            ";",
        ),
    )
)
TEXTS = st.lists(FRAGMENTS, min_size=2, max_size=10).map(" ".join) | st.lists(FRAGMENTS, max_size=10).map(
    "".join
)


@settings(max_examples=1_500, suppress_health_check=list(HealthCheck))
@given(TEXTS)
def test_spark_finds_no_call_in_allowed_text_that_is_not_allowed(spark: SparkSession, text: str) -> None:
    """Of what passes, as Spark itself parses it."""
    if stored_expressions.expression_breach(text, ExpressionPlace.CONSTRAINT) is not None:
        return

    assert (called(spark, text) or frozenset()) <= NAMES


def called(spark: SparkSession, text: str) -> frozenset[str] | None:
    """The functions that a text calls, and its queries, by Spark's parser; None if it is no expression."""
    try:
        parsed = spark._jsparkSession.sessionState().sqlParser().parseExpression(text)
    except PySparkException:
        return None
    return frozenset(_names(parsed))


def _names(node: object) -> Iterator[str]:
    kind = node.getClass().getSimpleName()  # type: ignore[attr-defined]  # of the JVM
    if kind == "UnresolvedFunction":
        yield ".".join(part.lower() for part in node.nameParts().mkString("\0").split("\0"))  # type: ignore[attr-defined]
    elif "Subquery" in kind or kind in ("Exists", "ListQuery", "ExpressionWithUnresolvedIdentifier"):
        yield kind
    children = node.children()  # type: ignore[attr-defined]
    for at in range(children.size()):
        yield from _names(children.apply(at))
