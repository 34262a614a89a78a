"""What does a user call a table? ``schema.table``, and nothing with more or fewer parts."""

from headgate.catalog.ports.directory import TableName
from headgate.errors import InvalidRequest


def parse_name(name: str) -> TableName:
    """``schema.table`` as its two parts."""
    parts = name.split(".")
    if len(parts) != 2 or not all(parts):
        raise InvalidRequest(f"{name!r} is not a table's name: write it as schema.table")
    return TableName(parts[0], parts[1])
