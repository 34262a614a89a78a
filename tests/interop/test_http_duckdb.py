"""DuckDB, by its own extension for Unity Catalog, beside our client on one table of a served lake."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.settings import Settings
from tests.support import foreign_process, served_tables
from tests.support.foreign_environments import DUCKDB
from tests.support.foreign_process import EngineRefused, ForeignEngine
from tests.support.lossy_http import Loss
from tests.support.served_tables import BOTH, LAKE, NAME, STAGED, ServedTable

pytestmark = pytest.mark.interop

CHILD = Path(__file__).parents[1] / "support" / "duckdb_child.py"
ALL = f"SELECT id FROM lake.{NAME} ORDER BY id"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedTable]:
    with served_tables.served_lake(tmp_path / "lake") as table:
        yield table


@pytest.fixture
def duck(served: ServedTable, tmp_path: Path) -> Iterator[ForeignEngine]:
    command = [DUCKDB.require(), CHILD, served.url, LAKE, NAME.schema, "any token"]
    with foreign_process.started(command, tmp_path / "duckdb.log") as engine:
        yield engine


def insert(duck: ForeignEngine, *ids: int) -> None:
    rows = ", ".join(f"({number}, 'duckdb')" for number in ids)
    duck.run(f"INSERT INTO lake.{NAME} VALUES {rows}")


def ids(duck: ForeignEngine) -> list[int]:
    return [row[0] for row in duck.run(ALL)]


@pytest.mark.parametrize("settings", BOTH.values(), ids=BOTH.keys())
def test_duckdb_and_our_client_take_turns(
    served: ServedTable, duck: ForeignEngine, settings: Settings
) -> None:
    assert ids(duck) == []
    for number in range(0, 6, 2):
        served.append(number, settings=settings)
        assert ids(duck) == list(range(number + 1))  # what is only inline was published for it
        insert(duck, number + 1)
        assert served.ids() == list(range(number + 2))

    assert served.latest == 6
    assert [served.ids(version) for version in range(7)] == [list(range(version)) for version in range(7)]


@pytest.mark.parametrize("loss", list(Loss), ids=lambda loss: loss.name.lower())
def test_a_lost_answer_costs_duckdb_no_rows(served: ServedTable, duck: ForeignEngine, loss: Loss) -> None:
    served.append(0)
    served.way.lose("POST", "/tables/t", loss)

    try:
        insert(duck, 1)
    except EngineRefused:
        assert (
            loss is Loss.SILENCE
        )  # it does not try again then; what it must not do is to take back its file
    posts = [status for method, path, status in served.way.passed if method == "POST"]

    assert posts in ([200], [200, 200])
    assert served.latest == 2
    assert served.ids() == [0, 1]
    assert ids(duck) == [0, 1]
    insert(duck, 2)
    assert served.ids() == [0, 1, 2]


@pytest.mark.parametrize("harm", ["deleted", "garbage"])
def test_harm_to_published_files_does_not_reach_duckdb(
    served: ServedTable, duck: ForeignEngine, harm: str
) -> None:
    insert(duck, 0)
    insert(duck, 1)  # and publishes version 1; that 2 is published nobody has said
    served.append(2, settings=STAGED)
    for version in (2, 3):
        served.harm_published(version, harm)

    assert ids(duck) == [0, 1, 2]
    insert(duck, 3)
    assert ids(duck) == served.ids() == [0, 1, 2, 3]


def test_a_published_version_beyond_the_latest_is_not_there_for_duckdb(
    served: ServedTable, duck: ForeignEngine
) -> None:
    served.append(0)
    assert ids(duck) == [0]
    stray = served.published_file(2)
    stray.write_bytes(served.published_file(1).read_bytes())  # the same rows again, if anybody believed it

    assert ids(duck) == [0]
    insert(duck, 1)

    assert served.latest == 2
    assert ids(duck) == served.ids() == [0, 1]
    assert stray.exists()


def test_a_table_made_anew_under_its_name_is_the_new_one(served: ServedTable, duck: ForeignEngine) -> None:
    insert(duck, 0)
    old = served.entry.table_id

    new = served.recreate().table_id

    assert new != old
    assert ids(duck) == []
    insert(duck, 1)
    assert served.ids() == ids(duck) == [1]


def test_duckdb_sees_what_was_renamed_and_not_what_was_dropped(
    served: ServedTable, duck: ForeignEngine
) -> None:
    insert(duck, 0)
    served.catalog.rename(NAME, served_tables.TableName("s1", "other"))

    assert duck.run("SELECT id FROM lake.s1.other") == [(0,)]
    with pytest.raises(EngineRefused, match="does not exist"):
        duck.run(ALL)
