"""What happened, for those who follow it; and who needs which files until when."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("commits", sa.Column("operation", sa.String()))
    _events()
    _leases()
    op.create_table(
        "permissions",
        sa.Column("table_id", sa.String(), sa.ForeignKey("tables.table_id"), primary_key=True),
        sa.Column("kind", sa.String(), primary_key=True),
        sa.Column("granted_ms", sa.BigInteger(), nullable=False),
    )


def _events() -> None:
    def told() -> list[sa.Column[object]]:
        return [
            sa.Column("kind", sa.String(), nullable=False),
            sa.Column("table_id", sa.String()),
            sa.Column("table_name", sa.String()),
            sa.Column("version", sa.BigInteger(), nullable=False),
            sa.Column("txn_id", sa.String()),
            sa.Column("operation", sa.String()),
            sa.Column("at_ms", sa.BigInteger(), nullable=False),
            sa.Column("details", sa.String()),
        ]

    op.create_table("outbox", sa.Column("id", _NUMBER, primary_key=True, autoincrement=True), *told())
    op.create_table(
        "events",
        sa.Column("cursor", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("listed_ms", sa.BigInteger(), nullable=False),
        *told(),
    )
    op.create_table(
        "event_marks",
        sa.Column("table_id", sa.String(), primary_key=True),
        sa.Column("version", sa.BigInteger(), nullable=False),
    )
    state = op.create_table(
        "event_state",
        sa.Column(
            "the_only",
            sa.Integer(),
            sa.CheckConstraint("the_only = 1"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("newest", sa.BigInteger(), nullable=False),
        sa.Column("forgotten", sa.BigInteger(), nullable=False),
    )
    op.bulk_insert(state, [{"the_only": 1, "newest": 0, "forgotten": 0}])
    op.create_table(
        "event_cursors",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("stored_ms", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "incidents",
        sa.Column("incident", sa.String(), primary_key=True),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
    )


def _leases() -> None:
    op.create_table(
        "leases",
        sa.Column("lease_id", sa.String(), primary_key=True),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("exclusive", sa.Boolean(), nullable=False),
        sa.Column("version", sa.BigInteger()),
        sa.Column("moment_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
    )
    op.create_index("leases_of_a_subject", "leases", ["subject"])
    op.create_index("leases_of_a_holder", "leases", ["holder"])
    op.create_table(
        "fences",
        sa.Column("subject", sa.String(), primary_key=True),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("first_version", sa.BigInteger(), nullable=False),
        sa.Column("vacuumed_ms", sa.BigInteger(), nullable=False),
    )
