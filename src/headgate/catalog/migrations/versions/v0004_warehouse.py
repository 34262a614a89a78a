"""Where the tables of a catalog on a database server are."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "lake",
        sa.Column(
            "the_only",
            sa.Integer(),
            sa.CheckConstraint("the_only = 1"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("warehouse", sa.String(), nullable=False),
    )
