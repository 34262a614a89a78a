"""``headgate txn``: transactions over several tables, as the catalog remembers them."""

from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.activity import commits
from headgate.cli.answers.activity import TransactionAnswer
from headgate.cli.console import OutputColumn
from headgate.cli.deferred import deferred_module
from headgate.cli.options import AsJson, LakePlace, number_option

if TYPE_CHECKING:
    from headgate.cli.activity import ratified_groups
else:
    ratified_groups = deferred_module("headgate.cli.activity.ratified_groups")

_COLUMNS = (
    OutputColumn("transaction", style="bold"),
    OutputColumn("committed (UTC)", is_whole=True),
    OutputColumn("tables"),
)
_FEW = 20


def list_transactions(
    limit: Annotated[int, number_option("--limit", "-n", min=1, help="At most so many.")] = _FEW,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """List transactions over several tables, the latest first.

    As far back as the events of the lake are kept.
    """
    with folder.open_lake(lake) as opened:
        found = ratified_groups.latest_transactions(opened, limit)
    if as_json:
        console.show_json(found)
    elif found:
        console.show_table(console.out(), _COLUMNS, [_line(each) for each in found])
    else:
        console.say("no transaction over several tables is remembered")


def show_transaction(
    group: Annotated[str, typer.Argument(help="The id of the transaction, as headgate txn list shows it.")],
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Show which versions of which tables a transaction made."""
    with folder.open_lake(lake) as opened:
        found = ratified_groups.find_transaction(opened, group)
    if as_json:
        console.show_json(found)
        return
    out = console.out()
    facts = {"transaction": found.group, "committed": (found.timestamp or "").replace("T", " ")}
    console.show_pairs(out, facts)
    out.print()
    rows = [
        (member.table or "–", "dropped" if member.version is None else str(member.version), member.table_id)
        for member in found.members
    ]
    columns = (
        OutputColumn("table", style="bold"),
        OutputColumn("version", right=True),
        OutputColumn("id"),
    )
    console.show_table(out, columns, rows)


def _line(found: TransactionAnswer) -> tuple[str, ...]:
    members = ", ".join(commits.describe_member(each) for each in found.members)
    return found.group, (found.timestamp or "").replace("T", " "), members
