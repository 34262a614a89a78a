"""``headgate serve``: a lake behind HTTP, for every engine that speaks to a catalog."""

import inspect
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from headgate.catalog.ports.access import secret_digest
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.targets import DATABASE_FILE, CatalogTarget, is_postgresql
from headgate.cli import console
from headgate.clock import SystemWorld
from headgate.errors import InvalidRequest
from headgate.lake import lake_recovery
from headgate.plugins import catalogs
from headgate.server import admin_token, exposure, run, supervisor
from headgate.server.auth.credentials import CredentialAuthenticator
from headgate.server.auth.oidc import TokenVerifier
from headgate.server.caller import Authenticator, NoAuthentication
from headgate.server.lakes import ServedLakes
from headgate.server.operations import logs
from headgate.server.run import ServerPlan
from headgate.server.settings import ROWS, LakeSettings, ServerSettings, SettingRow, load_settings
from headgate.storage.locate import local_path


def serve(
    place: Annotated[
        str | None,
        typer.Argument(
            metavar="LAKE",
            envvar="HEADGATE_LAKE",
            help="The folder of the lake, or the postgresql:// address of its database.",
        ),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="What the lake is called by clients.")] = "main",
    warehouse: Annotated[
        str | None,
        typer.Option("--warehouse", metavar="DIR|URL", help="Where the tables are, for a new database."),
    ] = None,
    create: Annotated[bool, typer.Option("--create", help="Make the lake if there is none.")] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", envvar="HEADGATE_SERVER_CONFIG", metavar="FILE", help="A TOML file of settings."
        ),
    ] = None,
    **flags: Any,
) -> None:
    """Serve a lake over HTTP, to this client and to other engines, until it is stopped."""
    settings = load_settings(config, os.environ, flags)
    if place is not None:
        named = LakeSettings(name.lower(), place, warehouse)
        settings = replace(settings, lakes=(*settings.lakes, named))
    exposure.require_safe_setup(settings)
    for lake in settings.lakes:
        _require_lake(lake, create=create)
    logs.set_up_logs(settings.log_level, settings.log_format)
    settings = _with_token_file(settings)
    plan = ServerPlan(settings, open_catalog, make_authenticator)
    start = supervisor.supervise if settings.workers > 1 else run.serve_until_stopped
    start(plan, lambda address: _tell(settings, address))


def _tell(settings: ServerSettings, address: str) -> None:
    out = console.out()
    names = ", ".join(lake.name for lake in settings.lakes)
    out.print(f"serving {names} at {address}; stop with Ctrl-C", markup=False, soft_wrap=True)
    if settings.auth:
        out.print(f"the owner's token is in {settings.admin_token_file}", markup=False, soft_wrap=True)
    out.file.flush()


def open_catalog(lake: LakeSettings) -> LakeCatalog:
    """The catalog of a lake, if its database is the one that its tables belong to."""
    catalog = catalogs.open_catalog(CatalogTarget(lake.place, lake.warehouse))
    try:
        lake_recovery.require_intact(catalog, lake.place)
    except BaseException:
        catalog.close()
        raise
    return catalog


def make_authenticator(settings: ServerSettings, lakes: ServedLakes) -> Authenticator:
    """Who tells callers apart: by the owner's token, tokens of the lakes, and those of trusted issuers."""
    if not settings.auth:
        return NoAuthentication()
    token = admin_token.ensure_token(Path(settings.admin_token_file or ""))
    world = SystemWorld()
    issuers = TokenVerifier(settings.issuers, world) if settings.issuers else None
    return CredentialAuthenticator(lakes, world, secret_digest(token), issuers)


def _require_lake(lake: LakeSettings, *, create: bool) -> None:
    if is_postgresql(lake.place):
        return
    folder = Path(local_path(lake.place))
    if (folder / DATABASE_FILE).is_file():
        return
    lake_recovery.require_database(folder)
    if not create:
        raise InvalidRequest(
            f"there is no lake in {str(folder)!r}: name another folder, or have it made with --create",
            code="HEADGATE_LAKE_NOT_FOUND",
        )


def _with_token_file(settings: ServerSettings) -> ServerSettings:
    """The settings with the place of the token: where they say, else next to the first lake in a folder."""
    if not settings.auth:
        return settings
    if settings.admin_token_file is None:
        local = next((lake.place for lake in settings.lakes if not is_postgresql(lake.place)), None)
        if local is None:
            raise InvalidRequest(
                "a lake in a database has no folder for the owner's token: name a file with "
                "--admin-token-file"
            )
        folder = Path(local_path(local))
        folder.mkdir(parents=True, exist_ok=True)
        settings = replace(settings, admin_token_file=str((folder / admin_token.FILE_NAME).absolute()))
    admin_token.ensure_token(Path(settings.admin_token_file or ""))
    return settings


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
