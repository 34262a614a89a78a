"""``headgate top``: a live view of a lake in the terminal."""

import time
from typing import Annotated

import typer
from rich.live import Live

from headgate.cli import console, folder
from headgate.cli.live import keyboard, screen
from headgate.cli.live.frames import LakeFrame, LakeWatch
from headgate.cli.live.screen import TableSort
from headgate.cli.options import AsJson, LakePlace, number_option, pause_option
from headgate.errors import HeadgateError

_SECONDS = 2.0
_TABLES = 40


def top(
    lake: LakePlace = None,
    every: Annotated[float, pause_option(help="Seconds between two looks.", min=0.2)] = _SECONDS,
    sort: Annotated[TableSort, typer.Option(help="By what tables are sorted.")] = TableSort.COMMITS,
    tables: Annotated[
        int,
        number_option(
            "--tables", help="Look at so many tables, those where something happened first.", min=1
        ),
    ] = _TABLES,
    once: Annotated[bool, typer.Option("--once", help="Print one frame, as in a pipe.")] = False,
    as_json: AsJson = False,
) -> None:
    """Watch a lake: its busiest tables, what waits to be published, refusals, events and leases."""
    with folder.open_lake(lake) as opened:
        watch = LakeWatch(opened, tables=tables)
        out = console.out()
        if as_json:
            console.show_json(watch.look())
        elif once or not out.is_terminal:
            screen.print_frame(out, watch.look(), sort)
        else:
            _watch(watch, every, sort)


def _watch(watch: LakeWatch, every: float, sort: TableSort) -> None:
    """Look again and again, until q or Ctrl-C; while the catalog does not answer, the last frame stays."""
    out = console.out()
    frame, problem = watch.look(), None
    try:
        with keyboard.single_keys(), Live(console=out, screen=True, auto_refresh=False) as live:
            while True:
                live.update(screen.draw_frame(frame, sort, out.size, problem), refresh=True)
                key = _key_before(time.monotonic() + every)
                if key == "q":
                    return
                if key == "s":
                    sort = sort.following
                    continue
                frame, problem = look_again(watch, frame)
    except KeyboardInterrupt:
        return


def _key_before(deadline: float) -> str:
    """The key s or q, if one of them is pressed in time."""
    while (left := deadline - time.monotonic()) > 0:
        key = keyboard.wait_for_key(left).lower()
        if key in ("q", "s"):
            return key
    return ""


def look_again(watch: LakeWatch, frame: LakeFrame) -> tuple[LakeFrame, str | None]:
    """The lake now; or the last frame, and why there is no other."""
    try:
        return watch.look(), None
    except HeadgateError as exc:
        return frame, exc.message
