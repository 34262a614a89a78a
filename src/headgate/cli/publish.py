"""``headgate publish``: copy what is ratified to ``_delta_log``, for clients that only read that."""

from typing import Annotated

import typer

from headgate.catalog import targets
from headgate.catalog.ports.directory import TableEntry
from headgate.cli import console, folder, summaries
from headgate.cli.folder import OpenedLake
from headgate.cli.options import DEFAULT_LAKE, LakePlace


def publish(
    table: Annotated[
        str | None,
        typer.Argument(help="The table, as schema.table; all if none is given."),
    ] = None,
    lake: LakePlace = str(DEFAULT_LAKE),
) -> None:
    """Publish every ratified commit to _delta_log."""
    with folder.open_lake(lake) as opened:
        entries = opened.lake.tables() if table is None else (summaries.find_entry(opened, table),)
        for entry in entries:
            console.out().print(f"{entry.name}  {_publish(opened, entry)}")
    if not entries:
        console.out().print(f"no tables in {targets.without_password(lake)}, so nothing to publish")


def _publish(opened: OpenedLake, entry: TableEntry) -> str:
    before = opened.catalog.tail(entry.table_id).published
    opened.lake.table(str(entry.name)).publish()
    after = opened.catalog.tail(entry.table_id).published
    if after == before:
        return f"nothing to publish: version {after} and all before it are in _delta_log"
    if after == before + 1:
        return f"published version {after}"
    return f"published versions {before + 1} to {after}"
