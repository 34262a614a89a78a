"""Which tables may be meant by the letters typed so far? Asked of the lake, when a shell completes a word."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from headgate.cli import configuration
from headgate.cli.deferred import deferred_module
from headgate.errors import HeadgateError

if TYPE_CHECKING:
    from headgate.catalog import targets
    from headgate.plugins import catalogs
else:
    targets = deferred_module("headgate.catalog.targets")
    catalogs = deferred_module("headgate.plugins.catalogs")

_MOST = 1_000


def complete_table(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of tables that begin so; nothing where the lake does not answer, and no word about why."""
    with contextlib.suppress(HeadgateError, OSError):
        return _names(ctx.params.get("lake"), incomplete)
    return []


def complete_schema(ctx: typer.Context, incomplete: str) -> list[str]:
    """The schemas that begin so."""
    return sorted({name.partition(".")[0] for name in complete_table(ctx, incomplete)})


def _names(named: str | None, incomplete: str) -> list[str]:
    around = configuration.current_surroundings()
    choice = configuration.choose_lake(named, around)
    if "://" not in choice.place and not (Path(choice.place) / targets.DATABASE_FILE).is_file():
        return []  # to look must not make one
    token = configuration.find_token(choice, around)
    target = targets.CatalogTarget(choice.place, token=None if token is None else token.secret)
    schema, dot, _ = incomplete.partition(".")
    with contextlib.closing(catalogs.open_catalog(target)) as catalog:
        found = [str(entry.name) for entry in catalog.tables(schema if dot else None)]
    return [name for name in found if name.startswith(incomplete)][:_MOST]
