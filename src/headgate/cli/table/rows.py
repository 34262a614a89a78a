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
    from headgate.cli import summaries
    from headgate.cli.table import preview
else:
    summaries = deferred_module("headgate.cli.summaries")
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
        snapshot = found.log.snapshot(version=version)
    answer = TableRows(
        table=table,
        version=snapshot.version,
        columns=shown,
        rows=tuple(msgspec.Raw(row) for row in read),
        num_rows=summaries.count_rows(snapshot),
    )
    if as_json:
        console.show_json(answer)
        return
    show.print_rows(answer.rows, answer.columns)
    console.say(f"{_how_many(answer, is_filtered=where is not None)} of version {answer.version}")


def _how_many(answer: TableRows, *, is_filtered: bool) -> str:
    """How many rows are shown, of how many, as far as that is known without reading the others."""
    shown = len(answer.rows)
    if is_filtered or answer.num_rows is None:
        return console.format_plural(shown, "row")
    return f"{shown:,} of {console.format_plural(answer.num_rows, 'row')}"
