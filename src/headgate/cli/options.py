"""The arguments several commands share."""

from pathlib import Path
from typing import Annotated

import typer

DEFAULT_LAKE = Path("lake")

LakeFolder = Annotated[
    Path, typer.Option("--lake", envvar="HEADGATE_LAKE", metavar="DIR", help="The folder of the lake.")
]
LakePlace = Annotated[
    str,
    typer.Option(
        "--lake",
        envvar="HEADGATE_LAKE",
        metavar="DIR|URL",
        help="The folder of the lake, or the postgresql:// address of its database.",
    ),
]
TableArgument = Annotated[str, typer.Argument(help="The table, as schema.table.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
