"""What the directory knows of a table besides its commits."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    for name in ("revision", "unpublished_bytes", "shares_log"):
        op.add_column("tables", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
    for name in ("expires_ms", "domains_by"):
        op.add_column("tables", sa.Column(name, sa.BigInteger()))
    op.create_index("commits_by_moment", "commits", ["table_id", "in_commit_timestamp"])
    for name in ("table_domains", "app_transactions"):
        op.create_table(
            name,
            sa.Column("table_id", sa.String(), sa.ForeignKey("tables.table_id"), primary_key=True),
            sa.Column("name", sa.String(), primary_key=True),
            sa.Column("action", sa.String(), nullable=False),
            sa.Column("version", sa.BigInteger(), nullable=False),
        )
    op.create_table(
        "log_hints",
        sa.Column("table_id", sa.String(), sa.ForeignKey("tables.table_id"), primary_key=True),
        sa.Column("checkpoint_version", sa.BigInteger()),
        sa.Column("checkpoint_files", sa.String()),
        sa.Column("checksum_version", sa.BigInteger()),
    )
