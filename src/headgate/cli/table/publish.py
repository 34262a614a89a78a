"""``headgate table publish`` and ``checkpoint``: for clients that only read the log."""

from typing import TYPE_CHECKING

from headgate.cli import console, folder
from headgate.cli.answers.tables import PublishedTable, TableVersion
from headgate.cli.deferred import deferred_module
from headgate.cli.folder import OpenedLake
from headgate.cli.options import AsJson, LakePlace, OptionalTable, TableArgument
from headgate.progress import reporting

if TYPE_CHECKING:
    from headgate.catalog.ports.directory import TableEntry
    from headgate.cli import summaries
else:
    summaries = deferred_module("headgate.cli.summaries")


def publish(table: OptionalTable = None, lake: LakePlace = None, as_json: AsJson = False) -> None:
    """Publish every ratified commit to _delta_log."""
    with folder.open_lake(lake) as opened:
        entries = opened.lake.tables() if table is None else (summaries.find_entry(opened, table),)
        with reporting.tracked("publish tables", entries) as each:
            done = tuple(_publish(opened, entry) for entry in each)
    if as_json:
        console.show_json(done)
        return
    width = max((len(published.table) for published in done), default=0)
    for published in done:
        console.say(f"{published.table.ljust(width)}  {_verdict(published)}")
    if not done:
        console.say(f"no tables in {opened.place}, so nothing to publish")


def checkpoint(table: TableArgument, lake: LakePlace = None, as_json: AsJson = False) -> None:
    """Write a checkpoint of the latest version.

    Readers then need not replay the log.
    """
    with folder.open_lake(lake) as opened:
        made = TableVersion(table=table, version=opened.lake.table(table).checkpoint())
    if as_json:
        console.show_json(made)
    else:
        console.say(f"{table} has a checkpoint of version {made.version}")


def _publish(opened: OpenedLake, entry: "TableEntry") -> PublishedTable:
    before = opened.catalog.tail(entry.table_id).published
    opened.lake.table(str(entry.name)).publish()
    after = opened.catalog.tail(entry.table_id).published
    return PublishedTable(table=str(entry.name), before=before, published=after)


def _verdict(done: PublishedTable) -> str:
    if done.published == done.before:
        return f"nothing to publish: version {done.published} and all before it are in _delta_log"
    if done.published == done.before + 1:
        return f"published version {done.published}"
    return f"published versions {done.before + 1} to {done.published}"
