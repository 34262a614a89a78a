"""The ``headgate`` command: its subcommands, and what they have in common."""

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typing_extensions import override

import headgate
from headgate.cli import console, exit_codes, lazy_commands, standard_streams
from headgate.cli.completion.variable import COMPLETE_VARIABLE
from headgate.cli.deferred import deferred_module
from headgate.cli.options import LakePlace, with_lake_behind_command
from headgate.errors import HeadgateError

if TYPE_CHECKING:
    from headgate.cli.completion import shell_scripts
else:
    shell_scripts = deferred_module("headgate.cli.completion.shell_scripts")


class _Commands(lazy_commands.LazyCommands):
    """Shows our own errors as a cause and a fix; anything else is a bug and keeps its traceback."""

    @override
    def main(self, *args: Any, **options: Any) -> Any:
        if COMPLETE_VARIABLE in os.environ:
            shell_scripts.register_shells()
        try:
            standard_streams.require_streams()
            with standard_streams.watched_output():
                return super().main(*args, **options | {"complete_var": COMPLETE_VARIABLE})
        except HeadgateError as exc:
            console.show_error(exc, as_json="--json" in sys.argv)
            sys.exit(exit_codes.exit_code_of(exc))

    @override
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_lake_behind_command(args))

    @override
    def invoke(self, ctx: Any) -> Any:
        as_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except HeadgateError as exc:
            console.show_error(exc, as_json=as_json)
            raise typer.Exit(exit_codes.exit_code_of(exc)) from exc


app = typer.Typer(
    name="headgate",
    cls=_Commands,
    help="Delta Lake with a catalog at the gate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if standard_streams.is_terminal() else None,  # help without boxes in a pipe
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        console.out().print(f"headgate {headgate.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    lake: LakePlace = None,
) -> None:
    """What comes before a command; the lake is handed to the command, where it may be named as well."""


lazy_commands.list_in(app)
