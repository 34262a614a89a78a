"""Commits of several tables that are one."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "group_members",
        sa.Column("group_id", sa.String(), primary_key=True),
        sa.Column("table_id", sa.String(), primary_key=True),
        sa.Column("version", sa.BigInteger()),
        sa.Column("txn_id", sa.String()),
    )
    op.create_index("groups_of_a_table", "group_members", ["table_id"])
