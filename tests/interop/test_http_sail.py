"""Sail, by the older Unity Catalog API, beside our client on one table of a served lake."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from headgate.catalog.ports.directory import TableName
from headgate.settings import Settings
from tests.support import foreign_process, served_tables
from tests.support.foreign_environments import SAIL
from tests.support.foreign_process import EngineRefused, ForeignEngine
from tests.support.lossy_http import Loss
from tests.support.served_tables import BOTH, LAKE, NAME, STAGED, ServedTable

pytestmark = pytest.mark.interop

CHILD = Path(__file__).parents[1] / "support" / "sail_child.py"
TABLE = f"{LAKE}.{NAME}"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedTable]:
    with served_tables.served_lake(tmp_path / "lake") as table:
        yield table


@pytest.fixture
def sail(served: ServedTable, tmp_path: Path) -> Iterator[ForeignEngine]:
    command = [SAIL.require(), CHILD, served.url, LAKE, "token"]
    with foreign_process.started(command, tmp_path / "sail.log") as engine:
        yield engine


def insert(sail: ForeignEngine, *ids: int) -> None:
    rows = ", ".join(f"({number}, 'sail')" for number in ids)
    sail.run(f"INSERT INTO {TABLE} VALUES {rows}")


def ids(sail: ForeignEngine, suffix: str = "") -> list[int]:
    return sorted(row[0] for row in sail.run(f"SELECT id FROM {TABLE}{suffix}"))


def test_sail_makes_fills_changes_and_drops_a_table(served: ServedTable, sail: ForeignEngine) -> None:
    sail.run(
        f"CREATE SCHEMA {LAKE}.s2", f"CREATE TABLE {LAKE}.s2.made (id BIGINT, writer STRING) USING DELTA"
    )
    name = TableName("s2", "made")
    made = served.catalog.load(name)

    assert made.tail.description is not None
    assert made.tail.description.metadata.configuration["io.unitycatalog.tableId"] == made.entry.table_id
    assert made.tail.description.protocol.is_catalog_managed
    assert sail.run(f"SELECT id FROM {LAKE}.s2.made") == []
    sail.run(
        f"INSERT INTO {LAKE}.s2.made VALUES (1, 'a'), (2, 'b')", f"DELETE FROM {LAKE}.s2.made WHERE id = 1"
    )
    assert sail.run(f"SELECT id FROM {LAKE}.s2.made") == [(2,)]
    assert served.catalog.tail(made.entry.table_id).latest == 2

    sail.run(f"DROP TABLE {LAKE}.s2.made")
    assert [entry.name for entry in served.catalog.dropped()] == [name]
    sail.run(f"CREATE TABLE {LAKE}.s2.made (id BIGINT) USING DELTA")
    assert served.catalog.resolve(name).table_id != made.entry.table_id
    assert sail.run(f"SELECT id FROM {LAKE}.s2.made") == []


@pytest.mark.parametrize("settings", BOTH.values(), ids=BOTH.keys())
def test_sail_and_our_client_take_turns(served: ServedTable, sail: ForeignEngine, settings: Settings) -> None:
    for number in range(0, 6, 2):
        served.append(number, settings=settings)
        assert ids(sail) == list(range(number + 1))  # what is only inline was published for it
        insert(sail, number + 1)
        assert served.ids() == list(range(number + 2))

    sail.run(f"DELETE FROM {TABLE} WHERE id = 0")
    assert served.ids() == ids(sail) == [1, 2, 3, 4, 5]
    for version in range(7):
        assert ids(sail, f" VERSION AS OF {version}") == served.ids(version) == list(range(version))


@pytest.mark.parametrize("loss", list(Loss), ids=lambda loss: loss.name.lower())
def test_a_lost_answer_costs_sail_no_rows(served: ServedTable, sail: ForeignEngine, loss: Loss) -> None:
    served.append(0)
    served.way.lose("POST", "/delta/preview/commits", loss)

    with suppress(EngineRefused):  # it does not try again, so it cannot know
        insert(sail, 1)

    assert served.latest == 2
    assert served.ids() == ids(sail) == [0, 1]
    insert(sail, 2)
    assert served.ids() == [0, 1, 2]


@pytest.mark.parametrize("harm", ["deleted", "garbage"])
def test_harm_to_published_files_does_not_reach_sail(
    served: ServedTable, sail: ForeignEngine, harm: str
) -> None:
    insert(sail, 0)
    insert(sail, 1)  # says that version 1 is published; of version 2 nobody has said so
    served.append(2, settings=STAGED)
    for version in (2, 3):
        served.harm_published(version, harm)

    assert ids(sail) == [0, 1, 2]
    insert(sail, 3)
    assert ids(sail) == served.ids() == [0, 1, 2, 3]


def test_a_published_version_beyond_the_latest_is_not_there_for_sail(
    served: ServedTable, sail: ForeignEngine
) -> None:
    served.append(0)
    served.opened().publish()
    assert ids(sail) == [0]
    served.published_file(2).write_bytes(served.published_file(1).read_bytes())

    assert ids(sail) == [0]
    insert(sail, 1)

    assert served.latest == 2
    assert ids(sail) == served.ids() == [0, 1]


def test_a_table_made_anew_under_its_name_is_the_new_one(served: ServedTable, sail: ForeignEngine) -> None:
    insert(sail, 0)
    assert ids(sail) == [0]

    served.recreate()

    assert ids(sail) == []
    insert(sail, 1)
    assert served.ids() == ids(sail) == [1]


@pytest.mark.parametrize("settings", BOTH.values(), ids=BOTH.keys())
def test_who_comes_new_to_a_table_that_is_published_in_part_reads_and_writes_it(
    served: ServedTable, sail: ForeignEngine, settings: Settings
) -> None:
    for number in range(25):
        served.append(number)
    served.opened().publish()
    served.append(25, settings=settings)

    insert(sail, 26)

    assert ids(sail) == served.ids() == list(range(27))
