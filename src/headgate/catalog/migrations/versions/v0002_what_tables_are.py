"""What each table is at its latest version; empty for tables that are older, until they change."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    for name in ("protocol", "metadata"):
        op.add_column("tables", sa.Column(name, sa.String()))
    op.add_column("tables", sa.Column("described_by", sa.BigInteger()))
