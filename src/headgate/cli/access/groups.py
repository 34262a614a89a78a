"""``headgate group``: who is a member of which group."""

from typing import Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.answers.access import MemberChange
from headgate.cli.console import OutputColumn
from headgate.cli.exit_codes import MEMBER_NOT_FOUND
from headgate.cli.options import AsJson, LakePlace
from headgate.errors import InvalidRequest

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
        if not opened.lake.remove_member(group, principal):
            raise InvalidRequest(
                f"{principal!r} is no member of {group!r}: headgate group list lists who is one",
                code=MEMBER_NOT_FOUND,
            )
    if as_json:
        console.show_json(MemberChange(group=group, principal=principal, changed=True))
    else:
        console.say(f"{principal} is no member of {group} any more")


def list_groups(lake: LakePlace = None, as_json: AsJson = False) -> None:
    """List the groups, and who is a member of each."""
    with folder.open_lake(lake) as opened:
        found = opened.lake.groups()
    if as_json:
        console.show_json(found)
        return
    if not found:
        console.say("there is no group: headgate group add GROUP NAME makes one")
        return
    columns = (OutputColumn("group", style="bold"), OutputColumn("members"))
    console.show_table(console.out(), columns, [(each.name, ", ".join(each.members)) for each in found])
