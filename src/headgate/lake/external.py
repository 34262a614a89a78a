"""What a lake offers to those who have ordinary Delta tables and want to call them by name."""

from dataclasses import dataclass
from pathlib import Path

from headgate.catalog.ports.directory import parse_name
from headgate.catalog.ports.external_tables import ExternalTable
from headgate.errors import HeadgateError, InvalidRequest, TableNotFound
from headgate.lake.context import LakeContext
from headgate.lake.path_table import at_path, open_path
from headgate.lake.table import Table
from headgate.storage import locations


@dataclass(frozen=True, slots=True)
class ExternalNames:
    """The part of a lake that knows tables which it does not manage."""

    context: LakeContext

    def register_external(self, location: str | Path, name: str) -> Table:
        """Give an ordinary Delta table a name in the lake, which does not manage it; its files stay there.

        ``lake.table(name)`` then opens it by its path, and its commits are decided as before: by its log, or
        by its commit owner. Only the owner of the lake may. ``lake.adopt`` has the catalog decide instead.
        """
        wanted, place = parse_name(name), locations.canonical(str(location))
        if not open_path(place, self.context.settings).exists():
            raise InvalidRequest(f"there is no Delta table at {place!r}, so it gets no name: make it first")
        self.context.catalog.externals.register_external(wanted, place)
        return at_path(place, settings=self.context.settings)

    def external_tables(self, schema_name: str | None = None) -> tuple[ExternalTable, ...]:
        """The ordinary tables that the lake has names for; ``lake.tables()`` has those that it manages."""
        return self.context.catalog.externals.external_tables(schema_name)

    def forget_external(self, name: str) -> bool:
        """Take the name of an ordinary table away; whether there was one. The table stays as it is."""
        return self.context.catalog.externals.forget_external(parse_name(name))

    def is_managed(self, name: str) -> bool:
        """Whether the catalog decides the commits of this table; ``TableNotFound`` if there is none."""
        try:
            self.context.resolve(name)
        except TableNotFound as missing:
            self.find(name, missing)
            return False
        return True

    def open(self, name: str, missing: TableNotFound) -> Table:
        """The ordinary table of that name; if there is none, what was ``missing`` before."""
        return at_path(self.find(name, missing).location, settings=self.context.settings)

    def find(self, name: str, missing: TableNotFound) -> ExternalTable:
        """Where it is."""
        try:
            return self.context.catalog.externals.find_external(parse_name(name))
        except HeadgateError:  # a catalog of another kind may have none at all
            raise missing from None
