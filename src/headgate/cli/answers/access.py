"""What do the commands about rights, groups and tokens print as JSON?"""

from headgate.cli.answers.answer import Answer


class GrantChange(Answer, frozen=True, kw_only=True):
    """A privilege that was granted or taken back."""

    principal: str
    privilege: str
    on: str
    """``lake``, a schema, or ``schema.table``."""
    changed: bool | None
    """Whether anything changed; null where the catalog does not say."""


class MemberChange(Answer, frozen=True, kw_only=True):
    """A member that was added to a group or taken from it."""

    group: str
    principal: str
    changed: bool


class RevokedToken(Answer, frozen=True, kw_only=True):
    """A token that is good no more."""

    token_id: str
