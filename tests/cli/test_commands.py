"""The commands that need no Spark, as text and as JSON."""

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

import headgate
from headgate.cli.main import app
from headgate.table.transaction import Change, Operation
from tests.support.lakes import build_lake


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    build_lake(tmp_path / "lake")
    return tmp_path / "lake"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def answer(*arguments: str | Path) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_version_is_the_package_version() -> None:
    assert run("--version").stdout == f"headgate {headgate.__version__}\n"


def test_tables_in_a_pipe_are_plain_aligned_lines(lake: Path) -> None:
    result = run("tables", "--lake", lake)

    head, orders, stock = result.stdout.splitlines()
    assert result.exit_code == 0
    assert head.split() == [
        "table",
        "version",
        "published",
        "rows",
        "files",
        "size",
        "last",
        "commit",
        "(UTC)",
    ]
    assert orders.split()[:5] == ["sales.orders", "2", "0", "5", "2"]
    assert stock.split()[:5] == ["sales.stock", "0", "0", "0", "0"]
    assert result.stdout.isascii()  # neither boxes nor escape codes


def test_tables_as_json_say_what_the_catalog_holds(lake: Path) -> None:
    orders, stock = answer("tables", "--lake", lake)

    assert orders["name"] == "sales.orders"
    assert (orders["version"], orders["numRows"], orders["numFiles"]) == (2, 5, 2)
    assert orders["catalog"] == {"ratified": 2, "published": 0, "inline": 1, "staged": 1}
    assert Path(orders["location"]).is_dir()
    assert stock["sizeInBytes"] == 0


def test_tables_can_be_of_one_schema(lake: Path) -> None:
    assert [table["name"] for table in answer("tables", "sales", "--lake", lake)] == [
        "sales.orders",
        "sales.stock",
    ]
    with headgate.connect(lake) as opened:
        opened.create_schema("other")
    assert answer("tables", "other", "--lake", lake) == []


def test_an_empty_lake_says_how_to_make_a_table(tmp_path: Path) -> None:
    headgate.connect(tmp_path).close()

    assert "lake.create_table(" in run("tables", "--lake", tmp_path).stdout


def test_history_is_newest_first_and_says_where_each_commit_is(lake: Path) -> None:
    lines = run("history", "sales.orders", "--lake", lake).stdout.splitlines()

    assert [line.split()[0] for line in lines] == ["version", "2", "1", "0"]
    assert [line.split()[-1] for line in lines[1:]] == ["staged", "inline", "published"]
    assert "WRITE (Append)" in lines[1]


def test_history_tells_what_a_delete_and_an_optimize_did(lake: Path) -> None:
    with headgate.connect(lake) as opened:
        table = opened.table("sales.orders").log
        for operation, metrics in (
            ("DELETE", {"numDeletedRows": "1200", "numAddedFiles": "1", "numRemovedFiles": "2"}),
            ("OPTIMIZE", {"numAddedFiles": "1", "numRemovedFiles": "8"}),
            ("WRITE", {"numOutputRows": "1000", "numFiles": "3"}),
        ):
            table.commit(Change(Operation(operation, metrics=metrics), ()), base=table.snapshot())

    lines = run("history", "sales.orders", "--lake", lake).stdout.splitlines()

    assert lines[1].split()[3:6] == ["WRITE", "1,000", "3"]
    assert "1,200 deleted  1 added, 2 removed" in lines[3]
    assert lines[2].split()[3:9] == ["OPTIMIZE", "–", "1", "added,", "8", "removed"]


def test_history_as_json_has_deltas_names_and_a_limit(lake: Path) -> None:
    (newest,) = answer("history", "sales.orders", "--limit", "1", "--lake", lake)

    assert newest["version"] == 2
    assert newest["operation"] == "WRITE"
    assert newest["operationParameters"]["mode"] == "Append"
    assert newest["commit"] == "staged"
    assert newest["timestamp"].endswith("Z")


def test_show_tells_columns_protocol_and_place(lake: Path) -> None:
    text = run("show", "sales.orders", "--lake", lake).stdout

    for part in ("sales.orders", "catalogManaged", "delta.enableInCommitTimestamps=true", "writer", "BIGINT"):
        assert part in text
    assert "up to version 0; the catalog holds 1 inline and 1 staged commit\n" in text
    assert str(lake) in text


def test_show_as_json_is_complete(lake: Path) -> None:
    shown = answer("show", "sales.orders", "--lake", lake)

    assert shown["table"]["numRows"] == 5
    assert shown["columns"][0] == {"name": "id", "type": "BIGINT", "nullable": True, "comment": None}
    assert (shown["minReaderVersion"], shown["minWriterVersion"]) == (3, 7)
    assert "inCommitTimestamp" in shown["tableFeatures"]
    assert shown["sample"] is None


def test_show_has_the_first_rows_without_a_jvm(tmp_path: Path) -> None:
    with headgate.connect(tmp_path / "lake") as opened:
        opened.create_schema("s")
        table = opened.create_table(
            "s.t", "id BIGINT, n DECIMAL(10,2), at TIMESTAMP, b BINARY, m MAP<INT, DOUBLE>, d DATE"
        )
        moment = datetime(2026, 1, 31, 12, tzinfo=UTC)
        row = {
            "id": 1,
            "n": Decimal("1.50"),
            "at": moment,
            "b": b"x",
            "m": {5: math.nan},
            "d": date(2026, 1, 31),
        }
        table.append([row, {}, row])

    before = SparkSession.getActiveSession()
    shown = answer("show", "s.t", "--rows", "2", "--lake", tmp_path / "lake")
    text = run("show", "s.t", "--rows", "2", "--lake", tmp_path / "lake").stdout

    assert shown["sample"] == [
        {"id": 1, "n": 1.5, "at": "2026-01-31T12:00:00Z", "b": "eA==", "m": {"5": "nan"}, "d": "2026-01-31"},
        dict.fromkeys(row),
    ]
    assert "1.50" in text
    assert "2 of 3 rows" in text
    assert SparkSession.getActiveSession() is before


def test_publish_says_what_it_published(lake: Path) -> None:
    first = run("publish", "--lake", lake).stdout.splitlines()
    again = run("publish", "sales.orders", "--lake", lake).stdout

    assert first[0] == "sales.orders  published versions 1 to 2"
    assert first[1].startswith("sales.stock   nothing to publish")
    assert again.startswith("sales.orders  nothing to publish: version 2")
    (orders, _) = answer("tables", "--lake", lake)
    assert len(list(Path(orders["location"], "_delta_log").glob("*.json"))) == 3


def test_the_lake_may_come_from_the_environment(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_LAKE", str(lake))

    assert len(answer("tables")) == 2


def test_a_table_that_cannot_be_read_does_not_hide_the_others(lake: Path) -> None:
    damaged = next(found for found in answer("tables", "--lake", lake) if found["name"] == "sales.stock")
    (Path(damaged["location"]) / "_delta_log" / "00000000000000000000.json").unlink()

    orders, stock = answer("tables", "--lake", lake)

    assert (orders["numRows"], orders.get("problem")) == (5, None)
    assert (stock["version"], stock["numRows"]) == (0, None)
    assert "version 0 is missing" in stock["problem"]
    assert "sales.stock cannot be read" in run("tables", "--lake", lake).stdout


def test_show_tells_the_metadata_domains(lake: Path) -> None:
    with headgate.connect(lake) as opened:
        opened.table("sales.orders").change_domains({"acme.owner": "sales", "acme.mark": '{"offset":17}'})

    text, told = run("show", "sales.orders", "--lake", lake), answer("show", "sales.orders", "--lake", lake)

    assert 'acme.owner=sales, acme.mark={"offset":17}' in text.stdout
    assert told["domains"] == {"acme.owner": "sales", "acme.mark": '{"offset":17}'}
    assert answer("show", "sales.stock", "--lake", lake)["domains"] == {}
