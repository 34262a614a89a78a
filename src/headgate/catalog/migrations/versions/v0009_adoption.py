"""Tables on their way into the catalog, or out of it."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("tables", sa.Column("frozen_ms", sa.BigInteger()))
    op.create_table(
        "transfers",
        sa.Column("table_id", sa.String(), primary_key=True),
        sa.Column("phase", sa.String(), nullable=False),
        sa.Column("schema_name", sa.String(), nullable=False),
        sa.Column("table_name", sa.String(), nullable=False),
        sa.Column("location", sa.String(), nullable=False),
        sa.Column("base_version", sa.BigInteger(), nullable=False),
        sa.Column("txn_id", sa.String(), nullable=False),
        sa.Column("proposer", sa.String(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
    )
    op.create_index("transfers_by_name", "transfers", ["schema_name", "table_name"])
