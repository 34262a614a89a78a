"""What is said of each mistake, word for word, and by which rules.

The words are in ``messages.txt``. After a change that means to change them write them anew, and read the
difference as a user would: ``HEADGATE_WRITE_MESSAGES=1 python -m pytest tests/mistakes``.
"""

import os
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headgate.errors import HeadgateError
from tests.mistakes import with_metadata, with_rows
from tests.mistakes.ground import Ground, Mistake, RowsGround

STORED = Path(__file__).with_name("messages.txt")
WRITE = "HEADGATE_WRITE_MESSAGES"
MOST_OWN_LINES = 15

_OURS = f"{os.sep}headgate{os.sep}"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_EPOCH = re.compile(r"\b1[0-9]{12}\b")
_WAY_ON = re.compile(
    r"\b(add|append|ask|cast|choose|connect|correct|drop|fix|give|grants|leave|lists|make|name|open|publish|put"
    r"|read|register|rename|restore|say|set|use|write)\b|did you mean|must be|has versions|the latest is",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    made = Ground(tmp_path_factory.mktemp("metadata"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def rows_ground(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[RowsGround]:
    made = RowsGround(tmp_path_factory.mktemp("rows"), spark)
    yield made
    made.close()


@pytest.mark.parametrize("mistake", with_metadata.MISTAKES, ids=lambda mistake: mistake.title)
def test_a_mistake_is_answered_in_these_words(ground: Ground, mistake: Mistake) -> None:
    _check(ground, mistake)


@pytest.mark.spark
@pytest.mark.parametrize("mistake", with_rows.MISTAKES, ids=lambda mistake: mistake.title)
def test_a_mistake_with_rows_is_answered_in_these_words(rows_ground: RowsGround, mistake: Mistake) -> None:
    _check(rows_ground, mistake)


def test_every_message_is_of_a_mistake() -> None:
    titles = [mistake.title for mistake in (*with_metadata.MISTAKES, *with_rows.MISTAKES)]

    assert len(set(titles)) == len(titles) >= 60
    assert set(_stored()) == set(titles)


def _check(ground: Ground, mistake: Mistake) -> None:
    error, shown = _answer(ground, mistake)
    said = _steady(str(error), ground)
    if os.environ.get(WRITE):
        _store(mistake.title, f"{type(error).__name__}\n{said}")

    assert isinstance(error, HeadgateError)
    assert f"{type(error).__name__}\n{said}" == _stored()[mistake.title]
    assert mistake.about in said
    for rule, breaks in RULES.items():
        assert not breaks(said), rule
    assert len(_own_lines(shown)) <= MOST_OWN_LINES, shown
    assert "Traceback" not in shown.removeprefix("Traceback"), "it comes behind what caused it"


RULES: Mapping[str, Callable[[str], object]] = {
    "a table is not called by its id": _UUID.search,
    "a column of ours is not named": lambda said: "__headgate" in said,
    "a moment is not a count": _EPOCH.search,
    "nothing is said in Java": re.compile(r"Py4J|java\.|org\.apache|JVM stack").search,
    "Python's own types stay inside": re.compile(r"<(class|object|function)|object at 0x").search,
    "it is said what to do": lambda said: not _WAY_ON.search(said.partition("] ")[2]),
    "it is short enough to be read": lambda said: len(said) > 700,
}


def _answer(ground: Ground, mistake: Mistake) -> tuple[Exception, str]:
    try:
        mistake.make(ground)
    except Exception as error:
        return error, traceback.format_exc()
    pytest.fail("nobody noticed")


def _own_lines(shown: str) -> list[str]:
    """The lines of a traceback that show Headgate's own code."""
    own, is_ours = [], False
    for line in shown.splitlines():
        if line.startswith('  File "'):
            is_ours = _OURS in line and f"{os.sep}tests{os.sep}" not in line
        elif not line.startswith("    "):
            is_ours = False
        if is_ours:
            own.append(line)
    return own


def _steady(said: str, ground: Ground) -> str:
    """The words without what differs from run to run: folders, names of files, moments."""
    for table in (ground.orders, ground.returns):
        said = said.replace(table.location, f"<place of {table.name}>")
    said = said.replace(str(ground.folder), "<folder>")
    said = re.sub(rf"(\d{{20}}\.){_UUID.pattern}(\.json)", r"\1<uuid>\2", said)
    said = re.sub(rf"warehouse/{_UUID.pattern}", "warehouse/<table>", said)
    said = re.sub(rf"[\w/.=-]*{_UUID.pattern}[\w.-]*\.parquet", "<data file>", said)
    return re.sub(r"20(?!20)\d\d-\d\d-\d\d( |T)\d\d:\d\d:\d\d(\.\d+)?", "<moment>", said)


def _stored() -> dict[str, str]:
    if not STORED.exists():
        return {}
    parts = re.split(r"^## ", STORED.read_text(), flags=re.MULTILINE)[1:]
    return {
        title: said.removesuffix("\n\n").removesuffix("\n")
        for title, _, said in (part.partition("\n") for part in parts)
    }


def _store(title: str, said: str) -> None:
    known = _stored() | {title: said}
    titles = [mistake.title for mistake in (*with_metadata.MISTAKES, *with_rows.MISTAKES)]
    STORED.write_text("".join(f"## {title}\n{known[title]}\n\n" for title in titles if title in known))
