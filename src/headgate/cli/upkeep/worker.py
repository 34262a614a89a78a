"""``headgate worker run``: tend the tables of a lake, once or for as long as it runs."""

import signal
import threading
from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.deferred import deferred_module
from headgate.cli.options import AsJson, LakeArgument, LakePlace, pause_option

if TYPE_CHECKING:
    from headgate.cli import session
    from headgate.table.maintenance.worker import TaskResult
else:
    session = deferred_module("headgate.cli.session")

_SECONDS = 10.0
_FAILED = "failed"


def worker(
    place: LakeArgument = None,
    *,
    lake: LakePlace = None,
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and end.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what is due, and end.")] = False,
    spark: Annotated[
        bool,
        typer.Option(
            "--spark",
            help="Also put files together, cluster and purge deleted rows, where it is permitted and due; "
            "Spark starts when something is.",
        ),
    ] = False,
    every: Annotated[float, pause_option(help="Seconds between two rounds.", min=0.1)] = _SECONDS,
    as_json: AsJson = False,
) -> None:
    """Publish, checkpoint, clean up and sweep what is due, until it is stopped."""
    with folder.open_lake(place or lake) as opened, session.lazy_session() as started:
        tender = opened.lake.worker(spark=started if spark else None)
        if once or dry_run:
            results = tender.run_once(dry_run=dry_run)
            if as_json:
                console.show_json(results)
            else:
                _print_results(results)
            failed = any(result.outcome.value == _FAILED for result in results)
            raise typer.Exit(1 if failed else 0)
        stop = threading.Event()
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, lambda *_: stop.set())
        if not as_json:
            console.say(f"tending {opened.place} every {every:g} s; stop with Ctrl-C")
        tender.run(every=every, stop=stop, tell=console.show_json_line if as_json else _print_result)


def _print_results(results: tuple["TaskResult", ...]) -> None:
    for result in results:
        _print_result(result)
    if not results:
        console.out().print("nothing is due")


def _print_result(result: "TaskResult") -> None:
    console.say(f"{result.subject}  {result.task}: {result.outcome.value}, {result.detail}")
