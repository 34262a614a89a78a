"""No statement of a commit looks at more than it is about, however many tables and commits there are."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from headgate.catalog.database.prepared_statements import PreparedStatement
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ratification import multi_table
from headgate.catalog.store import commit_store, loading, name_store, new_commits, opening, table_state

_MODULES = (commit_store, opening, name_store, table_state, new_commits, loading, multi_table)
_SCAN = re.compile(
    r"SCAN (tables|commits|group_members|table_domains|app_transactions|log_hints|transfers)\b"
)


def _prepared(module: ModuleType) -> Iterator[tuple[str, PreparedStatement]]:
    for name, value in vars(module).items():
        if isinstance(value, PreparedStatement):
            yield f"{module.__name__.rpartition('.')[2]}.{name}", value


STATEMENTS = dict(found for module in _MODULES for found in _prepared(module))


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    place: Path = tmp_path_factory.mktemp("lake")
    catalog, found = open_catalog(place), {}
    with catalog._database.reading() as db:
        driver: Any = db.connection.driver_connection
        for name, statement in STATEMENTS.items():
            text = statement._text(db)
            values = [json.dumps(["a", "b"])] * text.sql.count("?")
            rows = driver.execute(f"EXPLAIN QUERY PLAN {text.sql}", values)
            found[name] = "\n".join(row[3] for row in rows)
    catalog.close()
    return found


@pytest.mark.parametrize("name", STATEMENTS)
def test_it_finds_its_rows_by_an_index(plans: dict[str, str], name: str) -> None:
    assert not _SCAN.findall(plans[name]), plans[name]


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_value_that_never_changes_is_no_parameter(plans: dict[str, str], name: str) -> None:
    text = STATEMENTS[name]._texts["sqlite"]

    assert plans
    assert not [value for value in text.constants.values() if isinstance(value, str)]
