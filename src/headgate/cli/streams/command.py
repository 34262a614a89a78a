"""``headgate stream``: read a table as it grows; list the streams that write, and show one of them."""

import time
from collections.abc import Iterator
from enum import Enum
from itertools import islice
from typing import Annotated, Literal

import typer

from headgate.cli import console, folder, session
from headgate.cli.completion.table_names import complete_stream, complete_table
from headgate.cli.console import OutputColumn
from headgate.cli.options import AsJson, LakePlace, TableArgument, number_option
from headgate.cli.streams import writers
from headgate.cli.streams.row_lines import ChangeFollower, RowFollower, RowLine, RowsAsked
from headgate.cli.streams.writers import StreamWriter, WriterDetail
from headgate.errors import InvalidRequest

app = typer.Typer(
    help="Read a table as it grows, and see which streams write to tables.",
    no_args_is_help=True,
    add_completion=False,
)

_SECONDS = 1.0
_LATEST = "latest"
_HISTORY = 100


class ChangedRows(Enum):
    """What becomes of commits that do more than add rows."""

    REFUSE = "refuse"
    """The stream stops before them, and says so."""
    SKIP = "skip"
    """They are passed over, with the rows that they add."""
    SHOW = "show"
    """Each row is shown as the change data feed has it; this takes Spark."""


@app.command("read")
def read_stream(
    table: TableArgument,
    lake: LakePlace = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="VERSION", help="The first version, or latest: what comes next."),
    ] = None,
    changes: Annotated[
        ChangedRows, typer.Option(help="What becomes of commits that take rows away or change them.")
    ] = ChangedRows.REFUSE,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")] = False,
    limit: Annotated[int | None, number_option("--limit", min=1, help="End after so many rows.")] = None,
) -> None:
    """Print the rows of a table as they are committed, each as a line of JSON."""
    with folder.open_lake(lake) as opened, session.lazy_session() as spark:
        handle = opened.lake.table(table)
        follower: RowFollower | ChangeFollower
        if changes is ChangedRows.SHOW:
            newest = handle.log.describe().version
            follower = ChangeFollower(handle, _feed_start(start, newest), spark)
        else:
            follower = RowFollower(handle, RowsAsked(_row_start(start), changes is ChangedRows.SKIP))
        for line in islice(_lines(follower, follow=follow), limit):
            console.show_json_line(line)


@app.command("list")
def list_streams(
    table: Annotated[
        str | None, typer.Argument(help="Only this table, as schema.table.", autocompletion=complete_table)
    ] = None,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """List the streams that wrote to tables, and the last batch of each."""
    with folder.open_lake(lake) as opened:
        found = writers.list_writers(opened, table)
    if as_json:
        console.show_json(found)
    elif found:
        _print_writers(found)
    else:
        console.out().print(
            "no stream wrote to any table" if table is None else f"no stream wrote to {table}"
        )


@app.command("show")
def show_stream(
    stream: Annotated[
        str,
        typer.Argument(
            help="The id of the stream, as headgate stream list has it.", autocompletion=complete_stream
        ),
    ],
    lake: LakePlace = None,
    limit: Annotated[
        int, number_option("--limit", min=1, help="Look for its batches in so many versions of each table.")
    ] = _HISTORY,
    as_json: AsJson = False,
) -> None:
    """Show to which tables a stream wrote, its last batch in each, and its latest versions."""
    with folder.open_lake(lake) as opened:
        found = writers.show_writer(opened, stream, limit=limit)
    if as_json:
        console.show_json(found)
    else:
        _print_details(found)


def _lines(follower: RowFollower | ChangeFollower, *, follow: bool) -> Iterator[RowLine]:
    yield from follower.new_lines()
    while follow:
        time.sleep(_SECONDS)
        yield from follower.new_lines()


def _row_start(given: str | None) -> int | Literal["latest"] | None:
    return "latest" if given == _LATEST else None if given is None else _version(given)


def _feed_start(given: str | None, newest: int) -> int:
    if given is None:
        raise InvalidRequest("say from which version changes are wanted: --from VERSION, or --from latest")
    return newest + 1 if given == _LATEST else _version(given)


def _version(given: str) -> int:
    if not given.isdecimal():
        raise InvalidRequest(f"--from takes the number of a version, or latest, and not {given!r}")
    return int(given)


def _print_writers(found: tuple[StreamWriter, ...]) -> None:
    columns = (
        OutputColumn("table", style="bold"),
        OutputColumn("stream"),
        OutputColumn("last batch", right=True),
        OutputColumn("at (UTC)", is_whole=True),
    )
    console.show_table(
        console.out(),
        columns,
        [
            (each.table, each.stream, str(each.last_batch), (each.last_updated or "").replace("T", " "))
            for each in found
        ],
    )


def _print_details(found: tuple[WriterDetail, ...]) -> None:
    out = console.out()
    for detail in found:
        _print_writers((detail.writer,))
        rows = [
            (
                str(commit.version),
                commit.timestamp.replace("T", " "),
                "" if commit.batch is None else str(commit.batch),
                console.format_count(commit.rows),
            )
            for commit in detail.commits
        ]
        columns = (
            OutputColumn("version", right=True),
            OutputColumn("committed (UTC)", is_whole=True),
            OutputColumn("batch", right=True),
            OutputColumn("rows", right=True),
        )
        console.show_table(out, columns, rows, indent=2)
