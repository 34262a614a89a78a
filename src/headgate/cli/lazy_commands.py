"""How can ``headgate --help`` list commands that are not loaded? By a line about each; who runs one loads it.

The modules of most commands need the catalog and Spark, which take seconds to load. This is the one door by
which they are: the group of the command line knows where a command is and what it says in the list.

While they load the garbage collector is off: modules are no garbage, and looking for some takes a tenth of
the time of a short command. ``benchmarks/import_time.py`` says how long they take.
"""

import gc
import importlib
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command
from typing_extensions import override


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A command by its name, and where its function is."""

    name: str
    function: str
    summary: str
    """The first line of the function's docstring, or the help of a group of commands."""


COMMANDS: tuple[LazyCommand, ...] = (
    LazyCommand(
        "demo",
        "headgate.cli.demo.command:demo",
        "Build a small lake and watch the catalog ratify its commits.",
    ),
    LazyCommand("tables", "headgate.cli.tables:tables", "List the tables of a lake."),
    LazyCommand("history", "headgate.cli.history:history", "Show what happened to a table, newest first."),
    LazyCommand("show", "headgate.cli.show:show", "Show a table's columns, size, properties and place."),
    LazyCommand("publish", "headgate.cli.publish:publish", "Publish every ratified commit to _delta_log."),
    LazyCommand(
        "worker",
        "headgate.cli.worker:worker",
        "Publish, checkpoint, clean up and sweep what is due, until it is stopped.",
    ),
    LazyCommand(
        "serve",
        "headgate.cli.serve:serve",
        "Serve a lake over HTTP, to this client and to other engines, until it is stopped.",
    ),
    LazyCommand(
        "check",
        "headgate.cli.check:check_tables",
        "Check that tables are whole: log, catalog, checkpoints, checksums, data files.",
    ),
    LazyCommand(
        "sql",
        "headgate.cli.shell.command:sql",
        "Run SQL over a lake: in an interactive shell, or from the command line, files or a pipe.",
    ),
    LazyCommand(
        "top",
        "headgate.cli.live.command:top",
        "Watch a lake: its busiest tables, what waits to be published, refusals, events and leases.",
    ),
    LazyCommand(
        "stream",
        "headgate.cli.streams.command:app",
        "Read a table as it grows, and see which streams write to tables.",
    ),
    LazyCommand(
        "grant",
        "headgate.cli.access.grants:grant",
        "Let a principal or a group do something with a lake, a schema or a table.",
    ),
    LazyCommand(
        "revoke", "headgate.cli.access.grants:revoke", "Take back what was granted, in the same words."
    ),
    LazyCommand("grants", "headgate.cli.access.grants:grants", "List what was granted to whom."),
    LazyCommand("group", "headgate.cli.access.groups:app", "Add members to groups, remove and list them."),
    LazyCommand(
        "token",
        "headgate.cli.access.tokens:app",
        "Make tokens for a server's callers, list them and take them back.",
    ),
    LazyCommand(
        "recover",
        "headgate.cli.recover:recover",
        "Rebuild a lost catalog, or bring one that was restored up to date, from the logs of its tables.",
    ),
)


def list_in(app: typer.Typer) -> None:
    """Have an application list the commands; its group is ``LazyCommands``, which loads the one that runs."""
    for command in COMMANDS:
        app.command(command.name, help=command.summary)(_not_loaded)


def _not_loaded() -> None:
    """Stands in the list for a command."""


class LazyCommands(TyperGroup):
    """A group of commands of which only the one that runs is loaded."""

    @override
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, listed, rest = super().resolve_command(ctx, args)
        command = next((command for command in COMMANDS if command.name == name), None)
        return name, listed if command is None else self._load(command), rest

    def _load(self, command: LazyCommand) -> Any:
        """The command of typer that the function is, with its arguments and the whole of its help."""
        alone = typer.Typer(add_completion=False, rich_markup_mode=self.rich_markup_mode)
        module, _, function = command.function.partition(":")
        found = getattr(_import_without_gc(module), function)
        if isinstance(found, typer.Typer):  # a command that has commands of its own
            found.rich_markup_mode = self.rich_markup_mode
            return get_command(found)
        alone.command(command.name)(found)
        return get_command(alone)


def _import_without_gc(name: str) -> Any:
    """A module with all it imports, which the collector need not look at from then on."""
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        gc.enable()
