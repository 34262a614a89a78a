"""``headgate table drop``, ``dropped``, ``undrop``, ``rename`` and ``purge``: which tables there are."""

from typing import Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.answers.tables import DroppedTable, PlacedTable, PurgedTable, RenamedTable
from headgate.cli.completion.table_names import complete_dropped_table, complete_schema
from headgate.cli.console import OutputColumn
from headgate.cli.folder import OpenedLake
from headgate.cli.options import AsJson, LakePlace, TableArgument
from headgate.errors import InvalidRequest

DroppedArgument = Annotated[
    str,
    typer.Argument(
        help="The table that was dropped, as schema.table.", autocompletion=complete_dropped_table
    ),
]
IdOption = Annotated[
    str | None, typer.Option("--id", help="Which, if several were called so: table dropped shows the ids.")
]
_COLUMNS = (
    OutputColumn("table", style="bold"),
    OutputColumn("dropped (UTC)", is_whole=True),
    OutputColumn("id"),
)


def drop(table: TableArgument, lake: LakePlace = None, as_json: AsJson = False) -> None:
    """Take a table's name away; undrop brings it back.

    Its log and its data stay.
    """
    with folder.open_lake(lake) as opened:
        opened.lake.drop_table(table)
        entry = next(each for each in opened.lake.dropped() if str(each.name) == table.lower())
    if as_json:
        console.show_json(PlacedTable(table=table, id=entry.table_id, location=entry.location))
    else:
        console.say(f"{table} is dropped; headgate table undrop {table} brings it back")


def dropped(
    schema: Annotated[
        str | None, typer.Argument(help="Only this schema.", autocompletion=complete_schema)
    ] = None,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """List what was dropped and can be had back.

    The latest first.
    """
    with folder.open_lake(lake) as opened:
        entries = opened.lake.dropped(schema)
        if schema and not entries:
            folder.require_schema(opened, schema)
    found = tuple(
        DroppedTable(
            table=str(entry.name),
            id=entry.table_id,
            location=entry.location,
            dropped=None if entry.dropped_ms is None else console.format_iso(entry.dropped_ms),
        )
        for entry in entries
    )
    if as_json:
        console.show_json(found)
    elif found:
        rows = [(each.table, (each.dropped or "").replace("T", " "), each.id) for each in found]
        console.show_table(console.out(), _COLUMNS, rows)
    else:
        console.say("nothing is dropped that could be had back")


def undrop(
    table: DroppedArgument,
    to: Annotated[str | None, typer.Option("--to", help="By which name, if its own is in use.")] = None,
    table_id: IdOption = None,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Have back the table of that name that was dropped last."""
    name = to or table
    with folder.open_lake(lake) as opened:
        opened.lake.undrop(table, table_id=table_id, to=to)
        back = _named(opened, name)
    if as_json:
        console.show_json(back)
    else:
        console.say(f"{back.table} is back, in {back.location}")


def rename(
    table: TableArgument,
    to: Annotated[str, typer.Argument(help="Its name from now on, as schema.table.")],
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Give a table another name, in another schema if need be.

    Whoever has it open goes on.
    """
    with folder.open_lake(lake) as opened:
        opened.lake.rename(table, to)
        name = _named(opened, to).table
    if as_json:
        console.show_json(RenamedTable(table=table, to=name))
    else:
        console.say(f"{table} is called {name}")


def purge(
    table: DroppedArgument,
    table_id: IdOption = None,
    files: Annotated[bool, typer.Option("--files", help="Delete its files too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether it is meant.")] = False,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Get rid of a dropped table for good.

    With --files its files go too. This cannot be undone.
    """
    with folder.open_lake(lake) as opened:
        if not yes:
            _confirm(opened, table, table_id, files=files, as_json=as_json)
        gone = opened.lake.purge(table, table_id=table_id, files=files)
    if as_json:
        console.show_json(PurgedTable(table=table, id=gone, files_deleted=files))
    else:
        console.say(f"{table} is gone for good" + (", with its files" if files else "; its files stay"))


def _confirm(opened: OpenedLake, table: str, table_id: str | None, *, files: bool, as_json: bool) -> None:
    """Ask whether it is meant, if there is anything that could be; programs are not asked."""
    found = [each for each in opened.lake.dropped() if str(each.name) == table.lower()]
    if not any(table_id in (None, each.table_id) for each in found):
        return  # which the lake says better; or what is left of a purge is finished
    if as_json:
        raise InvalidRequest("what is purged cannot be had back: with --json say --yes, as nobody is asked")
    what = "and delete its files" if files else "and keep its files"
    typer.confirm(f"forget {table} {what}? This cannot be undone", abort=True, err=True)


def _named(opened: OpenedLake, name: str) -> PlacedTable:
    entry = next(each for each in opened.lake.tables() if str(each.name) == name.lower())
    return PlacedTable(table=str(entry.name), id=entry.table_id, location=entry.location)
