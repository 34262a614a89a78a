"""Which warehouse do the tables of a database live in? The first to connect says it, for all."""

from sqlalchemy import Column, Integer, MetaData, String, Table, insert, select

from headgate.catalog.database.engine import Database
from headgate.catalog.store import commit_store
from headgate.errors import InvalidRequest
from headgate.storage import location_spelling

metadata = MetaData()

lake = Table(
    "lake",
    metadata,
    Column("the_only", Integer, primary_key=True, autoincrement=False),
    Column("warehouse", String, nullable=False),
)


def resolve_warehouse(database: Database, asked: str | None) -> str:
    """The warehouse of the database, recorded now if none was; ``asked`` must be the same one."""
    asked = None if asked is None else location_spelling.without_slash(asked)
    query = select(lake.c.warehouse)
    with database.reading() as db:
        recorded = db.scalar(query)
    if recorded is None and asked is not None:
        with database.writing() as db:
            commit_store.lock_names(db)
            recorded = db.scalar(query)
            if recorded is None:
                db.execute(insert(lake), {"the_only": 1, "warehouse": asked})
                return asked
    if recorded is None:
        raise InvalidRequest(
            "nobody has said yet where the tables of this lake shall be: connect once with a warehouse, "
            "headgate.connect(url, warehouse='s3://bucket/path')",
            code="HEADGATE_LAKE_NOT_FOUND",
        )
    if asked is not None and asked != recorded:
        raise InvalidRequest(
            f"the tables of this lake are in {recorded}, not in {asked}: leave warehouse out, or name it",
            asked=asked, recorded=recorded,
        )  # fmt: skip
    return str(recorded)
