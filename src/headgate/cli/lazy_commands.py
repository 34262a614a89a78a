"""How can ``headgate --help`` list commands that are not loaded? By a row about each; running one loads it.

The modules of most commands need the catalog and Spark, which take seconds to load. The group of the command
line knows where a command is and what it says in the list; ``deferred.py`` is the door by which it comes.
"""

from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command
from typing_extensions import override

from headgate.cli import nouns
from headgate.cli.command_row import LazyCommand
from headgate.cli.deferred import import_without_gc

__all__ = ["COMMANDS", "LazyCommand", "LazyCommands", "list_in"]

COMMANDS: tuple[LazyCommand, ...] = (
    LazyCommand(
        "demo",
        "headgate.cli.demo.command:demo",
        "Build a small lake and watch the catalog ratify its commits.",
        database_only=True,
    ),
    *nouns.NOUNS,
    LazyCommand(
        "check",
        "headgate.cli.upkeep.check:check_tables",
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
        "recover",
        "headgate.cli.upkeep.recover:recover",
        "Rebuild a lost catalog, or bring one that was restored up to date, from the logs of its tables.",
        database_only=True,
    ),
    LazyCommand(
        "completion",
        "headgate.cli.completion.command:print_completion",
        "Print what has a shell complete commands and names.",
    ),
    *nouns.OLDER_NAMES,
)


def list_in(app: typer.Typer) -> None:
    """Have an application list the commands; its group is ``LazyCommands``, which loads the one that runs."""
    _list_rows(app, COMMANDS)


def _list_rows(app: typer.Typer, rows: tuple[LazyCommand, ...]) -> None:
    for row in rows:
        # As short help too, or the list would cut it off.
        is_older = row.instead is not None
        app.command(row.name, help=row.summary, short_help=row.summary, hidden=is_older)(_not_loaded)


def _not_loaded() -> None:
    """Stands in the list for a command."""


class LazyCommands(TyperGroup):
    """A group of commands of which only the one that runs is loaded."""

    rows: tuple[LazyCommand, ...] = COMMANDS
    noun: LazyCommand | None = None
    """The row of this group, unless it is the whole command line."""

    @override
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        noun = self.noun
        if noun is not None and noun.default_verb is not None and _means_default(noun, args, ctx):
            args = [noun.default_verb, *args]
        return super().parse_args(ctx, args)

    @override
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, listed, rest = super().resolve_command(ctx, args)
        row = next((row for row in self.rows if row.name == name), None)
        return name, listed if row is None else self._load(row), rest

    def _load(self, row: LazyCommand) -> Any:
        """The command of typer that the function is, with its arguments and the whole of its help."""
        if row.verbs:
            return self._noun(row)
        alone = typer.Typer(add_completion=False, rich_markup_mode=self.rich_markup_mode)
        module, _, function = row.function.partition(":")
        found = getattr(import_without_gc(module), function)
        if isinstance(found, typer.Typer):  # a command that has commands of its own
            found.rich_markup_mode = self.rich_markup_mode
            return _with_whole_summaries(get_command(found))
        alone.command(row.name)(found)
        return get_command(alone)

    def _noun(self, row: LazyCommand) -> Any:
        """The group of the verbs of a noun."""
        app = typer.Typer(
            cls=LazyCommands,
            help=row.summary,
            no_args_is_help=not row.runs_bare,
            add_completion=False,
            rich_markup_mode=self.rich_markup_mode,
        )
        app.callback()(_not_loaded)
        _list_rows(app, row.verbs)
        group: Any = get_command(app)
        group.rows, group.noun = row.verbs, row
        return group


def _with_whole_summaries(group: Any) -> Any:
    """A group of commands whose first lines its list does not cut off."""
    for command in group.commands.values():
        command.short_help = (command.help or "").partition("\n")[0]
    return group


def _means_default(noun: LazyCommand, args: list[str], ctx: Any) -> bool:
    """Whether a verb is left out: the noun is used as it was before it had any."""
    if not args:
        return noun.runs_bare and not ctx.resilient_parsing
    return args[0] not in {verb.name for verb in noun.verbs} and args[0] not in ctx.help_option_names
