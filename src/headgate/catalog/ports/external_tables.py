"""What does a catalog offer to who finds ordinary Delta tables by name? A place for each name, and no more.

The commits of such a table are decided where they always were: by its log, or by the owner that it names.
Only the owner of the lake says that a place is a table: whoever reads the lake would otherwise be led, and
be given credentials, wherever somebody likes.
"""

from dataclasses import dataclass
from typing import Protocol

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableName
from headgate.protocol.actions import EpochMillis


@dataclass(frozen=True, slots=True)
class ExternalTable:
    """A table that a lake has a name for, and does not manage."""

    table_id: TableId
    name: TableName
    location: str
    created_ms: EpochMillis


class ExternalTables(Protocol):
    """The ordinary tables of one lake; their names are unique among all of its tables.

    They are seen by who may read their schema or the lake.
    """

    def register_external(self, name: TableName, place: str) -> ExternalTable:
        """Give a name to the table at ``place``, in the one spelling; again, if it has it.

        For the owner of the lake. ``TableExists`` if the name is taken, or the place overlaps with that of
        another table.
        """
        ...

    def find_external(self, name: TableName) -> ExternalTable:
        """The ordinary table of that name, or ``TableNotFound``."""
        ...

    def external_tables(self, schema: str | None = None) -> tuple[ExternalTable, ...]:
        """Every ordinary table, or those of one schema, by name."""
        ...

    def forget_external(self, name: TableName) -> bool:
        """Take the name away, for the owner of the lake; whether there was one. The table stays as it is."""
        ...
