"""``headgate maintenance``: which kinds of maintenance of a table are permitted."""

from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.answers.upkeep import MaintenanceKind
from headgate.cli.completion.kinds import complete_maintenance
from headgate.cli.console import OutputColumn
from headgate.cli.deferred import deferred_module
from headgate.cli.options import AsJson, LakePlace, TableArgument

if TYPE_CHECKING:
    from headgate.catalog.ports import maintenance
else:
    maintenance = deferred_module("headgate.catalog.ports.maintenance")

_COLUMNS = (OutputColumn("maintenance", style="bold"), OutputColumn("permitted"))
KindArgument = Annotated[
    str,
    typer.Argument(
        help="'data reorganisation', 'data cleanup' or 'metadata cleanup'.",
        autocompletion=complete_maintenance,
    ),
]


def list_permissions(table: TableArgument, lake: LakePlace = None, as_json: AsJson = False) -> None:
    """List which kinds of maintenance a table permits."""
    with folder.open_lake(lake) as opened:
        permitted = opened.lake.permissions(table)
    found = tuple(
        MaintenanceKind(table=table, kind=kind.value, permitted=kind.value in permitted)
        for kind in maintenance.Maintenance
    )
    if as_json:
        console.show_json(found)
    else:
        rows = [(each.kind, "yes" if each.permitted else "no") for each in found]
        console.show_table(console.out(), _COLUMNS, rows)


def permit(table: TableArgument, kind: KindArgument, lake: LakePlace = None, as_json: AsJson = False) -> None:
    """Permit a kind of maintenance of a table.

    Workers then do it when it is due.
    """
    with folder.open_lake(lake) as opened:
        opened.lake.permit(table, kind)
    _show(table, kind, permitted=True, as_json=as_json)


def forbid(table: TableArgument, kind: KindArgument, lake: LakePlace = None, as_json: AsJson = False) -> None:
    """Take the permission of a kind of maintenance back."""
    with folder.open_lake(lake) as opened:
        opened.lake.forbid(table, kind)
    _show(table, kind, permitted=False, as_json=as_json)


def _show(table: str, kind: str, *, permitted: bool, as_json: bool) -> None:
    if as_json:
        console.show_json(MaintenanceKind(table=table, kind=kind, permitted=permitted))
    else:
        console.say(f"{kind} of {table} is {'permitted' if permitted else 'not permitted any more'}")
