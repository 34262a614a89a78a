"""The commands on the pages about the shell and about watching a lake run as they are written."""

import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from headgate.cli import session
from headgate.cli.main import app
from headgate.cli.shell.meta_commands import META_COMMANDS

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.spark
@pytest.mark.parametrize("name", ["sql-shell.md", "watch-a-lake.md"])
def test_the_commands_of_a_page_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    @contextmanager
    def shared() -> Iterator[Callable[[], SparkSession]]:
        yield lambda: spark

    monkeypatch.setattr(session, "lazy_session", shared)
    monkeypatch.chdir(tmp_path)
    ran = 0
    for language, block in _BLOCK.findall((HOW_TO / name).read_text()):
        if language == "python":
            exec(compile(block, name, "exec"), {})
            continue
        for line in block.splitlines():
            program, *arguments = shlex.split(line)
            result = CliRunner().invoke(app, arguments)
            assert (program, result.exit_code) == ("headgate", 0), f"{line}\n{result.output}"
            assert result.stdout
            ran += 1

    assert ran


def test_the_page_has_every_command_of_the_shell() -> None:
    page = (HOW_TO / "sql-shell.md").read_text()

    assert all(f"| `\\{command.name}" in page for command in META_COMMANDS)
