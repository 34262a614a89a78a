"""``headgate group``: who is a member of which group."""

from typing import Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.console import OutputColumn
from headgate.cli.options import DEFAULT_LAKE, AsJson, LakePlace

app = typer.Typer(help="Add members to groups, remove and list them.", no_args_is_help=True)
GroupArgument = Annotated[str, typer.Argument(help="The group, by its name.")]
MemberArgument = Annotated[str, typer.Argument(help="The principal, by its name.")]


@app.command()
def add(group: GroupArgument, principal: MemberArgument, lake: LakePlace = str(DEFAULT_LAKE)) -> None:
    """Make a principal a member of a group."""
    with folder.open_lake(lake) as opened:
        opened.lake.add_member(group, principal)
    console.out().print(f"{principal} is a member of {group}", markup=False, soft_wrap=True)


@app.command()
def remove(group: GroupArgument, principal: MemberArgument, lake: LakePlace = str(DEFAULT_LAKE)) -> None:
    """Let a principal be no member of a group any more."""
    with folder.open_lake(lake) as opened:
        done = opened.lake.remove_member(group, principal)
    said = "is no member of" if done else "was no member of"
    console.out().print(f"{principal} {said} {group}", markup=False, soft_wrap=True)


@app.command("list")
def list_groups(lake: LakePlace = str(DEFAULT_LAKE), as_json: AsJson = False) -> None:
    """List the groups, and who is a member of each."""
    with folder.open_lake(lake) as opened:
        found = opened.lake.groups()
    if as_json:
        console.show_json(found)
        return
    columns = (OutputColumn("group", style="bold"), OutputColumn("members"))
    console.show_table(console.out(), columns, [(each.name, ", ".join(each.members)) for each in found])
