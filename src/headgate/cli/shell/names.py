"""Which schemas, tables and columns can one name at the prompt? Asked once, until they may have changed."""

from headgate.errors import HeadgateError
from headgate.lake.lake import Lake
from headgate.protocol.schema import json as schema_json


class LakeNames:
    """The names of a lake, remembered; none where the lake does not tell them."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._schemas: tuple[str, ...] | None = None
        self._tables: tuple[str, ...] | None = None
        self._columns: dict[str, tuple[str, ...]] = {}

    def forget(self) -> None:
        """Ask again next time: a statement may have changed them."""
        self._schemas = self._tables = None
        self._columns = {}

    def schemas(self) -> tuple[str, ...]:
        """The schemas, by name."""
        if self._schemas is None:
            try:
                self._schemas = tuple(self._lake.schemas())
            except HeadgateError:
                self._schemas = ()
        return self._schemas

    def tables(self) -> tuple[str, ...]:
        """The tables, each as ``schema.table``."""
        if self._tables is None:
            try:
                self._tables = tuple(self._lake)
            except HeadgateError:
                self._tables = ()
        return self._tables

    def columns(self, table: str) -> tuple[str, ...]:
        """The columns of a table."""
        if table not in self._columns:
            try:
                metadata = self._lake.table(table).log.describe().metadata
                fields = schema_json.parse(metadata.schema_string).fields
                self._columns[table] = tuple(field.name for field in fields)
            except HeadgateError:
                self._columns[table] = ()
        return self._columns[table]
