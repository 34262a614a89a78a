"""The docs are true: their code runs, their tables are current, and every public thing is in them."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import domains, errors

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TUTORIAL = ROOT / "docs" / "tutorial"  # pages that test_tutorials.py follows, with what they show
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
RUN_ALONE = {"README.md"}
"""Pages that make their own Spark session: each has a test that gives it a process of its own."""
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def _is_run_elsewhere(page: Path) -> bool:
    return page.parent == TUTORIAL or page.name in RUN_ALONE


@pytest.mark.spark
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if BLOCK.search(page.read_text()) and not _is_run_elsewhere(page)],
    ids=lambda page: page.name,
)
def test_the_code_of_a_page_runs_from_top_to_bottom(
    page: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"spark": spark}
    blocks = BLOCK.findall(page.read_text())

    for block in blocks:
        exec(compile(block, str(page), "exec"), names)

    assert blocks
    for domain in domains.registered():  # the handlers of a page are not those of the next
        domains.unregister(domain)


def test_generated_tables_are_current() -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    broken = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]

    assert not broken


def test_every_error_and_setting_is_documented() -> None:
    pages = "".join(page.read_text() for page in PAGES)
    raised = [
        name
        for name, found in vars(errors).items()
        if isinstance(found, type) and issubclass(found, Exception)
    ]
    settings = [field.name for field in dataclasses.fields(headgate.Settings)]

    assert not [name for name in (*raised, *settings) if f"`{name}`" not in pages]
    assert not [name for name in headgate.__all__ if name not in pages]


def test_the_two_commands_of_the_readme_exist() -> None:
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    commands = re.findall(r"^make (\w+)", readme, re.MULTILINE)

    assert {"demo", "test"} <= set(commands)
    assert all(re.search(rf"^{command}:", makefile, re.MULTILINE) for command in commands)
