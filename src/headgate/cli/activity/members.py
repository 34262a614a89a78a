"""Which tables took part in a transaction? By the names that they have now, as far as they may be seen."""

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.groups import RatifiedGroup, RatifiedMember
from headgate.cli.answers.activity import TransactionMember
from headgate.cli.folder import OpenedLake
from headgate.errors import TableNotFound


def describe_members(opened: OpenedLake, group: RatifiedGroup) -> tuple[TransactionMember, ...]:
    """The tables of a transaction, by name."""
    found = (_member(opened, member) for member in group.members)
    return tuple(sorted(found, key=lambda member: (member.table or "", member.table_id)))


def _member(opened: OpenedLake, member: RatifiedMember) -> TransactionMember:
    return TransactionMember(
        table=_name(opened, member.table_id), table_id=member.table_id, version=member.version
    )


def _name(opened: OpenedLake, table_id: TableId) -> str | None:
    try:
        return str(opened.catalog.resolve_id(table_id).name)
    except TableNotFound:
        return None
