"""Which tokens were given out? The rows, of which none has a secret, inside the caller's transaction."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Row,
    String,
    Table,
    delete,
    func,
    insert,
    select,
)

from headgate.catalog.ports.access import CredentialKind, Principal, StoredToken, TokenScope
from headgate.catalog.store import commit_store
from headgate.protocol.actions import EpochMillis

tokens = Table(
    "tokens",
    commit_store.metadata,
    Column("token_id", String, primary_key=True),
    Column("digest", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("principal", String, nullable=False),
    Column("read_only", BigInteger, nullable=False),
    Column("schema_name", String),
    Column("label", String, nullable=False),
    Column("created_by", String, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    Column("parent_id", String),
    Index("tokens_by_digest", "digest", unique=True),
    Index("tokens_by_parent", "parent_id"),
    Index("tokens_by_principal", "principal"),
)


def insert_token(db: Connection, token: StoredToken, digest: str) -> None:
    """Write a token down, by the digest of its secret."""
    row = {
        "token_id": token.token_id,
        "digest": digest,
        "kind": token.kind.value,
        "principal": str(token.principal),
        "read_only": int(token.scope.read_only),
        "schema_name": token.scope.schema,
        "label": token.label,
        "created_by": str(token.created_by),
        "created_ms": token.created_ms,
        "expires_ms": token.expires_ms,
        "parent_id": token.parent_id,
    }
    db.execute(insert(tokens), row)


def find_by_digest(db: Connection, digest: str, now_ms: int) -> StoredToken | None:
    """The token whose secret has this digest, unless it has ended."""
    query = select(tokens).where(tokens.c.digest == digest, tokens.c.expires_ms > now_ms)
    row = db.execute(query).one_or_none()
    return None if row is None else _token(row)


def find_by_id(db: Connection, token_id: str) -> StoredToken | None:
    """The token of that id, even if it has ended."""
    row = db.execute(select(tokens).where(tokens.c.token_id == token_id)).one_or_none()
    return None if row is None else _token(row)


def live_tokens(db: Connection, principal: Principal | None, now_ms: int) -> tuple[StoredToken, ...]:
    """The tokens that have not ended, of one principal or of all, by when they were made."""
    query = select(tokens).where(tokens.c.expires_ms > now_ms)
    if principal is not None:
        query = query.where(tokens.c.principal == principal)
    ordered = query.order_by(tokens.c.principal, tokens.c.created_ms, tokens.c.token_id)
    return tuple(_token(row) for row in db.execute(ordered))


def count_live(db: Connection, now_ms: int, **made_by: str) -> int:
    """How many tokens have not ended, of those with these values."""
    query = select(func.count()).select_from(tokens).where(tokens.c.expires_ms > now_ms).filter_by(**made_by)
    return int(db.scalar(query) or 0)


def delete_expired(db: Connection, now_ms: int) -> None:
    """Forget the tokens that have ended."""
    db.execute(delete(tokens).where(tokens.c.expires_ms <= now_ms))


def delete_with_descendants(db: Connection, token_id: str) -> None:
    """Forget a token, those made by means of it, and so on."""
    waiting = [token_id]
    while waiting:
        found = waiting.pop()
        waiting += db.scalars(select(tokens.c.token_id).where(tokens.c.parent_id == found))
        db.execute(delete(tokens).where(tokens.c.token_id == found))


def _token(row: Row[Any]) -> StoredToken:
    return StoredToken(
        row.token_id,
        CredentialKind(row.kind),
        Principal(row.principal),
        TokenScope(bool(row.read_only), row.schema_name),
        row.label,
        Principal(row.created_by),
        EpochMillis(row.created_ms),
        EpochMillis(row.expires_ms),
        row.parent_id,
    )
