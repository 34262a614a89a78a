"""Who acts? Principals by name, the groups they are members of, and what their credentials limit them to.

Whoever connects without a name is the lake's owner and may do everything. What is granted to a group, which
is written ``group:analysts``, holds for its members. No principal has such a name, so nobody acts as a group.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NewType, Protocol

from headgate.errors import InvalidRequest

Principal = NewType("Principal", str)

OWNER = Principal("owner")
"""The lake's owner, who needs no grants."""

EXTERNAL = Principal("external")
"""Whoever published a version without the catalog. Nobody acts under this name, but it can be granted to."""

GROUP_PREFIX = "group:"
_LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class TokenScope:
    """How much of what a principal may do a credential is good for."""

    read_only: bool = False
    schema: str | None = None
    """The only schema whose tables there are; None for all of the lake."""

    def contains(self, other: "TokenScope") -> bool:
        """Whether the other allows nothing that this one does not."""
        return (other.read_only or not self.read_only) and self.schema in (None, other.schema)


FULL_SCOPE = TokenScope()


class ScopedPrincipal(str):
    """A principal as its credentials show it: its name, with what they limit it to, and vouch for.

    It is the name, and equal to it: whoever compares or writes down names need not know of this.
    """

    __slots__ = ("groups", "scope", "token_id")

    scope: TokenScope
    groups: frozenset[str]
    """Groups that an issuer vouches for, with their prefix, besides those that the catalog knows."""
    token_id: str | None
    """The token of the catalog that was shown, if it was one."""

    def __new__(
        cls,
        name: str,
        scope: TokenScope = FULL_SCOPE,
        groups: Iterable[str] = (),
        token_id: str | None = None,
    ) -> "ScopedPrincipal":
        if name == OWNER and scope != FULL_SCOPE:
            raise InvalidRequest(
                "the lake's owner may do everything: give a limited credential to another principal, with "
                "grants of its own"
            )
        made = super().__new__(cls, name)
        made.scope, made.groups, made.token_id = scope, frozenset(groups), token_id
        return made


@dataclass(frozen=True, slots=True)
class Group:
    """A group, and who is a member of it."""

    name: str
    """With its prefix, as grants have it."""
    members: tuple[Principal, ...]


def parse_principal(name: str) -> Principal:
    """A principal or a group by name; refused if it cannot be one."""
    if not name or len(name) > _LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise InvalidRequest(f"{name!r} is not the name of a principal: use printable characters")
    if name == GROUP_PREFIX:
        raise InvalidRequest(f"{name!r} names no group: write its name behind that")
    return Principal(name)


def parse_group(name: str) -> Principal:
    """A group by name, with or without its prefix; refused if it cannot be one."""
    bare = name.removeprefix(GROUP_PREFIX)
    if bare.startswith(GROUP_PREFIX):
        raise InvalidRequest(f"{name!r} is not the name of a group: leave out one {GROUP_PREFIX!r}")
    parse_principal(bare)
    return parse_principal(f"{GROUP_PREFIX}{bare}")


def acting_principal(name: str) -> Principal:
    """A principal on whose behalf something is done; refused if nobody can be that one."""
    if name == EXTERNAL:
        raise InvalidRequest(
            f"{name!r} is whoever publishes versions without the catalog, so nobody connects as that: choose "
            "another name"
        )
    if name.startswith(GROUP_PREFIX):
        raise InvalidRequest(f"{name!r} is a group, and nobody acts as one: name one of its members")
    return parse_principal(name)


class PrincipalGroups(Protocol):
    """Who is a member of which group; every change takes MANAGE GRANTS on the lake."""

    def add_member(self, group: str, principal: str) -> bool:
        """Make a principal a member of a group, which is made if need be; whether that is new."""
        ...

    def remove_member(self, group: str, principal: str) -> bool:
        """Let a principal be no member any more; whether it was one."""
        ...

    def groups(self) -> tuple[Group, ...]:
        """Every group, for managers of the lake's grants; else those one is a member of, with oneself."""
        ...
