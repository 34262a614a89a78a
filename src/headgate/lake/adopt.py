"""What a lake offers to those who have Delta tables already: take them in, give them back, name them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headgate.catalog.ports.directory import ExternalTable, parse_name
from headgate.deferred import deferred
from headgate.errors import InvalidRequest, NotAllowed, TableNotFound, UnsupportedFeature
from headgate.lake.context import LakeContext
from headgate.lake.path_table import at_path, open_path
from headgate.lake.table import Table
from headgate.spark.session.schema import SchemaLike
from headgate.storage import locations
from headgate.storage.locate import locate

if TYPE_CHECKING:
    from headgate.spark.commands import convert as converting
    from headgate.table.alter import adoption
    from headgate.table.alter.adoption import TransferServices
else:
    converting = deferred("headgate.spark.commands", "convert")
    adoption = deferred("headgate.table.alter", "adoption")
    TransferServices = deferred("headgate.table.alter.adoption", "TransferServices")


@dataclass(frozen=True, slots=True)
class TableAdoption:
    """The part of a lake that adopts and releases tables."""

    context: LakeContext

    def adopt(
        self,
        location: str | Path,
        name: str,
        *,
        convert: bool = False,
        partition_schema: SchemaLike | None = None,
    ) -> Table:
        """Take an existing Delta table, wherever it is, into the lake by this name; its files stay there.

        From then on the catalog ratifies its commits, and clients that commit by creating files are refused.
        If somebody commits meanwhile: ``ConcurrentWrite``, and nothing happened. After a crash the same
        call again, or any use of the name, finishes it if the table has changed hands.
        With ``convert`` a folder of parquet files becomes a Delta table first, as ``headgate.convert`` does.

            lake.adopt("events", "sales.events")
        """
        place, wanted = locations.canonical(str(location)), parse_name(name)
        if convert:
            adoption.check_claimable(self._services(), locate(place), place, wanted)
            converting.convert(place, locate(place), partition_schema, world=self.context.world)
        adopted = adoption.adopt(self._services(), locate(place), place, wanted)
        self.context.catalog.copies.write_now()  # which knows where it is, should the database be lost
        return self.context.handle(self.context.catalog.resolve(adopted.name))

    def convert(
        self, location: str | Path, name: str, *, partition_schema: SchemaLike | None = None
    ) -> Table:
        """Make a folder of parquet files a table of the lake, without writing any file anew.

        lake.convert("parquet", "sales.visits")
        """
        return self.adopt(location, name, convert=True, partition_schema=partition_schema)

    def release(self, name: str, *, keep_timestamps: bool = True) -> Table:
        """Give a table back: an ordinary Delta table again, at the same place; the table opened by its path.

        Everything is published, and the name is free. Whoever has it open is told where it is now. Its
        in-commit timestamps stay on, which some clients cannot write (deltalake is one): with
        ``keep_timestamps=False`` they go too, and the time of a version is that of its file.

            by_path = lake.release("sales.orders")
        """
        entry = self.context.resolve(name)
        opened = self.context.open_table(entry)
        adoption.release(self._services(), opened, entry.table_id, keep_timestamps=keep_timestamps)
        return at_path(entry.location, settings=self.context.settings)

    def resume_adoptions(self) -> Mapping[str, str]:
        """Finish or forget what a crash left of adoptions and releases; what became of each, by name.

        Nobody has to call this: whoever uses the name does the same for that table.

            assert lake.resume_adoptions() == {}
        """
        return adoption.resume_transfers(self._services())

    def _services(self) -> TransferServices:
        catalog = self.context.catalog
        return TransferServices(catalog.adoptions, catalog.releases, catalog.principal, self.context.world)


@dataclass(frozen=True, slots=True)
class ExternalNames:
    """The part of a lake that knows tables which it does not manage."""

    context: LakeContext

    def register_external(self, location: str | Path, name: str) -> Table:
        """Give an ordinary Delta table a name in the lake, which does not manage it; its files stay there.

        ``lake.table(name)`` then opens it by its path, and its commits are decided as before: by its log, or
        by its coordinator. Only the owner of the lake may. ``lake.adopt`` has the catalog decide instead.

            lake.register_external("events", "sales.events")
        """
        wanted, place = parse_name(name), locations.canonical(str(location))
        if not open_path(place, self.context.settings).exists():
            raise InvalidRequest(f"there is no Delta table at {place!r}, so it gets no name: make it first")
        self.context.catalog.externals.register_external(wanted, place)
        return at_path(place, settings=self.context.settings)

    def external_tables(self, schema_name: str | None = None) -> tuple[ExternalTable, ...]:
        """The ordinary tables that the lake has names for; ``lake.tables()`` has those that it manages.

        print(lake.external_tables("sales"))
        """
        return self.context.catalog.externals.external_tables(schema_name)

    def forget_external(self, name: str) -> bool:
        """Take the name of an ordinary table away; whether there was one. The table stays as it is.

        lake.forget_external("sales.events")
        """
        return self.context.catalog.externals.forget_external(parse_name(name))

    def is_managed(self, name: str) -> bool:
        """Whether the catalog decides the commits of this table; ``TableNotFound`` if there is none.

        assert lake.is_managed("sales.orders")
        """
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
        except (NotAllowed, TableNotFound, UnsupportedFeature):  # a catalog of another kind may have none
            raise missing from None
