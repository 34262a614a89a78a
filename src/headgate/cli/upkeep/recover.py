"""``headgate recover``: rebuild a catalog whose database is lost, or older than its tables."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from headgate.cli import console, exit_codes, folder
from headgate.cli.deferred import deferred_module
from headgate.cli.options import AsJson, LakePlace
from headgate.cli.visible_text import visible_line, visible_lines

if TYPE_CHECKING:
    from headgate.catalog import targets
    from headgate.lake import lake_recovery
    from headgate.table.maintenance.recovery import RecoveredTable, RecoveryReport
else:
    targets = deferred_module("headgate.catalog.targets")
    lake_recovery = deferred_module("headgate.lake.lake_recovery")

_REBUILT = "rebuilt"
_STYLES = {_REBUILT: "bold green", "caught up": "bold green", "unchanged": "", "left alone": "bold yellow"}
"""How each outcome looks."""


def recover(
    lake: LakePlace = None,
    warehouse: Annotated[
        str | None,
        typer.Option("--warehouse", metavar="DIR|URL", help="Where the tables are, for a new database."),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option("--table", metavar="PATH", help="An adopted table that lies elsewhere; repeatable."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    as_json: AsJson = False,
) -> None:
    """Rebuild a lost catalog, or bring one that was restored up to date, from the logs of its tables.

    Ends with status 1 if something may be lost: it says what.
    """
    place = folder.choose_database(lake, "recover")
    done = lake_recovery.recover(place, warehouse=warehouse, tables=table or (), dry_run=dry_run)
    if as_json:
        console.show_json(done)
    else:
        print_recovery(console.out(), done, targets.without_password(place))
    if any(found.may_lack for found in done.tables):
        raise typer.Exit(1)


def print_recovery(out: Console, done: "RecoveryReport", place: str) -> None:
    """A line for each table, and below it what may be lost."""
    would = " (dry run: nothing was changed)" if done.dry_run else ""
    if done.schemas:
        made = "would be made" if done.dry_run else "made"
        out.print(f"schemas {made}: {', '.join(map(visible_line, done.schemas))}", soft_wrap=True)
    if not done.tables:
        out.print(f"no tables of a catalog in {place}, so nothing to recover{would}", markup=False)
        return
    names = [visible_line(table.name) for table in done.tables]
    width = max(map(len, names))
    for name, table in zip(names, done.tables, strict=True):
        reach = "" if table.version is None else f", version {table.version}"
        out.print(
            Text.assemble(
                (name.ljust(width), "bold"),
                "  ",
                (table.outcome.value, _STYLES[table.outcome.value]),
                reach,
            ),
            soft_wrap=True,
        )
        for line in _lines(table):
            out.print(f"  {visible_lines(line)}", markup=False, soft_wrap=True)
    counted = console.format_plural(sum(each.outcome.value == _REBUILT for each in done.tables), "table")
    out.print(f"{counted} rebuilt of {len(done.tables)}{would}", markup=False)


def _lines(table: "RecoveredTable") -> list[str]:
    lines = [exit_codes.said_in_commands(note) for note in table.notes]
    if table.lost is not None:
        first, last = table.lost
        what = f"version {last} is" if first == last else f"versions {first} to {last} are"
        lines.append(f"lost: {what} in no published file, and the catalog does not have them")
    if table.staged:
        lines.append(f"kept, and not taken for ratified: {', '.join(table.staged)} in {table.location}")
    return lines
