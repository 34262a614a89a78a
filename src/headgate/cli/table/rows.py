"""``headgate table rows``: some rows of a table, read in this process."""

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from headgate.cli import console, folder
from headgate.cli.answers.tables import TableRows
from headgate.cli.deferred import deferred_module
from headgate.cli.options import AsJson, LakePlace, TableArgument, number_option
from headgate.cli.table import show

if TYPE_CHECKING:
    from headgate.cli.table import preview
else:
    preview = deferred_module("headgate.cli.table.preview")

_FEW = 20


def rows(
    table: TableArgument,
    *,
    lake: LakePlace = None,
    limit: Annotated[int, number_option("--limit", "-n", min=1, help="At most so many rows.")] = _FEW,
    columns: Annotated[
        str | None, typer.Option("--columns", help="Only these, with commas between them.")
    ] = None,
    where: Annotated[
        str | None, typer.Option("--where", help="Only rows that meet a condition of SQL.")
    ] = None,
    version: Annotated[int | None, number_option("--version", min=0, help="As of this version.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show some rows of a table, read without Spark."""
    names = None if columns is None else tuple(name.strip() for name in columns.split(","))
    with folder.open_lake(lake) as opened:
        found = opened.lake.table(table)
        asked = preview.RowsRequest(limit, names, where, version)
        shown, read = preview.read_rows(found, asked)
        at = found.version() if version is None else version
    answer = TableRows(table=table, version=at, columns=shown, rows=tuple(msgspec.Raw(row) for row in read))
    if as_json:
        console.show_json(answer)
        return
    show.print_rows(answer.rows, answer.columns)
    console.say(f"{console.format_plural(len(answer.rows), 'row')} of version {at}")
