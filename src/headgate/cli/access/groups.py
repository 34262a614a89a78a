"""``headgate group``: who is a member of which group."""

from typing import Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.answers.access import MemberChange
from headgate.cli.console import OutputColumn
from headgate.cli.options import AsJson, LakePlace

GroupArgument = Annotated[str, typer.Argument(help="The group, by its name.")]
MemberArgument = Annotated[str, typer.Argument(help="The principal, by its name.")]


def add_member(
    group: GroupArgument, principal: MemberArgument, lake: LakePlace = None, as_json: AsJson = False
) -> None:
    """Make a principal a member of a group."""
    with folder.open_lake(lake) as opened:
        done = opened.lake.add_member(group, principal)
    if as_json:
        console.show_json(MemberChange(group=group, principal=principal, changed=done))
    else:
        console.say(f"{principal} is a member of {group}")


def remove_member(
    group: GroupArgument, principal: MemberArgument, lake: LakePlace = None, as_json: AsJson = False
) -> None:
    """Let a principal be no member of a group any more."""
    with folder.open_lake(lake) as opened:
        done = opened.lake.remove_member(group, principal)
    if as_json:
        console.show_json(MemberChange(group=group, principal=principal, changed=done))
    else:
        console.say(f"{principal} {'is no member of' if done else 'was no member of'} {group}")


def list_groups(lake: LakePlace = None, as_json: AsJson = False) -> None:
    """List the groups, and who is a member of each."""
    with folder.open_lake(lake) as opened:
        found = opened.lake.groups()
    if as_json:
        console.show_json(found)
        return
    columns = (OutputColumn("group", style="bold"), OutputColumn("members"))
    console.show_table(console.out(), columns, [(each.name, ", ".join(each.members)) for each in found])
