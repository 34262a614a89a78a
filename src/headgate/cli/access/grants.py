"""``headgate grant``, ``revoke`` and ``grants``: who may do what."""

from typing import Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.console import OutputColumn
from headgate.cli.options import DEFAULT_LAKE, AsJson, LakePlace

_COLUMNS = (
    OutputColumn("principal", style="bold"),
    OutputColumn("privilege"),
    OutputColumn("on"),
    OutputColumn("granted by"),
)
PrivilegeArgument = Annotated[str, typer.Argument(help="Such as READ, APPEND or 'MANAGE GRANTS'.")]
OnOption = Annotated[
    str | None, typer.Option("--on", help="A schema, or schema.table; without it the whole lake.")
]


def grant(
    privilege: PrivilegeArgument,
    to: Annotated[str, typer.Option("--to", help="A principal, or a group as group:NAME.")],
    on: OnOption = None,
    lake: LakePlace = str(DEFAULT_LAKE),
) -> None:
    """Let a principal or a group do something with a lake, a schema or a table."""
    with folder.open_lake(lake) as opened:
        opened.lake.grant(privilege, on=on, to=to)
    console.out().print(f"{to} has {privilege.upper()} on {on or 'the lake'}", markup=False, soft_wrap=True)


def revoke(
    privilege: PrivilegeArgument,
    from_: Annotated[str, typer.Option("--from", help="A principal, or a group as group:NAME.")],
    on: OnOption = None,
    lake: LakePlace = str(DEFAULT_LAKE),
) -> None:
    """Take back what was granted, in the same words."""
    with folder.open_lake(lake) as opened:
        done = opened.lake.revoke(privilege, on=on, from_=from_)
    what = f"{privilege.upper()} on {on or 'the lake'}"
    said = f"{from_} has {what} no more" if done else f"{what} was not granted to {from_}: nothing changed"
    console.out().print(said, markup=False, soft_wrap=True)


def grants(lake: LakePlace = str(DEFAULT_LAKE), as_json: AsJson = False) -> None:
    """List what was granted to whom."""
    with folder.open_lake(lake) as opened:
        found = opened.lake.grants()
    if as_json:
        console.show_json(found)
        return
    rows = [(str(each.principal), each.privilege.value, each.on, str(each.granted_by)) for each in found]
    if rows:
        console.show_table(console.out(), _COLUMNS, rows)
    else:
        console.out().print("nothing was granted to anybody: headgate grant READ --to NAME does that")
