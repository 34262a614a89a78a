"""``headgate sql`` with Spark: what it answers, transactions, errors and Ctrl-C."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

import headgate
from headgate.cli import session
from headgate.cli.main import app
from headgate.cli.shell.engine import SparkStarter, StatementEngine
from tests.conftest import ON_CONNECT

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def _shared_session(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def shared() -> Iterator[Callable[[], SparkSession]]:
        yield lambda: spark

    monkeypatch.setattr(session, "lazy_session", shared)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    with headgate.connect(tmp_path / "lake") as made:
        made.create_schema("sales")
        made.create_table("sales.orders", "id BIGINT, sku STRING").append([{"id": 1, "sku": "a"}])
    return tmp_path / "lake"


def run(*arguments: str | Path, given: str | None = None) -> Result:
    return CliRunner().invoke(app, ["sql", *map(str, arguments)], input=given)


def test_rows_are_changed_and_read(lake: Path) -> None:
    query = "SELECT id, count(*) OVER () AS n FROM sales.orders ORDER BY id"

    result = run("--lake", lake, "-c", f"INSERT INTO sales.orders VALUES (2, 'b'); {query}")

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-4:] == ["id  n", " 1  2", " 2  2", "(2 rows)"]


def test_every_type_of_spark_is_shown(lake: Path) -> None:
    statement = (
        "SELECT parse_json('{\"a\": 1}') AS v, INTERVAL 3 MONTH AS i, array(1.50BD) AS l, "
        "map('k', DATE'2026-01-31') AS m, named_struct('x', TIMESTAMP'2026-01-31 12:00:00Z') AS s, "
        "X'0102' AS b, 1 AS one, 2 AS one, NULL AS no"
    )

    result = run("--lake", lake, "--json", "-c", statement)

    found = json.loads(result.stdout)
    assert found["rows"] == [
        {"v": '{"a":1}', "i": "INTERVAL '3' MONTH", "l": [1.5], "m": {"k": "2026-01-31"},
         "s": {"x": "2026-01-31T12:00:00Z"}, "b": "AQI=", "one": 1, "one_2": 2, "no": None}
    ]  # fmt: skip
    assert [column["name"] for column in found["columns"]][-3:] == ["one", "one_2", "no"]


def test_a_plan_is_shown_as_its_lines(lake: Path) -> None:
    lines = run("--lake", lake, "-c", "EXPLAIN SELECT 1").stdout.splitlines()

    assert lines[0] == "== Physical Plan =="


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("SELEC 1", "PARSE_SYNTAX_ERROR"),
        ("SELECT nothing FROM sales.orders", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("SELECT CAST(sku AS INT) FROM sales.orders", "CAST_INVALID_INPUT"),
    ],
)
def test_an_error_of_spark_is_a_cause_and_a_code(lake: Path, statement: str, code: str) -> None:
    result = run("--lake", lake, "-c", f"SELECT 1; {statement}; SELECT 'not run'")

    assert result.exit_code == 1
    assert f"code: {code}\n" in result.stderr
    assert "statement 2, line 1, failed" in result.stderr
    assert "not run\n" not in result.stdout
    assert not any(noise in result.stderr for noise in ("Traceback", "JVM", "Project", "at org."))


def test_several_tables_change_together(lake: Path) -> None:
    result = run("--lake", lake, given="BEGIN;\nINSERT INTO sales.orders VALUES (2, 'b');\nCOMMIT;\n")

    assert result.exit_code == 0, result.output
    assert "sales.orders        2" in result.stdout


def test_a_transaction_that_is_not_ended_is_rolled_back_with_a_word(lake: Path) -> None:
    result = run("--lake", lake, given="BEGIN;\nINSERT INTO sales.orders VALUES (2, 'b');\n")

    assert result.exit_code == 1
    assert "the transaction was not committed, and is rolled back" in result.stderr
    with headgate.connect(lake) as found:
        assert found.table("sales.orders").to_arrow().num_rows == 1


@pytest.mark.skipif(bool(os.environ.get(ON_CONNECT)), reason="jobs are seen by the SparkContext")
def test_ctrl_c_cancels_the_statement_and_the_next_one_runs(lake: Path, spark: SparkSession) -> None:
    tracker = spark.sparkContext.statusTracker()

    def interrupt_when_it_runs() -> None:
        while not tracker.getActiveJobsIds():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    with headgate.connect(lake) as opened, StatementEngine(opened, SparkStarter(lambda: spark)) as engine:
        pressing = threading.Thread(target=interrupt_when_it_runs, daemon=True)
        pressing.start()
        with pytest.raises(KeyboardInterrupt):
            engine.run("SELECT sum(hash(id)) FROM range(1000000000000000)", None)
        pressing.join()

        assert engine.run("SELECT 1 AS one", None).plain_rows() == [{"one": 1}]
