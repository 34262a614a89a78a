"""From where on tables are rearranged, and the content of their newest checksum."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("permissions", sa.Column("thresholds", sa.String()))
    op.add_column("log_hints", sa.Column("checksum", sa.LargeBinary()))
    op.add_column("log_hints", sa.Column("checksum_of", sa.BigInteger()))
