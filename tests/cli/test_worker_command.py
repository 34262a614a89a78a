"""``headgate worker``: once, as a dry run, as JSON, and until it is stopped."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.directory import TableName
from headgate.cli.main import app
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from tests.support.lakes import build_lake
from tests.support.waiting import PATIENCE_SECONDS


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    build_lake(tmp_path / "lake")
    return tmp_path / "lake"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["worker", *map(str, arguments)])


def test_a_dry_run_only_says_what_is_due(lake: Path) -> None:
    first, second = (run(lake, "--dry-run") for _ in range(2))

    assert first.exit_code == 0
    assert first.stdout.splitlines() == [
        "sales.orders  publish: due, versions 1 to 2",
        "sales.orders  checksum: due, version 2",
        "sales.stock  checksum: due, version 0",
    ]
    assert second.stdout == first.stdout


def test_the_argument_counts_more_than_the_variable(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_LAKE", str(lake.parent / "other"))

    assert run(lake, "--dry-run").exit_code == 0
    assert run("--dry-run").exit_code == 3
    assert run("--lake", lake, "--dry-run").exit_code == 0


def test_once_does_what_is_due_and_then_nothing_is(lake: Path) -> None:
    first, second = (run(lake, "--once") for _ in range(2))

    assert "sales.orders  publish: done, versions 1 to 2\n" in first.stdout
    assert (second.exit_code, second.stdout) == (0, "nothing is due\n")


def test_deeds_are_json_for_programs(lake: Path) -> None:
    results = json.loads(run(lake, "--once", "--json").stdout)

    assert results[0] == {
        "subject": "sales.orders",
        "chore": "publish",
        "outcome": "done",
        "detail": "versions 1 to 2",
    }


def test_a_failure_is_told_and_is_the_exit_code(lake: Path) -> None:
    catalog = open_catalog(lake)
    location = catalog.resolve(TableName("sales", "orders")).location
    catalog.close()
    (Path(location) / file_names.published_path(Version(1))).write_bytes(b"stray")

    result = run(lake, "--once")

    assert result.exit_code == 1
    assert "sales.orders  publish: failed" in result.stdout


def test_a_lake_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    result = run(tmp_path / "nothing", "--once")

    assert result.exit_code == 3
    assert not (tmp_path / "nothing").exists()


def test_it_runs_until_it_is_told_to_stop(lake: Path) -> None:
    program = "from headgate.cli.main import app; app()"
    command = [sys.executable, "-u", "-c", program, "worker", str(lake), "--every", "0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "tending" in process.stdout.readline()
        assert process.stdout.readline() == "sales.orders  publish: done, versions 1 to 2\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 0
