"""Which lake, schema and table does a dotted name mean? ``main.sales.orders``, however it was encoded."""

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.errors import InvalidRequest, TableNotFound
from headgate.server.caller import Caller
from headgate.server.lakes import ServedLake, ServedLakes

_UNIT_SEPARATOR = "\x1f"
"""Another spelling of the dot, of which some clients are fond."""


def split_name(full_name: str, parts: int) -> tuple[str, ...]:
    """The parts of a dotted name, so many of them; ``InvalidRequest`` if it has others."""
    found = tuple(full_name.replace(_UNIT_SEPARATOR, ".").split("."))
    if len(found) != parts or not all(found):
        wanted = ".".join(("catalog", "schema", "table")[:parts])
        raise InvalidRequest(f"{full_name!r} is not a full name here: write it as {wanted}")
    return found


def find_schema(lakes: ServedLakes, full_name: str) -> tuple[ServedLake, str]:
    """The lake and the schema that ``lake.schema`` means; whether there is that schema is not asked."""
    catalog, schema = split_name(full_name, 2)
    return lakes.find(catalog), schema


def find_name(lakes: ServedLakes, full_name: str) -> tuple[ServedLake, TableName]:
    """The lake and the name in it that ``lake.schema.table`` means; whether it is there is not asked."""
    catalog, schema, table = split_name(full_name, 3)
    return lakes.find(catalog), TableName(schema, table)


def find_by_id(lakes: ServedLakes, caller: Caller, table_id: str) -> tuple[ServedLake, TableEntry]:
    """The table of that id in whichever lake; ``TableNotFound`` to whoever may not see it."""
    for lake in lakes:
        try:
            return lake, lake.catalog_for(caller.principal).resolve_id(TableId(table_id))
        except TableNotFound:
            continue
    raise TableNotFound(
        f"there is no table of the id {table_id!r}: it was dropped, or load it again by its name",
        name=table_id,
    )
