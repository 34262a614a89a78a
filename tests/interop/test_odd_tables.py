"""What others make of tables as some writers leave them: what docs/reference/conformance.md says."""

from pathlib import Path

import deltalake
import duckdb
import pytest

from tests.support import duck
from tests.support.odd_tables import ODD_TABLES, OddTable

PAGE = Path(__file__).parents[2] / "docs/reference/conformance.md"
pytestmark = pytest.mark.interop


def by_deltalake(place: Path) -> list[int]:
    rows = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(str(place)))
    return [row["id"] for row in rows.execute("SELECT id FROM t").read_all().to_struct_array().to_pylist()]


def by_duckdb(place: Path) -> list[int]:
    with duck.connect() as connection:
        return [row[0] for row in connection.sql(f"SELECT id FROM delta_scan('{place}')").fetchall()]


def verdict(found: list[int], table: OddTable) -> str:
    return "rows equal" if tuple(sorted(found)) == table.ids else "other rows"


@pytest.mark.parametrize("table", ODD_TABLES, ids=lambda table: table.name)
def test_the_page_says_what_others_make_of_it(tmp_path: Path, table: OddTable) -> None:
    table.make(tmp_path)
    try:
        theirs = verdict(by_duckdb(tmp_path), table)
    except duckdb.Error:
        theirs = "refused"
    try:
        others = verdict(by_deltalake(tmp_path), table)
    except Exception:  # deltalake's own errors have many classes
        others = "refused"

    assert f"| {table.name} | rows equal | {theirs} | {others} |" in PAGE.read_text()
