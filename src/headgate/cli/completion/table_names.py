"""Which names of a lake begin with the letters typed so far? Asked of it when a shell completes a word."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from headgate.cli import configuration
from headgate.cli.deferred import deferred_module
from headgate.clock import SystemWorld
from headgate.errors import HeadgateError
from headgate.settings import Settings

if TYPE_CHECKING:
    from headgate.catalog import targets
    from headgate.catalog.ports.catalog import LakeCatalog
    from headgate.catalog.ports.directory import TableEntry
    from headgate.lake import lake as lakes
    from headgate.plugins import catalogs
else:
    targets = deferred_module("headgate.catalog.targets")
    lakes = deferred_module("headgate.lake.lake")
    catalogs = deferred_module("headgate.plugins.catalogs")

_MOST = 1_000
_MOST_LOGS = 50


def complete_table(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of tables that begin so; nothing where the lake does not answer, and no word about why."""
    schema, dot, _ = incomplete.partition(".")
    return _ask(ctx, incomplete, lambda found: map(_name, found.tables(schema if dot else None)))


def complete_schema(ctx: typer.Context, incomplete: str) -> list[str]:
    """The schemas that begin so."""
    return sorted({name.partition(".")[0] for name in complete_table(ctx, incomplete)})


def complete_securable(ctx: typer.Context, incomplete: str) -> list[str]:
    """The schemas and tables that begin so."""
    return _ask(ctx, incomplete, lambda found: [*found.schemas(), *map(_name, found.tables())])


def complete_dropped_table(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of dropped tables that begin so."""
    return _ask(ctx, incomplete, lambda found: map(_name, found.dropped()))


def complete_stream(ctx: typer.Context, incomplete: str) -> list[str]:
    """The streams that begin so, of the first tables of the lake: each has its log read."""
    return _ask(ctx, incomplete, _streams)


def _name(entry: "TableEntry") -> str:
    return str(entry.name)


def _streams(catalog: "LakeCatalog") -> Iterator[str]:
    with lakes.Lake(catalog, settings=Settings(), world=SystemWorld()) as lake:
        for entry in lake.tables()[:_MOST_LOGS]:
            yield from lake.table(str(entry.name)).log.snapshot().state.txns


def _ask(
    ctx: typer.Context, incomplete: str, question: Callable[["LakeCatalog"], Iterable[str]]
) -> list[str]:
    """The answers of the catalog that begin so, each once."""
    with contextlib.suppress(HeadgateError, OSError):
        target = _target(ctx.params.get("lake"))
        if target is not None:
            with contextlib.closing(catalogs.open_catalog(target)) as catalog:
                found = dict.fromkeys(name for name in question(catalog) if name.startswith(incomplete))
            return list(found)[:_MOST]
    return []


def _target(named: str | None) -> "targets.CatalogTarget | None":
    """The lake that is meant; None for a folder without one, as to look must not make one."""
    around = configuration.current_surroundings()
    choice = configuration.choose_lake(named, around)
    if "://" not in choice.place and not (Path(choice.place) / targets.DATABASE_FILE).is_file():
        return None
    token = configuration.find_token(choice, around)
    return targets.CatalogTarget(choice.place, token=None if token is None else token.secret)
