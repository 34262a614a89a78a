"""Who may do what in a lake: the part of ``Lake`` that grants, revokes and sets rules."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headgate.catalog.ports.access import (
    AccessControl,
    AccessTokens,
    CreatedToken,
    CredentialKind,
    ForeignKey,
    Grant,
    Group,
    Privilege,
    StoredToken,
    TokenScope,
)
from headgate.errors import InvalidRequest

_DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class LakeAccess:
    """What a lake offers to those who decide about others: a call takes MANAGE GRANTS on what it is about."""

    access_control: AccessControl
    access_tokens: AccessTokens

    def grant(self, privilege: Privilege | str, *, on: str | None = None, to: str) -> None:
        """Let a principal do something: ``on`` a table, on all tables of a schema, or without it in the lake.

        Nothing happens if it was granted already.

            lake.grant("read", on="sales.orders", to="ann")
        """
        self.access_control.grant(privilege, on, to)

    def revoke(self, privilege: Privilege | str, *, on: str | None = None, from_: str) -> bool:
        """Take back what was granted in the same words; whether it was.

        lake.revoke("read", on="sales.orders", from_="ann")
        """
        return self.access_control.revoke(privilege, on, from_)

    def grants(self) -> tuple[Grant, ...]:
        """What was granted to whom; callers who may not manage the lake's grants see their own.

        for grant in lake.grants():
            print(grant)
        """
        return self.access_control.grants()

    def add_member(self, group: str, principal: str) -> bool:
        """Make a principal a member of a group; whether that is new.

        What is granted to the group, ``lake.grant("read", on="sales", to="group:analysts")``, holds for it.

            lake.add_member("analysts", "ann")
        """
        return self.access_control.add_member(group, principal)

    def remove_member(self, group: str, principal: str) -> bool:
        """Let a principal be no member of a group any more; whether it was one.

        lake.remove_member("analysts", "ann")
        """
        return self.access_control.remove_member(group, principal)

    def groups(self) -> tuple[Group, ...]:
        """The groups and their members; callers who may not manage the lake's grants see their own.

        for group in lake.groups():
            print(group)
        """
        return self.access_control.groups()

    def create_token(
        self,
        principal: str,
        *,
        days: float = 90.0,
        read_only: bool = False,
        schema: str | None = None,
        label: str = "",
        client: bool = False,
    ) -> CreatedToken:
        """A token by which a server knows a principal; its ``secret`` is told here and never again.

        With ``read_only``, or for one ``schema`` alone, it is good for less than what the principal may do.
        A ``client`` is an id and a secret, which are exchanged for tokens that end soon.

            secret = lake.create_token("ann", days=7, read_only=True).secret
        """
        return self.access_tokens.create(
            principal,
            ttl_ms=_token_ms(days),
            scope=TokenScope(read_only, schema),
            label=label,
            kind=CredentialKind.CLIENT if client else CredentialKind.TOKEN,
        )

    def tokens(self) -> tuple[StoredToken, ...]:
        """The tokens that have not ended, without their secrets: all, for the lake's owner, or one's own.

        for token in lake.tokens():
            print(token)
        """
        return self.access_tokens.tokens()

    def revoke_token(self, token_id: str) -> bool:
        """Take a token back, with those made by means of it; whether there was one.

        lake.revoke_token("no-such-token")
        """
        return self.access_tokens.revoke(token_id)

    def limit_unpublished(self, principal: str, limit: int | None) -> None:
        """How many commits of one table a principal may leave unpublished; None for no limit of its own.

        lake.limit_unpublished("loader", 100)
        """
        self.access_control.limit_unpublished(principal, limit)

    def set_rule(self, rule: str, value: str | int | None, *, on: str | None = None) -> None:
        """Set a rule of commits for a table, a schema or the lake, or remove it with None.

        The rules are ``max_commit_bytes``, ``max_commit_files``, ``column_names`` and ``freeze_metadata``.

            lake.set_rule("max_commit_files", 10_000, on="sales")
        """
        self.access_control.set_rule(rule, value, on)

    def allow_files(self, table: str, location: str | Path) -> None:
        """Let a table name files below another place, as a shallow clone of what is there does.

        lake.allow_files("sales.orders", "s3://bucket/archive")
        """
        self.access_control.allow_files(table, str(location))

    def add_foreign_key(
        self, child: str, columns: Sequence[str], parent: str, parent_columns: Sequence[str]
    ) -> None:
        """Register that columns of ``child`` refer to columns of ``parent``, which must be NOT NULL.

        From then on no commit drops or renames one of them, nor makes one nullable that is referred to.
        Rows are not checked.

            lake.add_foreign_key("sales.orders", ["sku"], "sales.stock", ["sku"])
        """
        self.access_control.add_foreign_key(child, columns, parent, parent_columns)

    def drop_foreign_key(self, child: str, columns: Sequence[str], parent: str) -> bool:
        """Forget a foreign key; whether there was one.

        lake.drop_foreign_key("sales.orders", ["sku"], "sales.stock")
        """
        return self.access_control.drop_foreign_key(child, columns, parent)

    def foreign_keys(self, table: str) -> tuple[ForeignKey, ...]:
        """The foreign keys to a table and from it.

        assert lake.foreign_keys("sales.orders") == ()
        """
        return self.access_control.foreign_keys(table)


def _token_ms(days: float) -> int:
    if not math.isfinite(days):
        raise InvalidRequest(f"a token is good for a number of days, and not for {days}: say for how many")
    return int(days * _DAY_MS)
