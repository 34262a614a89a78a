"""``headgate grant``: who may do what."""

from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.answers.access import GrantChange
from headgate.cli.completion.kinds import complete_privilege
from headgate.cli.completion.table_names import complete_securable
from headgate.cli.console import OutputColumn
from headgate.cli.deferred import deferred_module
from headgate.cli.options import AsJson, LakePlace
from headgate.errors import InvalidRequest

if TYPE_CHECKING:
    from headgate.catalog.ports.access import principals
else:
    principals = deferred_module("headgate.catalog.ports.access.principals")

_COLUMNS = (
    OutputColumn("principal", style="bold"),
    OutputColumn("privilege"),
    OutputColumn("on"),
    OutputColumn("granted by"),
)
_LAKE = "lake"
PrivilegeArgument = Annotated[
    str,
    typer.Argument(help="Such as READ, APPEND or 'MANAGE GRANTS'.", autocompletion=complete_privilege),
]
OnOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        help="A schema, or schema.table; without it the whole lake.",
        autocompletion=complete_securable,
    ),
]


def _require_principal(name: str) -> str:
    try:
        return principals.parse_principal(name)
    except InvalidRequest as exc:
        raise typer.BadParameter(exc.message) from exc


def grant(
    privilege: PrivilegeArgument,
    to: Annotated[
        str,
        typer.Option("--to", help="A principal, or a group as group:NAME.", callback=_require_principal),
    ],
    on: OnOption = None,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Let a principal or a group do something.

    With the lake, or with --on with a schema or a table.
    """
    with folder.open_lake(lake) as opened:
        opened.lake.grant(privilege, on=on, to=to)
    if as_json:
        console.show_json(
            GrantChange(principal=to, privilege=privilege.upper(), on=on or _LAKE, changed=None)
        )
    else:
        console.say(f"{to} has {privilege.upper()} on {on or 'the lake'}")


def revoke(
    privilege: PrivilegeArgument,
    from_: Annotated[
        str,
        typer.Option("--from", help="A principal, or a group as group:NAME.", callback=_require_principal),
    ],
    on: OnOption = None,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Take back what was granted, in the same words."""
    with folder.open_lake(lake) as opened:
        done = opened.lake.revoke(privilege, on=on, from_=from_)
    if as_json:
        console.show_json(
            GrantChange(principal=from_, privilege=privilege.upper(), on=on or _LAKE, changed=done)
        )
        return
    what = f"{privilege.upper()} on {on or 'the lake'}"
    console.say(
        f"{from_} has {what} no more" if done else f"{what} was not granted to {from_}: nothing changed"
    )


def grants(lake: LakePlace = None, as_json: AsJson = False) -> None:
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
        console.say("nothing was granted to anybody: headgate grant add READ --to NAME does that")
