"""Schemas, tables and their commits."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "schemas",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "tables",
        sa.Column("table_id", sa.String(), primary_key=True),
        sa.Column("schema_name", sa.String(), sa.ForeignKey("schemas.name"), nullable=False),
        sa.Column("table_name", sa.String(), nullable=False),
        sa.Column("location", sa.String(), nullable=False, unique=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("dropped_ms", sa.BigInteger()),
        sa.Column("latest", sa.BigInteger(), nullable=False),
        sa.Column("published", sa.BigInteger(), nullable=False),
        sa.Column("latest_timestamp", sa.BigInteger(), nullable=False),
        sa.Column("latest_change", sa.BigInteger(), nullable=False),
    )
    op.create_index(
        "one_live_table_per_name",
        "tables",
        ["schema_name", "table_name"],
        unique=True,
        sqlite_where=sa.text("state = 'live'"),
        postgresql_where=sa.text("state = 'live'"),
    )
    op.create_table(
        "commits",
        sa.Column("table_id", sa.String(), sa.ForeignKey("tables.table_id"), primary_key=True),
        sa.Column(
            "version",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("txn_id", sa.String(), nullable=False),
        sa.Column("in_commit_timestamp", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("file_name", sa.String()),
        sa.Column("content", sa.LargeBinary()),
        sa.UniqueConstraint("table_id", "txn_id", name="one_version_per_transaction"),
    )
