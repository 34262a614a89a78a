"""``headgate check``: what it prints, and the status it ends with."""

from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner, Result

import headgate
from headgate.cli.main import app
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from tests.support.lakes import build_lake


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["check", *map(str, arguments)])


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    build_lake(tmp_path / "lake")
    return tmp_path / "lake"


@pytest.fixture
def location(lake: Path) -> Path:
    with headgate.connect(lake) as opened:
        return Path(opened.table("sales.orders").location)


def test_whole_tables_take_a_line_each(lake: Path) -> None:
    result = run("--lake", lake)

    assert result.exit_code == 0
    first, second = result.stdout.splitlines()
    assert first == "sales.orders  whole: version 2, 3 commits, 0 checkpoints, 0 checksums, 2 data files"
    assert second.startswith("sales.stock   whole: version 0, 1 commit,")


def test_damage_is_explained_and_ends_with_status_1(lake: Path, location: Path) -> None:
    (location / "part-0.parquet").unlink()

    result = run("sales.orders", "--lake", lake)

    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith("sales.orders  1 error: version 2")
    assert lines[1] == "  error data-missing (I7) part-0.parquet"
    assert lines[3].startswith("    fix: restore it from a backup")


def test_what_was_repaired_is_said(lake: Path, location: Path) -> None:
    with headgate.connect(lake) as opened:
        opened.table("sales.orders").checkpoint()
    (location / file_names.classic_checkpoint_path(Version(2))).write_bytes(b"damaged")
    assert run("sales.orders", "--lake", lake).exit_code == 1

    result = run("sales.orders", "--lake", lake, "--repair")

    assert result.exit_code == 0
    assert "repaired checkpoint-damaged (I6)" in result.stdout
    assert run("--lake", lake).exit_code == 0


def test_json_has_everything(lake: Path, location: Path) -> None:
    (location / "part-0.parquet").write_bytes(b"")

    (orders, _) = msgspec.json.decode(run("--lake", lake, "--json").stdout)

    (finding,) = orders["findings"]
    assert (finding["rule"], finding["severity"], finding["where"]) == (
        "data-size",
        "error",
        "part-0.parquet",
    )


def test_a_managed_table_by_its_path_says_that_its_catalog_knows_more(lake: Path, location: Path) -> None:
    with headgate.connect(lake) as opened:
        opened.table("sales.orders").publish()

    result = run("--path", location)

    assert result.exit_code == 0
    assert "note managed-elsewhere (I16)" in result.stdout
    assert run("sales.orders", "--path", location).exit_code == 1
