"""The tables of the pages about the command line, from its own rows."""

import importlib
from collections.abc import Iterator
from typing import Any

import msgspec
import typer
from typer.main import get_command

from headgate.cli.answers.command_outputs import (
    FAILURE,
    OWN_PAGE_SHAPES,
    SHAPES,
    TEXT_ONLY,
    AnswerForm,
    AnswerShape,
)
from headgate.cli.command_row import LazyCommand, leaf_commands
from headgate.cli.exit_codes import EXIT_CODES, FIXES
from headgate.cli.lazy_commands import COMMANDS


def commands() -> Iterator[str]:
    """Every command, with what it takes besides ``--lake`` and ``--json``."""
    yield "| command | what it does | arguments | options | through a server |"
    yield "|---|---|---|---|---|"
    for words, summary, parameters, is_remote in _all_commands():
        arguments = " ".join(
            (each.metavar or each.name).upper() + ("..." if each.nargs == -1 else "")
            for each in parameters
            if each.param_type_name == "argument"
        )
        options = ", ".join(
            f"`{each.opts[0]}`"
            for each in parameters
            if each.param_type_name == "option" and each.name not in ("lake", "as_json", "help")
        )
        remote = "yes" if is_remote else "no"
        yield f"| `headgate {words}` | {summary} | {arguments} | {options} | {remote} |"


def _all_commands() -> Iterator[tuple[str, str, list[Any], bool]]:
    """Of each its words, what it does, its parameters, and whether it works through a server."""
    for words, row in leaf_commands(COMMANDS):
        if row.instead is not None:
            continue
        found: Any = _command(row)
        is_remote = not row.database_only
        if hasattr(found, "commands"):  # loaded with commands of its own
            for name, each in found.commands.items():
                yield f"{words} {name}", each.help.partition("\n")[0], list(each.params), is_remote
        else:
            yield words, row.summary, list(found.params), is_remote


def _command(row: LazyCommand) -> Any:
    module, _, function = row.function.partition(":")
    found = getattr(importlib.import_module(module), function)
    if isinstance(found, typer.Typer):
        return get_command(found)
    app = typer.Typer(add_completion=False)
    app.command(row.name)(found)
    return get_command(app)


def older_names() -> Iterator[str]:
    """The names of before, and what they are called."""
    yield "| older name | is |"
    yield "|---|---|"
    for words, row in leaf_commands(COMMANDS):
        if row.instead is not None:
            yield f"| `headgate {words}` | `headgate {row.instead}` |"
    for row in COMMANDS:
        if row.default_verb is not None:
            yield f"| `headgate {row.name} …` without a verb | `headgate {row.name} {row.default_verb} …` |"


def exit_codes() -> Iterator[str]:
    """With what a command ends."""
    yield "| exit code | name | meaning | errors |"
    yield "|---|---|---|---|"
    for row in EXIT_CODES:
        errors = ", ".join(f"`{error.__name__}`" for error in row.errors)
        yield f"| {row.number} | {row.name} | {row.meaning} | {errors} |"


def fixes() -> Iterator[str]:
    """What is said to help against an error."""
    yield "| errors | fix |"
    yield "|---|---|"
    for row in FIXES:
        names = ", ".join(f"`{error.__name__}`" for error in row.errors)
        yield f"| {names}{f', where it says “{row.says}”' if row.says else ''} | {row.fix} |"


def json_shapes() -> Iterator[str]:
    """The JSON schema of what each command prints with ``--json``."""
    for shape in (*SHAPES, *OWN_PAGE_SHAPES, FAILURE):
        yield ""
        yield f"### {'headgate ' if shape is not FAILURE else ''}{shape.command}"
        yield ""
        yield f"{shape.form.value.capitalize()}{', on stderr' if shape is FAILURE else ''}."
        yield ""
        yield "```json"
        yield from _schema(shape).splitlines()
        yield "```"
    yield ""
    yield "What `headgate sql` and `headgate top` print is explained on the pages about"
    yield "[the shell](../how-to/sql-shell.md) and [watching a lake](../how-to/watch-a-lake.md);"
    yield "`headgate stream read` prints JSON without being asked to."
    yield ""
    for row in TEXT_ONLY:
        yield f"`headgate {row.command}` has no `--json`: {row.because}."


def _schema(shape: AnswerShape) -> str:
    module, _, name = shape.type.partition(":")
    single: Any = getattr(importlib.import_module(module), name)
    shaped = tuple[single, ...] if shape.form is AnswerForm.LIST else single  # type: ignore[misc]
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(shaped)), indent=2).decode()
