"""The notebooks run from top to bottom, show what they have stored, and have nothing of a machine in them.

``HEADGATE_WRITE_NOTEBOOKS=1`` stores what they show anew.
"""

import json
import os
import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.tutorials.notebook import (
    code_cells,
    read_notebook,
    run_cells,
    shown_text,
    stored_text,
    write_notebook,
)
from tests.support.tutorials.shown import comparable

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
WITHOUT_SPARK = "a-lake-without-spark"
WRITES = bool(os.environ.get("HEADGATE_WRITE_NOTEBOOKS"))
LARGEST = 40_000
A_MACHINE = re.compile(r"(?<![\w.])/(?:tmp|root|var|opt|work|Users|home|mnt|private)/")


def follow(path: Path) -> None:
    """Run all cells; each shows what it has stored, as text."""
    notebook = read_notebook(path)
    differences = []
    for number, (cell, outputs) in enumerate(run_cells(notebook), 1):
        shown, stored = shown_text(outputs), stored_text(cell)
        if comparable(shown) != comparable(stored):
            differences.append(f"cell {number} shows\n{shown}\nand has stored\n{stored}")
        cell.update(outputs=outputs, execution_count=number)
    if WRITES:
        write_notebook(path, notebook)
        return
    assert not differences, "\n".join(differences)


@pytest.mark.spark
def test_the_pipeline_of_a_day_shows_what_it_has_stored(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    follow(next(path for path in NOTEBOOKS if path.stem != WITHOUT_SPARK))


def test_a_lake_is_looked_at_without_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no java"))  # a session could not start

    follow(next(path for path in NOTEBOOKS if path.stem == WITHOUT_SPARK))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_small_outputs_and_nothing_of_a_machine(path: Path) -> None:
    notebook = read_notebook(path)

    assert path.stat().st_size <= LARGEST
    assert not A_MACHINE.findall(path.read_text())
    assert any(cell["outputs"] for cell in code_cells(notebook)), "run with HEADGATE_WRITE_NOTEBOOKS=1"
    for cell in code_cells(notebook):
        assert len(json.dumps(cell["outputs"])) <= 6_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_one_that_a_notebook_reads(path: Path) -> None:
    notebook = read_notebook(path)
    ids = [cell["id"] for cell in notebook["cells"]]

    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len(set(ids)) == len(ids)
    assert notebook["cells"][0]["cell_type"] == "markdown"
    assert {cell["cell_type"] for cell in notebook["cells"]} == {"markdown", "code"}


def test_there_are_two() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["a-days-pipeline", "a-lake-without-spark"]


def test_a_path_of_a_machine_is_noticed() -> None:
    assert A_MACHINE.findall("Lake('/tmp/x/lake')")
    assert not A_MACHINE.findall("https://example.com/home/")
