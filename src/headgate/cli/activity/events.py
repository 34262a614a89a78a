"""``headgate event``: what happened in a lake, in the one order of all that happened."""

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.answers.activity import EventAnswer
from headgate.cli.completion.kinds import complete_event_kind
from headgate.cli.completion.table_names import complete_table
from headgate.cli.console import OutputColumn
from headgate.cli.deferred import deferred_module
from headgate.cli.folder import OpenedLake
from headgate.cli.options import AsJson, LakePlace, number_option, pause_option
from headgate.errors import InvalidRequest, TableNotFound

if TYPE_CHECKING:
    from headgate.catalog.figures import event_sentences
    from headgate.catalog.ports import events as event_port
else:
    event_sentences = deferred_module("headgate.catalog.figures.event_sentences")
    event_port = deferred_module("headgate.catalog.ports.events")

_COLUMNS = (
    OutputColumn("cursor", right=True),
    OutputColumn("timestamp (UTC)", is_whole=True),
    OutputColumn("kind", style="bold"),
    OutputColumn("table"),
    OutputColumn("version", right=True),
    OutputColumn("what"),
)
_PAGE = 1_000
KindOption = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        help="Only such as commit, create, drop, refusal or incident; repeatable.",
        autocompletion=complete_event_kind,
    ),
]
TableOption = Annotated[
    str | None, typer.Option("--table", help="Only of this table.", autocompletion=complete_table)
]


def list_events(
    after: Annotated[
        int | None, number_option("--after", min=0, help="The first after this cursor; else the latest.")
    ] = None,
    limit: Annotated[int, number_option("--limit", "-n", min=1, help="At most so many.")] = 100,
    kind: KindOption = None,
    table: TableOption = None,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """List what happened in a lake lately, the oldest first."""
    wanted = partial(_is_wanted, kinds=kind, table=table)
    _require_kinds(kind)
    with folder.open_lake(lake) as opened:
        _require_table(opened, table)
        events = (
            _latest(opened, wanted, limit)
            if after is None
            else islice(filter(wanted, _events(opened, after)), limit)
        )
        found = tuple(events)
    if as_json:
        console.show_json([describe_event(event) for event in found])
    elif found:
        console.show_table(console.out(), _COLUMNS, [_cells(event) for event in found])
    else:
        since = "yet" if after is None else "since then"
        console.say("nothing of that kind happened" if kind or table else f"nothing happened {since}")


def follow_events(
    *,
    after: Annotated[
        int | None, number_option("--after", min=0, help="Begin behind this cursor; else with what comes.")
    ] = None,
    count: Annotated[int | None, number_option("--count", min=1, help="End after so many.")] = None,
    every: Annotated[float, pause_option(min=0.1, help="Seconds between two looks.")] = 0.5,
    kind: KindOption = None,
    table: TableOption = None,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Print what happens in a lake as it happens, a line each.

    Until it is stopped, or with --count after so many.
    """
    left, pause = count, threading.Event()
    _require_kinds(kind)
    with folder.open_lake(lake) as opened:
        _require_table(opened, table)
        cursor = opened.catalog.events.newest() if after is None else after
        while True:
            for event in _events(opened, cursor):
                cursor = event.cursor
                if not _is_wanted(event, kind, table):
                    continue
                _print_event(event, as_json=as_json)
                left = None if left is None else left - 1
                if left == 0:
                    return
            pause.wait(every)


def describe_event(event: "event_port.Event") -> EventAnswer:
    """An event as JSON has it."""
    return EventAnswer(
        cursor=event.cursor,
        kind=event.kind.value,
        timestamp=console.format_iso(event.timestamp),
        table=event.table,
        table_id=event.table_id,
        version=event.version,
        txn_id=event.txn_id,
        operation=event.operation,
        details=event.details,
    )


def _events(opened: OpenedLake, after: int) -> Iterator["event_port.Event"]:
    """What there is by now after a cursor."""
    while page := opened.lake.events(after=after, limit=_PAGE):
        yield from page
        after = page[-1].cursor


def _latest(
    opened: OpenedLake, wanted: Callable[["event_port.Event"], bool], limit: int
) -> Sequence["event_port.Event"]:
    """The last so many that are wanted; looked for backwards, and no further than events are remembered."""
    found: list[event_port.Event] = []
    before: int | None = None
    feed = opened.catalog.events
    feed.list_pending()
    while len(found) < limit and before != 1:
        window = feed.window(before, limit=_PAGE)
        found = [*filter(wanted, window.events), *found]
        before = 1 if window.is_forgotten else max(1, window.end - _PAGE)
    return found[-limit:]


def _require_kinds(kinds: list[str] | None) -> None:
    known = {kind.value for kind in event_port.EventKind}
    for kind in kinds or ():
        if kind not in known:
            raise InvalidRequest(f"{kind!r} is no kind of event: there is {', '.join(sorted(known))}")


def _require_table(opened: OpenedLake, table: str | None) -> None:
    """Refuse a name of no table, unless there are events from when there was one."""
    if table is None:
        return
    known = (str(entry.name) for entry in (*opened.lake.tables(), *opened.lake.dropped()))
    if table.lower() in known or _latest(opened, partial(_is_wanted, kinds=None, table=table), 1):
        return
    raise TableNotFound(f"there is no table {table}, and no event tells of one", name=table)


def _is_wanted(event: "event_port.Event", kinds: list[str] | None, table: str | None) -> bool:
    if kinds and event.kind.value not in kinds:
        return False
    return table is None or (event.table or "").lower() == table.lower()


def _print_event(event: "event_port.Event", *, as_json: bool) -> None:
    if as_json:
        console.show_json_line(describe_event(event))
    else:
        console.say("  ".join(filter(None, _cells(event))))


def _cells(event: "event_port.Event") -> tuple[str, ...]:
    return (
        str(event.cursor),
        console.format_timestamp(event.timestamp),
        event.kind.value,
        event.table or "",
        "" if event.version is None else str(event.version),
        event.operation or event_sentences.event_sentence(event),
    )
