"""What it costs to list events does not grow with the commits that were listed long ago."""

from pathlib import Path

from headgate.catalog.store import event_store
from tests.support.catalogs import a_catalog
from tests.support.proposals import inline
from tests.support.tables import create_managed


def test_commits_are_looked_up_by_table_and_never_all_read(tmp_path: Path) -> None:
    with a_catalog("sqlite", tmp_path) as catalog, catalog._database.reading() as db:
        text = str(event_store._NEXT.compile(db.engine, compile_kwargs={"literal_binds": True}))
        plan = [row.detail for row in db.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}")]

    assert any(step.startswith("SEARCH commits USING INDEX") and "version>?" in step for step in plan)
    assert not [step for step in plan if step.startswith("SCAN commits")]


def test_who_asks_for_the_newest_event_writes_nothing_if_all_are_listed(tmp_path: Path) -> None:
    with a_catalog("sqlite", tmp_path) as catalog:
        table = create_managed(catalog)
        catalog.propose(inline(table.table_id, 1, "t"))
        newest = catalog.events.newest()
        before = catalog._database.writes

        assert catalog.events.newest() == newest > 0
        assert catalog._database.writes == before
