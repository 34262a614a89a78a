"""``headgate server``: a lake behind HTTP, for every engine that speaks to a catalog."""

import inspect
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headgate.cli import configuration, console, folder
from headgate.cli.answers.upkeep import ServerSetting, ServerStarted
from headgate.cli.console import OutputColumn
from headgate.cli.deferred import deferred_module
from headgate.cli.options import AsJson, LakeArgument, LakePlace
from headgate.server.settings import ROWS, LakeSettings, ServerSettings, SettingRow, load_settings

if TYPE_CHECKING:
    from headgate.cli.upkeep import lake_server
else:
    lake_server = deferred_module("headgate.cli.upkeep.lake_server")

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", envvar="HEADGATE_SERVER_CONFIG", metavar="FILE", help="A TOML file of settings."
    ),
]


def serve(
    place: LakeArgument = None,
    *,
    lake: LakePlace = None,
    name: Annotated[str, typer.Option("--name", help="What the lake is called by clients.")] = "main",
    warehouse: Annotated[
        str | None,
        typer.Option("--warehouse", metavar="DIR|URL", help="Where the tables are, for a new database."),
    ] = None,
    create: Annotated[bool, typer.Option("--create", help="Make the lake if there is none.")] = False,
    config: ConfigOption = None,
    as_json: AsJson = False,
    **flags: Any,
) -> None:
    """Serve a lake over HTTP, to this client and to other engines, until it is stopped."""
    settings = load_settings(config, os.environ, flags)
    named = place or lake or _configured_place(settings)
    if named is not None:
        chosen = folder.choose_database(named, "server run")
        settings = replace(settings, lakes=(*settings.lakes, LakeSettings(name.lower(), chosen, warehouse)))
    tell = _tell_json if as_json else _tell
    lake_server.serve_lakes(settings, create=create, listening=tell)


def show_settings(config: ConfigOption = None, as_json: AsJson = False) -> None:
    """Show every setting of the server.

    Its value here, its variable and its flag.
    """
    used = load_settings(config, os.environ, {})
    found = tuple(
        ServerSetting(
            name=row.name,
            value=getattr(used, row.name),
            default=row.default,
            variable=row.variable,
            flag=row.flag,
            meaning=row.sentence,
        )
        for row in ROWS
    )
    if as_json:
        console.show_json(found)
        return
    columns = (
        OutputColumn("setting", style="bold"),
        OutputColumn("value"),
        OutputColumn("variable"),
        OutputColumn("what it is"),
    )
    rows = [(row.name, _shown(row.value), row.variable, row.meaning) for row in found]
    console.show_table(console.out(), columns, rows)


def _shown(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _configured_place(settings: ServerSettings) -> str | None:
    """The lake of the configuration, where no other is named to be served."""
    if settings.lakes:
        return None
    choice = configuration.choose_lake(None, configuration.current_surroundings())
    return None if choice.file is None else choice.place


def _tell(settings: ServerSettings, address: str) -> None:
    out = console.out()
    names = ", ".join(lake.name for lake in settings.lakes)
    out.print(f"serving {names} at {address}; stop with Ctrl-C", markup=False, soft_wrap=True)
    if settings.auth:
        out.print(f"the owner's token is in {settings.admin_token_file}", markup=False, soft_wrap=True)
    out.file.flush()


def _tell_json(settings: ServerSettings, address: str) -> None:
    console.show_json_line(
        ServerStarted(
            lakes=tuple(lake.name for lake in settings.lakes),
            address=address,
            token_file=settings.admin_token_file if settings.auth else None,
        )
    )


def _flag(row: SettingRow) -> inspect.Parameter:
    default = str(row.default).lower() if row.type is bool else row.default
    shown = "" if row.default is None else f" [default: {default}]"
    option = typer.Option(row.flag, help=row.sentence + shown, show_default=False)
    annotation: Any = Annotated[row.type | None, option]
    return inspect.Parameter(row.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _declare_flags(command: Any, rows: tuple[SettingRow, ...]) -> None:
    """Give the command an option for each row, in place of ``**flags``; typer reads its signature."""
    written: Mapping[str, inspect.Parameter] = inspect.signature(command).parameters
    kept = [each for each in written.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    signature = inspect.Signature([*kept, *(_flag(row) for row in rows)])
    command.__signature__ = signature
    command.__annotations__ = {name: each.annotation for name, each in signature.parameters.items()}


_declare_flags(serve, ROWS)
