"""How is a lake served? Its catalog is opened, callers are told apart, and it answers until stopped."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from headgate.catalog.ports.access import secret_digest
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.targets import DATABASE_FILE, CatalogTarget, is_postgresql
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
from headgate.server.settings import LakeSettings, ServerSettings
from headgate.storage.location_spelling import local_path


def serve_lakes(
    settings: ServerSettings, *, create: bool, listening: Callable[[ServerSettings, str], None]
) -> None:
    """Serve until it is stopped; ``listening`` hears at which address, with the settings as they are used."""
    exposure.require_safe_setup(settings)
    for lake in settings.lakes:
        _require_lake(lake, create=create)
    logs.set_up_logs(settings.log_level, settings.log_format)
    used = _with_token_file(settings)
    plan = ServerPlan(used, open_catalog, make_authenticator)
    start = supervisor.supervise if used.workers > 1 else run.serve_until_stopped
    start(plan, lambda address: listening(used, address))


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
    """Tells callers apart: by the owner's token, tokens of the lakes, and those of trusted issuers."""
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
