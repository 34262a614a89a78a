"""The first page: its lines run as they stand, in a process of their own, and it stays two screens long."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
LONGEST = 100
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_the_lines_of_the_readme_run_in_an_empty_folder(tmp_path: Path) -> None:
    java = Path(sys.prefix) / "java-home"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYSPARK_PYTHON": sys.executable}
    if java.exists():
        environment.setdefault("JAVA_HOME", java.read_text().strip())

    ran = subprocess.run(
        [sys.executable, "-c", "\n".join(_BLOCK.findall(README))],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )

    assert ran.returncode == 0, ran.stderr
    assert "CREATE TABLE" in ran.stdout
    assert {path.name for path in tmp_path.iterdir()} >= {"lake"}


def test_the_readme_makes_its_own_session_in_twenty_lines_and_is_two_screens_long() -> None:
    (block,) = _BLOCK.findall(README)

    assert "SparkSession.builder" in block
    assert len([line for line in block.splitlines() if line.strip()]) <= 20
    assert len(README.splitlines()) <= LONGEST


def test_the_numbers_of_the_readme_are_those_of_the_benchmarks() -> None:
    measured = (ROOT / "benchmarks" / "README.md").read_text().partition("## What is compared")[0]
    section = README.partition("## The numbers")[2].partition("\n## ")[0]
    numbers = re.findall(r"(\d+(?:\.\d+)?) times", section)

    assert len(numbers) == len(re.findall(r"^\| [^|]+ \| [^|]+ \| [^|]+ \|$", section, re.MULTILINE)) - 1
    assert [each for each in numbers if f"{each}×" not in measured and f"{each} times" not in measured] == []
