"""What is said of a table that the catalog does not have, or has no longer?"""

from headgate.catalog.ports.commits import TableId
from headgate.errors import TableNotFound


def no_table(table_id: TableId) -> TableNotFound:
    """The error for an id that no live table has."""
    return TableNotFound(
        f"the catalog has no table {table_id} any more: it was dropped, which lake.undrop(name) undoes, or "
        "purged; lake.dropped() lists what was dropped",
        name=table_id,
    )
