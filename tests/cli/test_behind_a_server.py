"""The same commands on a lake behind HTTP: by its address and a token, or refused with the reason."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from headgate.catalog.embedded import open_catalog
from headgate.cli.answers.command_outputs import SHAPES
from headgate.cli.command_row import leaf_commands
from headgate.cli.lazy_commands import COMMANDS
from headgate.cli.main import app
from tests.cli.test_snapshots import check_shape
from tests.support import shared_server
from tests.support.lakes import build_lake
from tests.support.serve_process import serve_process
from tests.support.waiting import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served") / "lake"
    build_lake(folder)
    with closing(open_catalog(folder)) as catalog, shared_server.served(catalog) as served:
        yield served
    shared_server.stop()


def run(address: str, line: str) -> Result:
    return CliRunner().invoke(app, [*line.split(), "--lake", address])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("table list", "sales.orders"),
        ("table show sales.orders", "version"),
        ("table history sales.orders", "WRITE"),
        ("table rows sales.orders --limit 2", "2 of 5 rows"),
        ("commit list sales.orders", "owner"),
        ("commit show sales.orders 1", "1 added"),
        ("schema create web", "is made"),
        ("schema list", "web"),
        ("domain set sales.stock shop.loaded 7", "shop.loaded"),
        ("domain get sales.stock shop.loaded", "7"),
        ("table rename sales.stock web.stock", "is called web.stock"),
        ("event list", "create"),
        ("grant READ --to ann", "ann has READ"),
        ("grant list", "ann"),
        ("token list", "no token is good"),
        ("maintenance list sales.orders", "data cleanup"),
        ("worker run --once", "sales.orders"),
        ("table publish", "nothing to publish"),
        ("check sales.orders", "whole"),
        ("config show", "http://"),
    ],
    ids=lambda each: each if " " in each else None,
)
def test_a_command_works_behind_a_server(address: str, line: str, said: str) -> None:
    result = run(address, line)

    assert result.exit_code == 0, result.output
    assert said in result.stdout


DATABASE_ONLY = {words for words, row in leaf_commands(COMMANDS) if row.database_only and not row.instead}
REFUSED = ("recover --dry-run", "server run", "txn list", "txn show x")


def test_every_command_that_takes_the_database_is_tried() -> None:
    tried = {words for words in DATABASE_ONLY for line in REFUSED if line.startswith(words)}

    assert len(tried) == len(REFUSED)
    assert tried == DATABASE_ONLY - {"demo"}, "which takes a folder, and makes it"


@pytest.mark.parametrize("line", REFUSED)
def test_what_takes_the_database_says_so(address: str, line: str) -> None:
    result = run(address, line)

    assert result.exit_code == 1
    assert "works on the database of a lake" in result.stderr
    assert "HEADGATE_NEEDS_DATABASE" in result.stderr


def test_a_token_opens_a_server_that_asks_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_lake(tmp_path / "lake")
    for variable in ("HEADGATE_TOKEN", "HEADGATE_TOKEN_FILE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with serve_process(str(tmp_path / "lake"), tmp_path) as server:
        refused = run(server.url, "table list")
        monkeypatch.setenv("HEADGATE_TOKEN_FILE", str(tmp_path / "lake" / "admin-token"))
        answered = run(server.url, "table list")
        assert server.stop() == 0

    assert refused.exit_code == 4
    assert "fix: set HEADGATE_TOKEN" in refused.stderr
    assert answered.exit_code == 0, answered.output
    assert "sales.orders" in answered.stdout


def test_a_server_that_listens_says_so_on_a_line_of_json(tmp_path: Path) -> None:
    build_lake(tmp_path / "lake")
    command = [sys.executable, "-c", "from headgate.cli.main import app; app()", "server", "run", "lake"]
    with subprocess.Popen(
        [*command, "--port", "0", "--no-auth", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        code = process.wait(PATIENCE_SECONDS)

    check_shape(next(shape for shape in SHAPES if shape.command == "server run"), line)
    assert json.loads(line)["lakes"] == ["main"]
    assert code == 0
