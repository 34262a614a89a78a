"""What do the commands about commits, transactions and events print as JSON?"""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.cli.answers.answer import Answer


class CommitLine(Answer, frozen=True, kw_only=True):
    """A commit as the catalog remembers it."""

    version: int
    txn_id: str
    timestamp: str
    size_in_bytes: int
    sha256: str
    principal: str | None
    """For whom it was ratified; null for the lake's owner."""
    commit: str
    """Where the commit is: ``inline``, ``staged`` or ``published``."""


class DefinitionChange(Answer, frozen=True, kw_only=True):
    """What a version changed in what the table is."""

    kind: str
    """``added``, ``removed`` or ``changed``."""
    part: str
    """``column``, ``partitioning``, ``property``, ``feature``, ``domain`` or ``comment``."""
    name: str
    before: str
    after: str


class TransactionMember(Answer, frozen=True, kw_only=True):
    """A table that took part in a transaction over several tables."""

    table: str | None
    """Null if it has no name any more, or may not be seen."""
    table_id: str
    version: int | None
    """Null if it was only dropped."""


class CommitDetail(Answer, frozen=True, kw_only=True):
    """A version: what it did, and what it changed."""

    table: str
    version: int
    timestamp: str | None
    operation: str | None
    commit: str
    group: str | None
    """The transaction over several tables that it was part of; null if there is none, or nobody tells."""
    together_with: tuple[TransactionMember, ...]
    files_added: int
    files_removed: int
    bytes_added: int
    bytes_removed: int
    changes: tuple[DefinitionChange, ...]
    actions: tuple[msgspec.Raw, ...]
    """The actions of the commit as the log has them; with ``--limit`` the first."""
    actions_left_out: int


class TransactionAnswer(Answer, frozen=True, kw_only=True):
    """A transaction over several tables."""

    group: str
    timestamp: str | None
    members: tuple[TransactionMember, ...]


class EventAnswer(Answer, frozen=True, kw_only=True):
    """Something that happened."""

    cursor: int
    kind: str
    timestamp: str
    table: str | None
    table_id: str | None
    version: int | None
    txn_id: str | None
    operation: str | None
    details: Mapping[str, Any]
