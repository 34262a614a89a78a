"""A tutorial shows what it says: every block is typed, in order, and what is shown is compared.

Every run types them into this process, with the session of the tests, and one as its reader does: into
shells, in an empty folder, with the wheel built from this tree and nothing else of the project.
``HEADGATE_TESTS_TUTORIALS=linked`` has all of them typed so, and ``=fresh`` with everything that the wheel
depends on installed anew.
``HEADGATE_WRITE_TUTORIALS=1`` writes what is shown into the pages; read the difference as a newcomer.
"""

import os
import re
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import pytest
from pyspark.sql import SparkSession

import headgate
from tests.support.tutorials import new_machine
from tests.support.tutorials.page import Step, steps
from tests.support.tutorials.reader_at_terminals import reader_at_terminals
from tests.support.tutorials.reader_here import reader_here
from tests.support.tutorials.shown import FOLDER, comparable

PAGES = sorted((Path(__file__).parents[2] / "docs" / "tutorial").glob("*.md"))
WITHOUT_SPARK = "first-server"
HOW = os.environ.get("HEADGATE_TESTS_TUTORIALS", "")
WRITES = bool(os.environ.get("HEADGATE_WRITE_TUTORIALS"))


class Reader(Protocol):
    """Somebody who types a step, and tells what it shows."""

    def type(self, step: Step) -> str: ...


def follow(reader: Reader, page: Path) -> None:
    """Type all of a page; what is shown is what it says, and where it says nothing, nothing."""
    text, differences = page.read_text(), list[str]()
    for step in steps(page):
        shown = reader.type(step)
        if step.shown is None:
            if step.language == "python" and shown:
                differences.append(f"{step.source} shows, and the page does not say so:\n{shown}")
        elif comparable(shown) != comparable(step.shown):
            differences.append(f"{step.source} shows\n{shown}\nand not\n{step.shown}")
            said = f"{step.source}```\n\n```text\n"
            assert text.count(f"{said}{step.shown}") == 1
            text = text.replace(f"{said}{step.shown}", f"{said}{shown.rstrip()}\n")
    if WRITES:
        page.write_text(text)
        return
    assert not differences, "\n\n".join(differences)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of terminals on a machine with nothing but Python, Java and pip."""
    wanted = sorted({package for page in PAGES for step in steps(page) for package in step.packages})
    place = tmp_path_factory.mktemp("machine")
    return new_machine.reader_environment(place, wanted, fresh=HOW == "fresh")


def is_about_spark(page: Path) -> bool:
    """Whether its reader starts a session, which takes longest."""
    return page.stem != WITHOUT_SPARK


@pytest.mark.spark
@pytest.mark.parametrize("page", [*filter(is_about_spark, PAGES)], ids=lambda page: page.stem)
def test_a_tutorial_shows_what_it_says(
    page: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with reader_here(tmp_path) as reader:
        follow(reader, page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_is_followed_as_typed_in_an_empty_folder_with_the_built_wheel(
    page: Path, machine: dict[str, str], tmp_path: Path
) -> None:
    if is_about_spark(page) and not HOW:
        pytest.skip("starts a Spark of its own: make tutorials, or HEADGATE_TESTS_TUTORIALS=linked")

    folder = tmp_path / "empty"
    folder.mkdir()
    with reader_at_terminals(folder, machine, tmp_path) as reader:
        follow(reader, page)

        command = "python -c 'import headgate; print(headgate.__file__)'"
        place = reader.type(Step("sh", f"{command}\n", None, steps(page)[-1].terminal)).strip()
        assert place.startswith(f"{FOLDER}/.venv/"), "it was not the wheel that was used"
        installed = folder / Path(place).relative_to(FOLDER)
        assert installed.read_bytes() == Path(headgate.__file__).read_bytes(), "this is another headgate"


def test_there_are_four_tutorials_and_each_says_what_is_shown() -> None:
    assert [page.stem for page in PAGES] == [
        "first-server",
        "first-stream",
        "first-table",
        "first-transaction",
    ]
    for page in PAGES:
        assert sum(step.shown is not None for step in steps(page)) >= 5, page.name
        assert f"The `=={version('headgate')}` matters" in page.read_text(), page.name
        assert re.findall(r"headgate(?:\[\w+\])?==([\d.]+)", page.read_text()) == [version("headgate")], (
            page.name
        )


@pytest.mark.parametrize("spoiled", ["shows another number", "shows more than nothing"])
def test_a_page_that_says_something_else_is_noticed(spoiled: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    says = "```text\n3\n```\n" if spoiled == "shows another number" else ""
    page.write_text(f"```sh\npython\n```\n\n```python\n1 + 1\n```\n\n{says}")

    with reader_here(tmp_path) as reader, pytest.raises(AssertionError, match=r"1 \+ 1\s+shows"):
        follow(reader, page)


def test_what_is_no_statement_at_a_prompt_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\npython\n```\n\n```python\nif True:\n    seen = 1\nseen + 1\n```\n")

    with reader_here(tmp_path) as reader, pytest.raises(AssertionError, match="cannot be typed at a prompt"):
        follow(reader, page)
