"""Delta's Java kernel with its own client of Unity Catalog, beside our client on tables of a served lake."""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from headgate.catalog.ports.directory import TableName
from headgate.server.delta_api import DeltaApiSettings
from headgate.settings import Settings
from tests.conftest import JAVA
from tests.support import delta_jars, foreign_process, served_tables
from tests.support.foreign_process import EngineRefused, ForeignEngine
from tests.support.lossy_http import Loss
from tests.support.served_tables import BOTH, LAKE, NAME, STAGED, ServedTable

pytestmark = pytest.mark.interop

CHILD = Path(__file__).parents[1] / "support" / "java_kernel_child.py"
STRICT = DeltaApiSettings(strict=True)


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForeignEngine]:
    try:
        jars = delta_jars.fetch()
    except delta_jars.Unavailable as exc:
        (pytest.fail if os.environ.get("CI") and delta_jars.fits() else pytest.skip)(str(exc))
    java = {"JAVA_HOME": JAVA.read_text().strip()} if JAVA.exists() else {}
    log = tmp_path_factory.mktemp("kernel") / "log"
    with foreign_process.started([sys.executable, CHILD, jars, LAKE, "any token"], log, java) as engine:
        yield engine


@dataclass(frozen=True)
class Kernel:
    """The kernel as a client of one server."""

    engine: ForeignEngine
    url: str

    def do(self, what: str, name: TableName | None = NAME, **arguments: Any) -> Any:
        named = {} if name is None else {"schema": name.schema, "table": name.table}
        return self.engine.ask({"do": what, "url": self.url, **named, **arguments})

    def ids(self, **at: int) -> list[int]:
        _, found = self.do("load", **at)
        return list(found)


@pytest.fixture(params=[DeltaApiSettings(), STRICT], ids=["extended", "strict"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ServedTable]:
    """By our own server as it is, and as it behaves where it may do only what Unity Catalog does."""
    with served_tables.served_lake(tmp_path / "lake", delta_api=request.param) as table:
        yield table


@pytest.fixture
def kernel(served: ServedTable, process: ForeignEngine) -> Kernel:
    return Kernel(process, served.url)


def test_the_kernel_makes_a_table_fills_and_publishes_it(served: ServedTable, kernel: Kernel) -> None:
    name = TableName(NAME.schema, "made")

    assert kernel.do("create", name) == 0
    assert kernel.do("append", name, ids=[1, 2]) == 1
    assert kernel.do("append", name, ids=[3], publish=True) == 2
    loaded = served.catalog.load(name)

    assert loaded.tail.description is not None
    assert loaded.tail.description.metadata.configuration["io.unitycatalog.tableId"] == loaded.entry.table_id
    assert kernel.do("load", name) == [2, [1, 2, 3]]
    log = Path(loaded.entry.location) / "_delta_log"
    assert sorted(path.name for path in log.glob("*.json")) == [f"{version:020}.json" for version in range(3)]
    assert kernel.do("publish", name) == 2
    with pytest.raises(EngineRefused, match="409"):
        kernel.do("create", name)


@pytest.mark.parametrize("settings", BOTH.values(), ids=BOTH.keys())
def test_the_kernel_and_our_client_take_turns(
    served: ServedTable, kernel: Kernel, settings: Settings
) -> None:
    for number in range(0, 6, 2):
        served.append(number, settings=settings)
        assert kernel.ids() == list(range(number + 1))
        kernel.do("append", ids=[number + 1], publish=number == 2)
        assert served.ids() == list(range(number + 2))

    for version in range(7):
        assert kernel.ids(version=version) == served.ids(version) == list(range(version))
    times = {
        record.version: record.in_commit_timestamp for record in served.catalog.commits(served.entry.table_id)
    }
    for version in (1, 4, 6):
        assert kernel.ids(timestamp=times[version]) == list(range(version))
    with pytest.raises(EngineRefused):
        kernel.ids(version=7)


def test_of_two_who_write_the_same_version_the_kernel_hears_that_it_lost(
    served: ServedTable, kernel: Kernel
) -> None:
    kernel.do("hold", ids=[1])
    served.append(0)

    with pytest.raises(EngineRefused, match="conflict=true"):
        kernel.do("commit_held", None)

    assert served.ids() == kernel.ids() == [0]
    kernel.do("append", ids=[1])
    assert served.ids() == [0, 1]


@pytest.mark.parametrize("loss", list(Loss), ids=lambda loss: loss.name.lower())
def test_a_lost_answer_is_asked_for_again(served: ServedTable, kernel: Kernel, loss: Loss) -> None:
    served.way.lose("POST", "/tables/t", loss)

    # An error its client repeats as it is; after silence the kernel stages the same transaction again.
    assert kernel.do("append", ids=[0], retries=2) == 1

    assert served.latest == 1
    assert served.ids() == kernel.ids() == [0]


def test_a_table_is_made_once_however_often_that_is_asked(served: ServedTable, kernel: Kernel) -> None:
    name = TableName(NAME.schema, "made")
    served.way.lose("POST", "/tables", Loss.ERROR)

    assert kernel.do("create", name) == 0

    assert kernel.do("load", name) == [0, []]
    assert len(served.catalog.tables()) == 2


@pytest.mark.parametrize("harm", ["deleted", "garbage"])
def test_harm_to_published_files_does_not_reach_the_kernel(
    served: ServedTable, kernel: Kernel, harm: str
) -> None:
    kernel.do("append", ids=[0], publish=True)
    kernel.do("append", ids=[1], publish=True)  # of which the catalog has not heard
    served.append(2, settings=STAGED)
    for version in (2, 3):
        served.harm_published(version, harm)

    assert kernel.ids() == [0, 1, 2]
    kernel.do("append", ids=[3])
    assert kernel.ids() == served.ids() == [0, 1, 2, 3]


def test_a_published_version_beyond_the_latest_is_not_there_for_the_kernel(
    served: ServedTable, kernel: Kernel
) -> None:
    kernel.do("append", ids=[0], publish=True)
    served.published_file(2).write_bytes(served.published_file(1).read_bytes())

    assert kernel.ids() == [0]
    kernel.do("append", ids=[1])

    assert served.latest == 2
    assert kernel.ids() == served.ids() == [0, 1]


def test_who_began_with_the_old_table_cannot_commit_to_the_new_one_of_its_name(
    served: ServedTable, kernel: Kernel
) -> None:
    kernel.do("append", ids=[0])
    kernel.do("hold", ids=[1])

    served.recreate()

    with pytest.raises(EngineRefused):
        kernel.do("commit_held", None)
    assert kernel.ids() == served.ids() == []
    kernel.do("append", ids=[2])
    assert served.ids() == [2]


def test_a_long_row_of_commits_is_never_refused_without_a_way_on(served: ServedTable, kernel: Kernel) -> None:
    """With extensions the server publishes itself; a strict one is served by who publishes and says so."""
    for number in range(12):
        kernel.do("append", ids=[number], publish=True)

    assert served.latest == 12
    assert served.ids() == kernel.ids() == list(range(12))
