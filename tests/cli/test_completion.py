"""What a shell offers behind a TAB: in a real bash, in a real zsh, and without waiting for Spark."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

import headgate
from headgate.cli.main import app
from tests.support.lakes import build_lake
from tests.support.system_packages import find_program

PATIENCE_SECONDS = 300
HEAVY = ("obstore", "pyarrow", "pyspark", "sqlalchemy")
BASH = """
eval "$(headgate completion bash)"
COMP_WORDS=({words} "$1")
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_headgate_completion headgate "$1"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
LOADED = """
import os, sys
os.environ.update(_HEADGATE_COMPLETE="complete_bash", COMP_WORDS={line!r}, COMP_CWORD="{place}")
from headgate.cli.main import app
try:
    app(prog_name="headgate")
except SystemExit:
    print("loaded: " + " ".join(sys.modules))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("completion")
    build_lake(made / "lake")
    return made


def environment(folder: Path) -> dict[str, str]:
    """Where ``headgate`` is this one, and the lake is that of the current folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADGATE_")}
    programs = Path(sys.executable).parent
    return kept | {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb"}


def offered_by_bash(folder: Path, line: str, typed: str, *, by_lines: bool = False) -> list[str]:
    ran = subprocess.run(
        ["bash", "--norc", "-c", BASH.format(words=line), "bash", typed],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    assert ran.stderr == ""
    return ran.stdout.splitlines() if by_lines else ran.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "typed", "offered"),
    [
        ("headgate", "ta", ["table"]),
        ("headgate table", "un", ["unset", "undrop"]),
        ("headgate table rows", "--w", ["--where"]),
        ("headgate grant READ", "--t", ["--to"]),
        ("headgate table rows", "sales.o", ["sales.orders"]),
        ("headgate table list", "sa", ["sales"]),
    ],
    ids=["a noun", "verbs", "an option", "an option of the older form", "a table", "a schema"],
)
def test_bash_offers(folder: Path, line: str, typed: str, offered: list[str]) -> None:
    assert offered_by_bash(folder, line, typed) == offered


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "typed", "offered"),
    [
        ("headgate grant add", "re", ["read"]),
        ("headgate grant add", "CH", ["CHANGE\\ DATA"]),
        ("headgate grant READ --on", "s", ["sales", "sales.orders", "sales.stock"]),
        ("headgate event list --kind", "re", ["rename", "release", "refusal"]),
        ("headgate event follow --table", "sales.s", ["sales.stock"]),
        ("headgate maintenance permit sales.orders", "data", ["data\\ reorganisation", "data\\ cleanup"]),
        ("headgate table undrop", "sales.g", ["sales.gone"]),
        ("headgate table purge", "sales.g", ["sales.gone"]),
        ("headgate stream show", "my", ["my-stream"]),
        ("headgate stream list", "sales.o", ["sales.orders"]),
    ],
    ids=str,
)
def test_bash_offers_what_can_be_named(tmp_path: Path, line: str, typed: str, offered: list[str]) -> None:
    build_lake(tmp_path / "lake")
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_table("sales.gone", "id BIGINT")
        lake.drop_table("sales.gone")
        lake.table("sales.stock").append([{"id": 1}], txn=("my-stream", 3))

    assert offered_by_bash(tmp_path, line, typed, by_lines=True) == offered


def test_zsh_completes_what_is_typed(folder: Path) -> None:
    if find_program("zsh", "zsh") is None:
        pytest.skip("there is no zsh here, and it cannot be installed: apt-get install zsh")
    with interactive_zsh(folder) as shell:
        shell.type(
            "autoload -Uz compinit; compinit -u -D; eval \"$(headgate completion zsh)\"; echo rea''dy\n"
        )
        shell.wait_for("ready")
        shell.type("headgate tab\t")
        shell.wait_for(r"headgate table ")
        shell.type("rows --wh\t")
        shell.wait_for(r"--where ")
        shell.type("'id > 4' sales.o\t")
        shell.wait_for(r"sales\.orders ")
        shell.type("\n")
        shell.wait_for("1 row of version 2")


def test_commands_and_options_are_offered_without_spark_or_a_catalog() -> None:
    for line, place, offered in (("headgate ta", 1, "table"), ("headgate server run --po", 3, "--port")):
        ran = subprocess.run(
            [sys.executable, "-c", LOADED.format(line=line, place=place)],
            capture_output=True,
            text=True,
            check=True,
        )
        said, _, loaded = ran.stdout.rpartition("loaded: ")

        assert said.split() == [offered]
        assert not [name for name in HEAVY if name in loaded.split()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell_asks_the_command(shell: str) -> None:
    script = CliRunner().invoke(app, ["completion", shell]).stdout

    assert f"_HEADGATE_COMPLETE=complete_{shell}" in script


def test_a_lake_that_is_not_there_is_not_made_by_a_tab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = {"_HEADGATE_COMPLETE": "complete_bash", "COMP_WORDS": "headgate table show x", "COMP_CWORD": "3"}

    result = CliRunner().invoke(app, [], env=asked, prog_name="headgate")

    assert (result.exit_code, result.stdout.strip()) == (0, "")
    assert list(tmp_path.iterdir()) == []


class InteractiveShell:
    """A shell on a terminal of its own."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._seen = ""

    def type(self, keys: str) -> None:
        self._seen = ""
        os.write(self._terminal, keys.encode())

    def wait_for(self, pattern: str) -> None:
        """Read until it is on the screen; a shell that never shows it is told so after a long time."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not re.search(pattern, self._seen):
            ready, _, _ = select.select([self._terminal], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{pattern!r} was not shown: {self._seen!r}"
            self._seen += os.read(self._terminal, 65_536).decode(errors="replace")


@contextmanager
def interactive_zsh(folder: Path) -> Iterator[InteractiveShell]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["zsh", "-f", "-i"],
        cwd=folder,
        env=environment(folder),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield InteractiveShell(ours)
    finally:
        process.kill()
        process.wait(PATIENCE_SECONDS)
        os.close(ours)
