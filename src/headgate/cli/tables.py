"""``headgate tables``: what tables a lake has."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from headgate.catalog import targets
from headgate.cli import console, folder, summaries
from headgate.cli.console import OutputColumn
from headgate.cli.options import DEFAULT_LAKE, AsJson, LakePlace
from headgate.cli.summaries import TableSummary

_COLUMNS = (
    OutputColumn("table", style="bold"),
    OutputColumn("version", right=True),
    OutputColumn("published", right=True),
    OutputColumn("rows", right=True),
    OutputColumn("files", right=True),
    OutputColumn("size", right=True),
    OutputColumn("last commit (UTC)"),
)

_TO_THE_MINUTE = 16


def tables(
    schema: Annotated[str | None, typer.Argument(help="Only this schema.")] = None,
    lake: LakePlace = str(DEFAULT_LAKE),
    as_json: AsJson = False,
) -> None:
    """List the tables of a lake."""
    with folder.open_lake(lake) as opened:
        found = summaries.summarize_tables(opened, schema)
    if as_json:
        console.show_json(found)
    elif found:
        print_tables(console.out(), found)
    else:
        console.out().print(_empty(lake, schema))


def print_tables(out: Console, found: Sequence[TableSummary], *, indent: int = 0) -> None:
    """The tables, a line each."""
    console.show_table(out, _COLUMNS, [_line(table) for table in found], indent=indent)
    for table in found:
        if table.problem:
            out.print(f"{table.name} cannot be read: {table.problem}", markup=False, soft_wrap=True)


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


def _empty(lake: str, schema: str | None) -> str:
    place = targets.without_password(lake)
    where = f"{place}, schema {schema}" if schema else place
    return f'no tables in {where} yet: lake.create_table("schema.table", "id BIGINT, …") makes one'
