"""``headgate table adopt`` and ``release``: a table comes under the catalog, and leaves it again."""

from typing import Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.answers.tables import PlacedTable
from headgate.cli.options import AsJson, LakePlace, TableArgument


def adopt(
    location: Annotated[str, typer.Argument(help="Where the Delta table is: a folder or an address.")],
    table: Annotated[str, typer.Argument(help="Its name in the lake, as schema.table.")],
    convert: Annotated[
        bool, typer.Option("--convert", help="A folder of parquet files becomes a Delta table first.")
    ] = False,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Take an existing Delta table into the lake, where it lies.

    From then on the catalog ratifies its commits.
    """
    with folder.open_lake(lake) as opened:
        opened.lake.adopt(location, table, convert=convert)
        entry = next(each for each in opened.lake.tables() if str(each.name) == table.lower())
    if as_json:
        console.show_json(PlacedTable(table=str(entry.name), id=entry.table_id, location=entry.location))
    else:
        console.say(f"{entry.name} is the lake's, and stays in {entry.location}")


def release(
    table: TableArgument,
    keep_timestamps: Annotated[
        bool,
        typer.Option(
            "--keep-timestamps/--no-timestamps", help="Keep in-commit timestamps, which some clients refuse."
        ),
    ] = True,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Give a table back: an ordinary Delta table again.

    It stays where it is, and the lake knows it no more.
    """
    with folder.open_lake(lake) as opened:
        entry = next((each for each in opened.lake.tables() if str(each.name) == table.lower()), None)
        by_path = opened.lake.release(table, keep_timestamps=keep_timestamps)
    if as_json:
        table_id = "" if entry is None else entry.table_id
        console.show_json(PlacedTable(table=table, id=table_id, location=by_path.location))
    else:
        console.say(f"{table} is released; it is an ordinary Delta table in {by_path.location}")
