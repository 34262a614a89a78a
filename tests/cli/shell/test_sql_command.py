"""``headgate sql`` without a terminal, as far as no Spark is needed."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

import headgate
from headgate.catalog.embedded import open_catalog
from headgate.cli import session
from headgate.cli.main import app
from headgate.cli.shell.meta_commands import META_COMMANDS
from headgate.sql.run.commands.without_spark import PlainSelect, read_plain_select
from tests.support.shared_server import served
from tests.support.snapshots import check_snapshot


@contextmanager
def _no_session() -> Iterator[Callable[[], SparkSession]]:
    def refuse() -> SparkSession:
        raise AssertionError("Spark is started")

    yield refuse


@pytest.fixture(autouse=True)
def _without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "lazy_session", _no_session)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sql") / "lake"
    with headgate.connect(folder) as made:
        made.create_schema("sales")
        orders = made.create_table(
            "sales.orders", "id BIGINT NOT NULL, sku STRING COMMENT 'what', n DECIMAL(5, 2)"
        )
        orders.append([{"id": 1, "sku": "a", "n": 2}, {"id": 2, "sku": None, "n": None}])
        made.create_table("sales.stock", "sku STRING, left_over INT")
    return folder


def run(*arguments: str | Path, given: str | None = None) -> Result:
    return CliRunner().invoke(app, ["sql", *map(str, arguments)], input=given)


def rows(lake: Path, statement: str) -> Any:
    result = run("--lake", lake, "--json", "-c", statement)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["rows"]


def test_help_is_as_it_was_read() -> None:
    check_snapshot("sql/help.txt", run("--help").stdout)


def test_the_commands_are_listed_from_their_rows(lake: Path) -> None:
    text = run("--lake", lake, "-c", "\\?").stdout

    check_snapshot("sql/commands.txt", text)
    assert all(command.form in text for command in META_COMMANDS)


def test_answers_stand_under_headings(lake: Path) -> None:
    result = run("--lake", lake, "-c", "SELECT * FROM sales.orders LIMIT 5; SHOW TABLES")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "id  sku      n",
        " 1  a     2.00",
        " 2  NULL  NULL",
        "(2 rows)",
        "namespace  tableName  isTemporary",
        "sales      orders     false",
        "sales      stock      false",
        "(2 rows)",
    ]


def test_each_statement_is_a_line_of_json(lake: Path) -> None:
    result = run("--lake", lake, "--json", "-c", "SELECT * FROM sales.orders LIMIT 5;\nSHOW SCHEMAS")

    first, second = (json.loads(line) for line in result.stdout.splitlines())
    check_snapshot("sql/answer.json", json.dumps({**first, "seconds": 0.0}, indent=2) + "\n")
    assert (second["number"], second["line"], second["rows"]) == (2, 2, [{"namespace": "sales"}])


def test_statements_come_from_files_and_pipes(lake: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text("SHOW SCHEMAS;\n\\x\nSHOW SCHEMAS;\n")

    from_file, from_pipe = run("--lake", lake, "-f", script), run("--lake", lake, given=script.read_text())

    assert from_file.stdout == from_pipe.stdout
    assert "-[ row 1 ]-\nnamespace  sales\n" in from_file.stdout


def test_a_batch_ends_at_the_statement_that_fails_and_says_which(lake: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text("SHOW SCHEMAS;\n\nSELECT *\nFROM sales.nothing LIMIT 1;\nSHOW TABLES;\n")

    result = run("--lake", lake, "-f", script)

    assert result.exit_code == 3
    assert "tableName" not in result.stdout
    assert "error: there is no table sales.nothing" in result.stderr
    assert "code: DELTA_TABLE_NOT_FOUND" in result.stderr
    said = result.stderr.splitlines()[-1]
    assert said.startswith(f"statement 2, line 3 of {script}, failed, and nothing after it was run: SELECT *")


def test_a_file_that_is_not_there_is_named(lake: Path) -> None:
    result = run("--lake", lake, "-f", "nowhere.sql")

    assert (result.exit_code, "there is no file 'nowhere.sql'" in result.stderr) == (3, True)


def test_a_limit_says_that_there_is_more(lake: Path) -> None:
    result = run("--lake", lake, "--limit", "1", "-c", "SELECT * FROM sales.orders")
    as_json = json.loads(
        run("--lake", lake, "--json", "--limit", "1", "-c", "SELECT * FROM sales.orders").stdout
    )

    assert result.stdout.splitlines()[-1] == "(the first 1 row; \\limit 0 or --limit 0 shows all)"
    assert (as_json["rowCount"], as_json["truncated"]) == (1, True)


def test_what_describes_a_table_starts_no_spark(lake: Path) -> None:
    assert rows(lake, "DESCRIBE sales.orders")[1] == {
        "col_name": "sku",
        "data_type": "string",
        "comment": "what",
    }
    assert rows(lake, "SHOW COLUMNS IN sales.stock") == [{"col_name": "sku"}, {"col_name": "left_over"}]
    assert rows(lake, "SHOW TABLES IN sales LIKE 'st*'")[0]["tableName"] == "stock"
    assert "CREATE TABLE sales.stock" in rows(lake, "SHOW CREATE TABLE sales.stock")[0]["createtab_stmt"]
    assert rows(lake, "SHOW TBLPROPERTIES sales.stock ('no')")[0]["value"].endswith(
        "does not have property: no"
    )
    assert rows(lake, "SHOW DOMAINS sales.stock") == []


def test_a_schema_that_is_not_there_is_told(lake: Path) -> None:
    result = run("--lake", lake, "-c", "SHOW TABLES IN nowhere")

    assert (result.exit_code, "code: SCHEMA_NOT_FOUND" in result.stderr) == (3, True)


def test_commands_describe_the_lake(lake: Path) -> None:
    lines = run("--lake", lake, given="\\d\n\\d sales.orders\n\\dn\n\\dt sales.st*\n\\l\n").stdout

    assert "sales   orders" in lines
    assert "id      bigint        no" in lines
    assert "sku     string        yes   what" in lines
    assert "table       sales.orders, version 1" in lines
    assert "sales        2" in lines
    assert "(1 table)" in lines
    assert f"lake       {lake}" in lines


def test_help_with_statements_is_generated_from_the_grammar(lake: Path) -> None:
    assert "RETAIN n HOURS" in run("--lake", lake, "-c", "\\h vacuum").stdout
    assert "OPTIMIZE" in run("--lake", lake, "-c", "\\h").stdout
    assert run("--lake", lake, "-c", "\\h nothing like it").exit_code == 1


def test_answers_go_to_a_file_and_back(lake: Path, tmp_path: Path) -> None:
    target = tmp_path / "answers.txt"

    result = run("--lake", lake, given=f"\\o {target}\nSHOW SCHEMAS;\n\\o\nSHOW SCHEMAS;\n")

    assert target.read_text() == result.stdout == "namespace\nsales\n(1 row)\n"


def test_a_file_runs_another(lake: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner.sql"
    inner.write_text("SHOW SCHEMAS;\nSELECT * FROM no.such LIMIT 1;\n")

    result = run("--lake", lake, given=f"\\i {inner}\nSHOW SCHEMAS;\n")

    assert (result.exit_code, result.stdout) == (3, "namespace\nsales\n(1 row)\n")
    assert f"in {inner}, line 2" in result.stderr


def test_an_unknown_command_is_told_what_was_meant(lake: Path) -> None:
    result = run("--lake", lake, "-c", "\\timin")

    assert result.exit_code == 1
    assert "there is no command \\timin: did you mean 'timing'" in result.stderr


def test_timing_is_said_and_leaving_ends_a_batch_well(lake: Path) -> None:
    result = run("--lake", lake, given="\\timing on\nSHOW SCHEMAS;\n\\q\nSHOW TABLES;\n")

    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].endswith(" s")
    assert "tableName" not in result.stdout


def test_a_value_does_not_steer_the_terminal(tmp_path: Path) -> None:
    with headgate.connect(tmp_path) as made:
        made.create_schema("s")
        made.create_table("s.t", "a STRING").append([{"a": "red \x1b[31m\nnext\u009b"}])

    shown = run("--lake", tmp_path, "-c", "SELECT * FROM s.t LIMIT 1").stdout

    assert shown.splitlines()[1] == "red \\x1b[31m\\nnext\\x9b"


def test_a_lake_behind_a_server_is_asked_alike(lake: Path) -> None:
    script = "SHOW TABLES; SELECT * FROM sales.orders LIMIT 5; DESCRIBE sales.orders"
    with closing(open_catalog(lake)) as catalog, served(catalog) as url:
        behind = run("--lake", url, "-c", script)
        place = run("--lake", url, "-c", "\\l")

    assert behind.exit_code == 0, behind.output
    assert behind.stdout == run("--lake", lake, "-c", script).stdout
    assert f"lake       {url}\n" in place.stdout


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("SELECT * FROM sales.orders", PlainSelect("sales.orders", None)),
        ("select * from `sales`.orders limit 7;", PlainSelect("sales.orders", 7)),
        ("SELECT * FROM sales.orders LIMIT 7 -- few", PlainSelect("sales.orders", 7)),
        ("SELECT * FROM orders", None),
        ("SELECT * FROM main.sales.orders", None),
        ("SELECT id FROM sales.orders LIMIT 1", None),
        ("SELECT * FROM sales.orders WHERE id = 1", None),
        ("SELECT * FROM sales.orders VERSION AS OF 1", None),
        ("SELECT * FROM sales.orders ORDER BY id LIMIT 1", None),
        ("SELECT * FROM sales.orders LIMIT 1 + 1", None),
        ("SELECT * FROM sales.orders LIMIT -1", None),
        ("SELECT * FROM sales.orders, sales.stock", None),
        ("SELECT * FROM sales.orders o", None),
        ("WITH a AS (SELECT 1) SELECT * FROM sales.orders", None),
    ],
)
def test_only_the_plainest_select_is_read_without_spark(statement: str, read: PlainSelect | None) -> None:
    assert read_plain_select(statement) == read
