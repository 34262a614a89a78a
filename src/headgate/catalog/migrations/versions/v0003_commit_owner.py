"""What the coordinator of this database has taken over and ratified."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "owned_tables",
        sa.Column("table_id", sa.String(), primary_key=True),
        sa.Column("location", sa.String(), nullable=False),
        sa.Column("metadata_id", sa.String(), nullable=False),
        sa.Column("schema_version", sa.Integer(), nullable=False),
        sa.Column("first_version", sa.BigInteger(), nullable=False),
        sa.Column("next_version", sa.BigInteger(), nullable=False),
        sa.Column("published", sa.BigInteger(), nullable=False),
        sa.Column("accepting", sa.Boolean(), nullable=False),
    )
    op.create_index("ix_owned_tables_location", "owned_tables", ["location"])
    op.create_table(
        "owned_commits",
        sa.Column("table_id", sa.String(), sa.ForeignKey("owned_tables.table_id"), primary_key=True),
        sa.Column(
            "version",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("txn_id", sa.String(), nullable=False),
        sa.Column("in_commit_timestamp", sa.BigInteger(), nullable=False),
        sa.Column("folder", sa.String(), nullable=False),
        sa.Column("file_name", sa.String(), nullable=False),
        sa.UniqueConstraint("table_id", "txn_id", name="one_owned_version_per_transaction"),
    )
