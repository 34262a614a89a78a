"""Which arguments do several commands share? And where in a command line may they stand?"""

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from headgate.cli.completion.table_names import complete_table
from headgate.cli.configuration import DEFAULT_PLACE, LAKE_VARIABLE

DEFAULT_LAKE = Path(DEFAULT_PLACE)

LakeFolder = Annotated[
    Path, typer.Option("--lake", envvar=LAKE_VARIABLE, metavar="DIR", help="The folder of the lake.")
]
LakePlace = Annotated[
    str | None,
    typer.Option(
        "--lake",
        envvar=LAKE_VARIABLE,
        metavar="DIR|URL",
        help="The lake: a folder, postgresql://… or https://…; else as headgate.toml says.",
    ),
]
LakeArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="LAKE",
        help="The lake: a folder, or the postgresql:// address of its database; else --lake says.",
    ),
]
TableArgument = Annotated[
    str, typer.Argument(help="The table, as schema.table.", autocompletion=complete_table)
]
OptionalTable = Annotated[
    str | None,
    typer.Argument(help="The table, as schema.table; all if none is given.", autocompletion=complete_table),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
LARGEST_NUMBER = 2**63 - 1
"""Of a version, a cursor, or a count of rows: what logs, databases and Arrow have room for."""
LONGEST_PAUSE = 86_400.0
"""Of seconds between two looks: a day."""
_LAKE, _NO_MORE_OPTIONS = "--lake", "--"


def number_option(*names: str, help: str, min: int, metavar: str | None = None) -> Any:  # noqa: A002  # as typer's
    """An option that is a whole number, small enough for whoever is asked with it."""
    return typer.Option(*names, help=help, min=min, metavar=metavar, callback=_require_small)


def number_argument(*, help: str, min: int) -> Any:  # noqa: A002  # as typer's
    """An argument that is such a number."""
    return typer.Argument(help=help, min=min, callback=_require_small)


def pause_option(*, help: str, min: float) -> Any:  # noqa: A002  # as typer's
    """The option ``--every``: so many seconds between two looks."""
    return typer.Option("--every", help=help, min=min, max=LONGEST_PAUSE, callback=_require_number)


def _require_small(number: int | None) -> int | None:
    if number is not None and number > LARGEST_NUMBER:
        raise typer.BadParameter(f"{number} is more than {LARGEST_NUMBER}, the largest number there is here.")
    return number


def _require_number(number: float) -> float:
    if math.isnan(number):  # which is in every range, as it compares
        raise typer.BadParameter(f"{number} is no number of seconds.")
    return number


def with_lake_behind_command(args: list[str]) -> list[str]:
    """The words of a command line, of which the lake may be the first: each command reads it for itself.

    ["--lake", "shop", "table", "list"] is ["table", "list", "--lake", "shop"]
    """
    words = 2 if args[:1] == [_LAKE] else 1
    if not (args and args[0].partition("=")[0] == _LAKE and len(args) > words):
        return args
    lake, command = args[:words], args[words:]
    end = command.index(_NO_MORE_OPTIONS) if _NO_MORE_OPTIONS in command else len(command)
    return [*command[:end], *lake, *command[end:]]
