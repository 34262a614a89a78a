"""Who may do what, and why? Each privilege with the chain of grants and groups it comes from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from headgate.catalog.ports.access import IMPLIED_PRIVILEGES, OWNER, Grant, Group, Privilege, Scope

MOST_MEMBERS = 20


@dataclass(frozen=True, slots=True)
class GrantLine:
    """A grant as it was given."""

    principal: str
    privilege: str
    on: str
    granted_by: str
    is_revocable: bool = False
    """Whether who visits may take it back."""


@dataclass(frozen=True, slots=True)
class PrivilegeLine:
    """A privilege, and every chain by which a principal has it."""

    privilege: str
    reasons: tuple[str, ...]

    @property
    def is_held(self) -> bool:
        return bool(self.reasons)


@dataclass(frozen=True, slots=True)
class MembersLine:
    """A group with some of its members."""

    name: str
    members: tuple[str, ...]
    left_out: int


def members_lines(groups: Iterable[Group], words: str = "") -> tuple[MembersLine, ...]:
    """The groups that have every one of these words in their name or among their members, by name."""
    wanted = words.lower().split()
    kept = (
        group
        for group in groups
        if all(word in " ".join(map(str, (group.name, *group.members))).lower() for word in wanted)
    )
    return tuple(_members_line(group) for group in sorted(kept, key=lambda group: str(group.name)))


def _members_line(group: Group) -> MembersLine:
    members = tuple(map(str, group.members))
    return MembersLine(str(group.name), members[:MOST_MEMBERS], max(0, len(members) - MOST_MEMBERS))


def managed_places(grants: Iterable[Grant], may_on_lake: bool) -> frozenset[str]:  # noqa: FBT001
    """Where who is shown these grants decides about others: who decides about the lake sees those of all."""
    mine = {grant.on for grant in grants if grant.privilege is Privilege.MANAGE_GRANTS}
    return frozenset({Scope.LAKE.value}) if may_on_lake else frozenset(mine)


def grant_lines(
    grants: Iterable[Grant], words: str = "", manages: frozenset[str] = frozenset()
) -> tuple[GrantLine, ...]:
    """The grants that have every one of these words in them, by what they are on."""
    wanted = words.lower().split()
    lines = (
        GrantLine(
            str(grant.principal),
            grant.privilege.value,
            grant.on,
            str(grant.granted_by),
            not manages.isdisjoint(_places(grant.on)),
        )
        for grant in grants
    )
    kept = (
        line
        for line in lines
        if all(word in f"{line.principal} {line.privilege} {line.on}".lower() for word in wanted)
    )
    return tuple(sorted(kept, key=lambda line: (line.on, line.principal, line.privilege)))


def explain_privileges(
    principal: str, table: str | None, grants: Sequence[Grant], groups: Sequence[Group]
) -> tuple[PrivilegeLine, ...]:
    """Each privilege on a table, or on the lake, with the reasons for which the principal has it."""
    places = _places(table or Scope.LAKE.value)
    return tuple(
        PrivilegeLine(each.value, tuple(_reasons(principal, each, places, grants, groups)))
        for each in Privilege
    )


def _places(on: str) -> tuple[str, ...]:
    """A place, and those it is in: what is granted there holds for it too."""
    return tuple(dict.fromkeys((Scope.LAKE.value, on.partition(".")[0], on)))


def _reasons(
    principal: str,
    privilege: Privilege,
    places: tuple[str, ...],
    grants: Sequence[Grant],
    groups: Sequence[Group],
) -> Iterator[str]:
    if principal == OWNER:
        yield "is the owner of the lake, who may do everything"
        return
    mine = {principal: ""} | {
        group.name: f" to {group.name}, of which {principal} is a member"
        for group in groups
        if principal in group.members
    }
    for grant in grants:
        if grant.on not in places or str(grant.principal) not in mine:
            continue
        via = mine[str(grant.principal)]
        if grant.privilege is privilege:
            yield f"{privilege.value} on {grant.on}, granted by {grant.granted_by}{via}"
        elif privilege in IMPLIED_PRIVILEGES.get(grant.privilege, frozenset()):
            yield f"comes with {grant.privilege.value} on {grant.on}, granted by {grant.granted_by}{via}"
