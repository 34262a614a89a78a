"""``headgate table list``: what tables a lake has."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from headgate.cli import console, folder
from headgate.cli.answers.tables import TableSummary
from headgate.cli.completion.table_names import complete_schema
from headgate.cli.console import OutputColumn
from headgate.cli.deferred import deferred_module
from headgate.cli.options import AsJson, LakePlace
from headgate.cli.visible_text import visible_lines

if TYPE_CHECKING:
    from headgate.cli import summaries
else:
    summaries = deferred_module("headgate.cli.summaries")

_COLUMNS = (
    OutputColumn("table", style="bold"),
    OutputColumn("version", right=True),
    OutputColumn("published", right=True),
    OutputColumn("rows", right=True),
    OutputColumn("files", right=True),
    OutputColumn("size", right=True),
    OutputColumn("last commit (UTC)", is_whole=True),
)

_TO_THE_MINUTE = 16


def tables(
    schema: Annotated[
        str | None, typer.Argument(help="Only this schema.", autocompletion=complete_schema)
    ] = None,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """List the tables of a lake."""
    with folder.open_lake(lake) as opened:
        found = summaries.summarize_tables(opened, schema)
        if schema and not found:
            folder.require_schema(opened, schema)
    if as_json:
        console.show_json(found)
    elif found:
        print_tables(console.out(), found)
    else:
        console.out().print(_empty(opened.place, schema))


def print_tables(out: Console, found: Sequence[TableSummary], *, indent: int = 0) -> None:
    """The tables, a line each."""
    console.show_table(out, _COLUMNS, [_line(table) for table in found], indent=indent)
    for table in found:
        if table.problem:
            problem = visible_lines(f"{table.name} cannot be read: {table.problem}")
            out.print(problem, markup=False, soft_wrap=True)


def _line(table: TableSummary) -> tuple[str, ...]:
    return (
        table.name,
        str(table.version),
        str(table.catalog.published),
        console.format_count(table.num_rows),
        console.format_count(table.num_files),
        console.format_size(table.size_in_bytes),
        (table.last_modified or "").replace("T", " ")[:_TO_THE_MINUTE],
    )


def _empty(place: str, schema: str | None) -> str:
    where = f"{place}, schema {schema}" if schema else place
    return (
        f'no tables in {where} yet: headgate table create schema.table "id BIGINT, …", or in Python '
        f'lake.create_table("schema.table", "id BIGINT, …"), makes one'
    )
