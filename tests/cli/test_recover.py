"""``headgate recover``: a lost catalog from the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import headgate
from headgate.cli.main import app
from headgate.errors import CatalogLost
from tests.support import lost
from tests.support.lost import LosableLake


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def lake(tmp_path: Path) -> LosableLake:
    """``sales.orders`` with a version that is published and one that is not; the database is gone."""
    made = LosableLake(tmp_path / "lake")
    with made.connect() as found:
        lost.create_table(found._catalog, "sales.orders")
        table = lost.opened(found, "sales.orders")
        lost.append(table, "x")
        table.publish()
        lost.append(table, "y")
    made.lose()
    return made


@pytest.mark.parametrize("command", [["tables"], ["publish"], ["check"]])
def test_every_command_says_that_the_catalog_is_lost(lake: LosableLake, command: list[str]) -> None:
    result = run(*command, "--lake", lake.folder)

    assert result.exit_code == 1
    assert "HEADGATE_CATALOG_LOST" in result.stderr
    assert "headgate recover" in result.stderr
    assert not (lake.folder / "catalog.sqlite").exists()


def test_a_dry_run_only_tells(lake: LosableLake) -> None:
    result = run("recover", "--lake", lake.folder, "--dry-run")

    assert result.exit_code == 1  # something is lost
    assert "sales.orders  rebuilt, version 1" in result.stdout
    assert "lost: version 2 is in no published file" in result.stdout
    assert "dry run" in result.stdout
    with pytest.raises(CatalogLost):
        lake.connect()


def test_a_recovered_lake_can_be_used(lake: LosableLake) -> None:
    (table,) = json.loads(run("recover", "--lake", lake.folder, "--json").stdout)["tables"]

    assert (table["name"], table["outcome"], table["version"], table["lost"]) == (
        "sales.orders",
        "rebuilt",
        1,
        [2, 2],
    )
    again = run("recover", "--lake", lake.folder)
    assert (again.exit_code, again.stdout.splitlines()[0]) == (0, "sales.orders  unchanged, version 1")
    assert "sales.orders" in run("tables", "--lake", lake.folder).stdout


def test_the_schemas_that_are_made_are_told(lake: LosableLake) -> None:
    with_copy = run("recover", "--lake", lake.folder, "--dry-run")
    done = run("recover", "--lake", lake.folder)

    assert with_copy.stdout.splitlines()[0] == "schemas would be made: sales"
    assert done.stdout.splitlines()[0] == "schemas made: sales"
    assert "schemas" not in run("recover", "--lake", lake.folder).stdout


def test_a_dropped_schema_is_not_brought_back(tmp_path: Path) -> None:
    place = tmp_path / "lake"
    headgate.connect(place).close()
    for words in (["schema", "create", "zed"], ["schema", "drop", "zed"], ["recover"]):
        assert run(*words, "--lake", place).exit_code == 0

    assert json.loads(run("schema", "list", "--lake", place, "--json").stdout) == []


def test_a_folder_without_a_warehouse_is_refused(tmp_path: Path) -> None:
    result = run("recover", "--lake", tmp_path / "nowhere")

    assert result.exit_code == 3
    assert "nothing to recover" in result.stderr
    assert list(tmp_path.iterdir()) == []
