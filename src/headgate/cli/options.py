"""The arguments several commands share."""

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
