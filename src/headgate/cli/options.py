"""Which arguments do several commands share? And where in a command line may they stand?"""

from pathlib import Path
from typing import Annotated

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
_LAKE, _NO_MORE_OPTIONS = "--lake", "--"


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
