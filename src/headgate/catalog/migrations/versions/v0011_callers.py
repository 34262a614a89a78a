"""Groups of principals, tokens, whose a lease is, and which tables were purged."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "memberships",
        sa.Column("principal", sa.String(), sa.ForeignKey("principals.name"), primary_key=True),
        sa.Column("group_name", sa.String(), sa.ForeignKey("principals.name"), primary_key=True),
        sa.Column("added_by", sa.String(), nullable=False),
        sa.Column("added_ms", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("token_id", sa.String(), primary_key=True),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("read_only", sa.BigInteger(), nullable=False),
        sa.Column("schema_name", sa.String()),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.Column("parent_id", sa.String()),
    )
    op.create_index("tokens_by_digest", "tokens", ["digest"], unique=True)
    op.create_index("tokens_by_parent", "tokens", ["parent_id"])
    op.create_index("tokens_by_principal", "tokens", ["principal"])
    op.create_table(
        "purged_tables",
        sa.Column("table_id", sa.String(), primary_key=True),
        sa.Column("purged_ms", sa.BigInteger(), nullable=False),
    )
    op.add_column("leases", sa.Column("principal", sa.String()))
