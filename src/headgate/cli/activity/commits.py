"""``headgate commit``: the versions of a table, and what one of them did and changed."""

from typing import TYPE_CHECKING, Annotated

from headgate.cli import console, folder
from headgate.cli.answers.activity import CommitDetail, CommitLine, TransactionMember
from headgate.cli.console import OutputColumn
from headgate.cli.deferred import deferred_module
from headgate.cli.options import AsJson, LakePlace, TableArgument, number_argument, number_option

if TYPE_CHECKING:
    from headgate.cli import summaries
    from headgate.cli.activity import commit_detail
else:
    summaries = deferred_module("headgate.cli.summaries")
    commit_detail = deferred_module("headgate.cli.activity.commit_detail")

_COLUMNS = (
    OutputColumn("version", right=True, style="bold"),
    OutputColumn("timestamp", is_whole=True),
    OutputColumn("principal"),
    OutputColumn("size", right=True),
    OutputColumn("transaction"),
    OutputColumn("commit"),
)
_FEW = 20
_ACTIONS = (OutputColumn("action", style="bold"), OutputColumn("what"), OutputColumn("detail"))
_CHANGES = (
    OutputColumn("changed", style="bold"),
    OutputColumn("name"),
    OutputColumn("before"),
    OutputColumn("after"),
)


def list_commits(
    table: TableArgument,
    limit: Annotated[int, number_option("--limit", "-n", min=1, help="At most so many.")] = _FEW,
    before: Annotated[int | None, number_option("--before", min=0, help="Only versions before this.")] = None,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """List what the catalog ratified of a table, newest first.

    The log is not read.
    """
    with folder.open_lake(lake) as opened:
        records = opened.lake.commits(table, before=before, limit=limit)
        places = summaries.commit_places(opened, table)
    found = tuple(
        CommitLine(
            version=record.version,
            txn_id=record.txn_id,
            timestamp=console.format_iso(record.in_commit_timestamp),
            size_in_bytes=record.size,
            sha256=record.sha256,
            principal=record.principal,
            commit=places.get(record.version, "published"),
        )
        for record in records
    )
    if as_json:
        console.show_json(found)
    elif found:
        console.show_table(console.out(), _COLUMNS, [_line(each) for each in found])
    else:
        console.say(f"no commit of {table}" + ("" if before is None else f" before version {before}"))


def show_commit(
    table: TableArgument,
    version: Annotated[
        int | None, number_argument(min=0, help="The version; the latest if left out.")
    ] = None,
    limit: Annotated[int, number_option("--limit", "-n", min=1, help="At most so many actions.")] = 100,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Show what a version did, changed, and was ratified with.

    Its actions, what it changed of what the table is, and the other tables of its transaction.
    """
    with folder.open_lake(lake) as opened:
        shown, lines = commit_detail.describe_commit(opened, table, version, limit=limit)
    if as_json:
        console.show_json(shown)
    else:
        _print_commit(shown, lines)


def _line(found: CommitLine) -> tuple[str, ...]:
    return (
        str(found.version),
        found.timestamp.replace("T", " "),
        found.principal or "owner",
        console.format_size(found.size_in_bytes),
        found.txn_id,
        found.commit,
    )


def _print_commit(shown: CommitDetail, lines: tuple[tuple[str, str, str], ...]) -> None:
    out = console.out()
    facts = {
        "table": shown.table,
        "version": f"{shown.version}, committed {(shown.timestamp or '').replace('T', ' ')}, {shown.commit}",
        "operation": shown.operation or "",
        "files": f"{shown.files_added:,} added, {console.format_size(shown.bytes_added)}; "
        f"{shown.files_removed:,} removed, {console.format_size(shown.bytes_removed)}",
        "transaction": "" if shown.group is None else f"{shown.group}, with {_others(shown.together_with)}",
    }
    console.show_pairs(out, {name: said for name, said in facts.items() if said})
    if shown.changes:
        out.print()
        rows = [(f"{each.part} {each.kind}", each.name, each.before, each.after) for each in shown.changes]
        console.show_table(out, _CHANGES, rows)
    out.print()
    console.show_table(out, _ACTIONS, lines)
    if shown.actions_left_out:
        console.say(f"and {console.format_plural(shown.actions_left_out, 'action')} more: --limit shows more")


def _others(members: tuple[TransactionMember, ...]) -> str:
    return ", ".join(describe_member(each) for each in members)


def describe_member(member: TransactionMember) -> str:
    """A table of a transaction in words."""
    name = member.table or member.table_id
    return f"{name} dropped" if member.version is None else f"{name} version {member.version}"
