"""The recipes for other engines do what their page says: its statements are run, by the engine itself."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.directory import TableName
from tests.support import foreign_process, served_tables
from tests.support.foreign_environments import DUCKDB, SAIL
from tests.support.http_server import serving

pytestmark = pytest.mark.interop

ROOT = Path(__file__).parents[2]
CHILDREN = ROOT / "tests" / "support"
PAGE = (ROOT / "docs" / "how-to" / "other-engines.md").read_text()
LAKE = "demo"


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(open_catalog(tmp_path / "lake")) as opened:
        served_tables.create_served(opened, TableName("sales", "orders"))
        yield opened


def recipe(heading: str, url: str) -> list[str]:
    """The statements below a heading of the page, for this server."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    statements = re.search(r"^```sql\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    assert statements is not None
    return [part for part in statements[1].replace("http://localhost:8080", url).split(";") if part.strip()]


def test_the_recipe_for_duckdb(catalog: Catalog, tmp_path: Path) -> None:
    with serving(catalog, name=LAKE) as url:
        command = [DUCKDB.require(), CHILDREN / "duckdb_child.py", url, LAKE, "sales", "secret"]
        with foreign_process.started(command, tmp_path / "log") as engine:
            rows = engine.ask({"statements": recipe("DuckDB", url), "bare": True})

    assert rows == [[1, "duckdb"]]
    assert [str(entry.name) for entry in catalog.tables()] == ["sales.orders"]


def test_the_recipe_for_sail(catalog: Catalog, tmp_path: Path) -> None:
    with serving(catalog, name=LAKE) as url:
        command = [SAIL.require(), CHILDREN / "sail_child.py", url, LAKE, "secret"]
        with foreign_process.started(command, tmp_path / "log") as engine:
            told = [engine.run(statement) for statement in recipe("Sail", url)]

    assert told[3:5] == [[(2,)], [(1,), (2,)]]
    assert [str(entry.name) for entry in catalog.dropped()] == ["sales.returns"]
