"""Which columns does a table have, and what does DEFAULT mean for each?"""

from collections.abc import Sequence

from headgate.lake.table import Table
from headgate.protocol.features import identity_columns
from headgate.protocol.metadata.stored_expressions import DEFAULT, GENERATED
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Field, Struct

NULL = "NULL"


def schema_of(table: Table) -> Struct:
    """The columns of the latest version."""
    return schema_json.parse(table.log.describe().metadata.schema_string)


def partition_columns(table: Table) -> tuple[str, ...]:
    """The columns that the table is partitioned by."""
    return tuple(table.log.describe().metadata.partition_columns)


def field_at(schema: Struct, path: Sequence[str]) -> Field | None:
    """The column of a path, None if there is none."""
    inside: Struct | None = schema
    found: Field | None = None
    for part in path:
        found = None if inside is None else inside.find(part)
        if found is None:
            return None
        inside = found.type if isinstance(found.type, Struct) else None
    return found


def default_text(field: Field | None) -> str:
    """What DEFAULT means for a column, as SQL."""
    return NULL if field is None else str(field.metadata.get(DEFAULT, NULL))


def is_computed(field: Field) -> bool:
    """Whether whoever writes rows computes the column."""
    return GENERATED in field.metadata or identity_columns.is_identity(field)


def quoted(name: str) -> str:
    """A name in backticks."""
    return "`" + name.replace("`", "``") + "`"
