"""``headgate history``: what happened to a table."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from headgate.cli import console, folder, summaries
from headgate.cli.console import Column
from headgate.cli.options import DEFAULT_LAKE, AsJson, LakePlace, TableArgument
from headgate.cli.summaries import VersionSummary
from headgate.protocol.stats import operation_metrics
from headgate.protocol.stats.operation_metrics import FILES, ROWS, Count

_COLUMNS = (
    Column("version", right=True, style="bold"),
    Column("timestamp"),
    Column("operation"),
    Column("rows", right=True),
    Column("files", right=True),
    Column("commit"),
)


def history(
    table: TableArgument,
    lake: LakePlace = str(DEFAULT_LAKE),
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Only the newest N.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what happened to a table, newest first."""
    with folder.opened(lake) as opened:
        versions = summaries.of_history(opened, table, limit=limit)
    if as_json:
        console.show_json(versions)
    else:
        show(console.out(), versions)


def show(out: Console, versions: Sequence[VersionSummary], *, indent: int = 0) -> None:
    """The versions, a line each."""
    console.show_table(out, _COLUMNS, [_line(version) for version in versions], indent=indent)


def _line(version: VersionSummary) -> tuple[str, ...]:
    mode = version.operation_parameters.get("mode")
    operation = version.operation or "–"
    return (
        str(version.version),
        version.timestamp.replace("T", " "),
        f"{operation} ({mode})" if mode else operation,
        _shown(operation_metrics.counts(version.operation_metrics, ROWS)),
        _shown(operation_metrics.counts(version.operation_metrics, FILES)),
        version.commit,
    )


def _shown(counts: Sequence[Count]) -> str:
    """What was written or added as a number, everything else in words."""
    match counts:
        case ():
            return "–"
        case (Count("written" | "added", number),):
            return console.count(number)
        case _:
            return ", ".join(f"{console.count(each.number)} {each.verb}" for each in counts)
