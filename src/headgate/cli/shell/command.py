"""``headgate sql``: statements over a lake, typed, from the command line, from files or from a pipe."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from headgate.cli import exit_codes, folder, session
from headgate.cli.options import AsJson, LakePlace, number_option
from headgate.cli.shell import prompt, script_file
from headgate.cli.shell.engine import SparkStarter, StatementEngine
from headgate.cli.shell.entries import Entry
from headgate.cli.shell.names import LakeNames
from headgate.cli.shell.output import JsonWriter, TextWriter
from headgate.cli.shell.shell import EntryOutcome, SqlShell
from headgate.cli.visible_text import visible_lines
from headgate.errors import InvalidRequest

_TYPED_ROWS = 200
"""How many rows of an answer are shown on a terminal; a pipe gets all."""
_STDIN = "-"
_EXIT_CODES = {EntryOutcome.LEAVE: 0, EntryOutcome.CANCELLED: exit_codes.INTERRUPTED}


def sql(
    lake: LakePlace = None,
    command: Annotated[
        list[str] | None,
        typer.Option("--command", "-c", metavar="SQL", help="Run these statements."),
    ] = None,
    file: Annotated[
        list[str] | None,
        typer.Option("--file", "-f", metavar="FILE", help="Run the statements of a file; - is stdin."),
    ] = None,
    limit: Annotated[
        int | None,
        number_option(
            "--limit",
            min=0,
            help=f"Show at most so many rows of an answer, 0 all of them; a terminal is shown {_TYPED_ROWS}.",
        ),
    ] = None,
    expanded: Annotated[
        bool, typer.Option("--expanded", "-x", help="Show each value on a line of its own.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run SQL over a lake: in an interactive shell, or from the command line, files or a pipe."""
    scripts = _scripts(command or [], file or [])
    is_typed = not scripts and sys.stdin.isatty()
    if is_typed and as_json:
        raise InvalidRequest('--json is for programs: give statements with -c "…", -f FILE or through a pipe')
    text = TextWriter(expanded=expanded)
    most_rows = (_TYPED_ROWS if is_typed else None) if limit is None else limit or None
    with (
        folder.open_lake(lake) as opened,
        session.lazy_session() as start,
        StatementEngine(opened.lake, SparkStarter(start, _announce)) as engine,
    ):
        writer = JsonWriter() if as_json else text
        names = LakeNames(opened.lake)
        shell = SqlShell(opened, engine, names, text, writer, most_rows)
        code = _talk(shell) if is_typed else _run_scripts(shell, scripts or [("", _read(_STDIN))])
        text.write_to(None)
    raise typer.Exit(code)


def _scripts(commands: list[str], files: list[str]) -> list[tuple[str, str]]:
    """Each text to be run, and what it is called where it matters: those of -c first."""
    return [*(("", text) for text in commands), *((path, _read(path)) for path in files)]


def _read(path: str) -> str:
    if path == _STDIN:
        return sys.stdin.read()
    return script_file.read_script(Path(path))


def _talk(shell: SqlShell) -> int:
    prompt.talk(shell)
    _roll_back(shell)
    return 0


def _run_scripts(shell: SqlShell, scripts: list[tuple[str, str]]) -> int:
    """Run all texts up to the first statement that fails; the exit code."""
    code = 0
    for path, text in scripts:
        stopped = shell.run_all(text)
        if stopped is not None:
            entry, outcome = stopped
            code = _EXIT_CODES.get(outcome, shell.failure)
            if outcome is not EntryOutcome.LEAVE:
                _tell(_place(shell, path, entry, outcome))
            break
    return 1 if _roll_back(shell) and code == 0 else code


def _place(shell: SqlShell, path: str, entry: Entry, outcome: EntryOutcome) -> str:
    what = "was cancelled" if outcome is EntryOutcome.CANCELLED else "failed, and nothing after it was run"
    where = f"line {entry.line} of {path}" if path else f"line {entry.line}"
    name = "command" if entry.is_command else f"statement {shell.number}"
    return f"{name}, {where}, {what}: {' '.join(entry.text.split())}"


def _roll_back(shell: SqlShell) -> bool:
    """End what is pending; whether a transaction was."""
    if not shell.engine.roll_back():
        return False
    _tell("the transaction was not committed, and is rolled back: end it with COMMIT to keep what it did")
    return True


def _announce() -> None:
    if sys.stderr.isatty():
        _tell("starting Spark…")


def _tell(sentence: str) -> None:
    typer.echo(visible_lines(sentence), err=True)
