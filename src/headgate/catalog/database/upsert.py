"""How is a row inserted that may be there already? Each dialect has an insert of its own that says what then.

That of PostgreSQL is loaded for PostgreSQL alone: it takes longer than to read a small lake.
"""

from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table

from headgate.deferred import deferred

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite
else:
    postgresql, sqlite = deferred("sqlalchemy.dialects", "postgresql", "sqlite")


def insert_or_update(db: Connection, table: Table) -> Any:
    """An insert that can say what is to happen on a conflict."""
    return (sqlite.insert if db.dialect.name == "sqlite" else postgresql.insert)(table)
