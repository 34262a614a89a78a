"""How often is the database asked? A ceiling for each thing that is done all the time: a server lives on it.

Every statement is a round trip on PostgreSQL, and Python's work around it everywhere. A ceiling may be
lowered; who raises one should know why.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import TableName
from headgate.clock import SystemWorld
from headgate.errors import TableNotFound
from headgate.lake.lake import Lake
from headgate.settings import Publish, Settings
from tests.support.tables import append_change, create_managed, named_file

ON_DEMAND = Settings(publish=Publish.ON_DEMAND, opening_seconds=60)
NAMES = [TableName("s", f"t{number}") for number in range(20)]


@contextmanager
def statements(catalog: Catalog) -> Iterator[list[str]]:
    """What the database is asked meanwhile."""
    heard: list[str] = []

    def hear(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        heard.append(statement)

    engine = catalog._database._engine
    event.listen(engine, "before_cursor_execute", hear)
    try:
        yield heard
    finally:
        event.remove(engine, "before_cursor_execute", hear)


@pytest.fixture
def lake(catalog: Catalog) -> Lake:
    for name in NAMES:
        create_managed(catalog, name)
    return Lake(catalog, settings=ON_DEMAND, world=SystemWorld())


def locks(catalog: Catalog, count: int) -> int:
    """The statements that hold rows, which SQLite needs none of."""
    return 0 if catalog._database.has_one_writer else count


def append(lake: Lake, name: TableName, path: str) -> None:
    table = lake.table(str(name)).log
    table.commit(append_change(named_file(path)), base=table.newest_known())


def group(lake: Lake, path: str, names: list[TableName]) -> None:
    with lake.transaction([str(name) for name in names]) as tx:
        for name in names:
            table = tx.table(str(name)).log
            table.commit(append_change(named_file(path)), base=table.newest_known())


def test_opening_a_published_table_is_one_statement(catalog: Catalog, lake: Lake) -> None:
    with statements(catalog) as heard:
        lake.table("s.t0")

    assert len(heard) == 1, heard


def test_opening_one_with_commits_to_publish_is_two(catalog: Catalog, lake: Lake) -> None:
    append(lake, NAMES[0], "a")

    with statements(catalog) as heard:
        lake.table("s.t0")

    assert len(heard) == 2, heard


def test_the_first_append_of_a_handle_opens_and_commits_in_five(catalog: Catalog, lake: Lake) -> None:
    append(lake, NAMES[0], "a")

    with statements(catalog) as heard:
        append(lake, NAMES[0], "b")

    assert len(heard) <= 5 + locks(catalog, 1), heard


def test_another_append_is_three(catalog: Catalog, lake: Lake) -> None:
    table = lake.table("s.t0").log
    table.commit(append_change(named_file("a")), base=table.newest_known())

    with statements(catalog) as heard:
        table.commit(append_change(named_file("b")), base=table.newest_known())

    assert len(heard) <= 3 + locks(catalog, 1), heard


@pytest.mark.parametrize("size", [2, 20])
def test_a_group_takes_as_many_however_many_tables_it_has(catalog: Catalog, lake: Lake, size: int) -> None:
    group(lake, "a", NAMES[:size])  # until then nobody knows how the tables are partitioned

    with statements(catalog) as heard:
        group(lake, "b", NAMES[:size])

    assert len(heard) <= 8 + locks(catalog, 1), heard


@pytest.fixture
def stranger(catalog: Catalog, lake: Lake) -> Catalog:
    """Who may read one of the tables, and nothing else."""
    catalog.granting.grant("READ", "s.t0", "ada")
    return catalog.acting_as("ada")


def test_what_somebody_may_not_see_costs_no_statement_each(
    catalog: Catalog, lake: Lake, stranger: Catalog
) -> None:
    """T10: who may do next to nothing must not be able to keep a large lake busy."""
    for number in range(30):
        append(lake, NAMES[1], f"hidden{number}")
    catalog.events.newest()

    for ask in (
        lambda: stranger.events.after(0, limit=1),
        lambda: stranger.events.after(0),
        stranger.tables,
        lambda: stranger.tables("s"),
        stranger.dropped,
    ):
        with statements(catalog) as heard:
            ask()
        assert len(heard) <= 4, heard


@pytest.mark.parametrize("hidden", ["s.t1", "s.t2"])
def test_a_hidden_table_takes_as_many_statements_as_a_missing_one(
    catalog: Catalog, stranger: Catalog, hidden: str
) -> None:
    """T14: neither the answer nor what it took tells them apart."""
    counts = []
    for name in (hidden, "s.none"):
        schema, _, table = name.partition(".")
        with statements(catalog) as heard:
            for ask in (
                stranger.resolve,
                stranger.load,
                lambda each: stranger.resolve_all([each]),
                lambda each: stranger.pin([each]),
            ):
                with pytest.raises(TableNotFound):
                    ask(TableName(schema, table))
        counts.append(heard)

    assert len(counts[0]) == len(counts[1])
