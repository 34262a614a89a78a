"""Who may do what, and what must hold of a commit."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("tables", sa.Column("owner", sa.String()))
    op.add_column("commits", sa.Column("principal", sa.String()))
    op.create_index("commits_by_transaction", "commits", ["txn_id"])
    op.create_table(
        "principals",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("unpublished_limit", sa.BigInteger()),
    )
    op.create_table(
        "grants",
        sa.Column("principal", sa.String(), sa.ForeignKey("principals.name"), primary_key=True),
        sa.Column("scope", sa.String(), primary_key=True),
        sa.Column("object", sa.String(), primary_key=True),
        sa.Column("privilege", sa.String(), primary_key=True),
        sa.Column("granted_by", sa.String(), nullable=False),
        sa.Column("granted_ms", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "commit_rules",
        sa.Column("scope", sa.String(), primary_key=True),
        sa.Column("object", sa.String(), primary_key=True),
        sa.Column("rule", sa.String(), primary_key=True),
        sa.Column("value", sa.String(), nullable=False),
    )
    op.create_table(
        "file_sources",
        sa.Column("table_id", sa.String(), sa.ForeignKey("tables.table_id"), primary_key=True),
        sa.Column("location", sa.String(), primary_key=True),
    )
    op.create_table(
        "foreign_keys",
        sa.Column("child_id", sa.String(), sa.ForeignKey("tables.table_id"), primary_key=True),
        sa.Column("child_columns", sa.String(), primary_key=True),
        sa.Column("parent_id", sa.String(), sa.ForeignKey("tables.table_id"), primary_key=True),
        sa.Column("parent_columns", sa.String(), nullable=False),
    )
    op.create_index("foreign_keys_by_parent", "foreign_keys", ["parent_id"])
