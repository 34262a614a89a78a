"""What a lake offers to those who name its tables: other names, drops that can be undone, purges."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, parse_name
from headgate.catalog.ports.serving import CommitRecord
from headgate.errors import HeadgateError, SchemaNotFound, TableNotFound
from headgate.lake import lake_recovery
from headgate.protocol.actions import Version
from headgate.storage.locate import locate
from headgate.table.maintenance import purge
from headgate.table.maintenance.recovery import RecoveryReport
from headgate.table.opened_table import OpenedTable


@dataclass(frozen=True, slots=True)
class LakeDirectory:
    """The part of a lake that is about which tables there are."""

    catalog: LakeCatalog
    open_table: Callable[[TableEntry], OpenedTable]

    def create_schema(self, name: str) -> None:
        """Make a schema to put tables in; nothing happens if it exists.

        lake.create_schema("finance")
        """
        self.catalog.create_schema(name)

    def schemas(self) -> tuple[str, ...]:
        """What schemas there are that you may do something in, by name.

        assert lake.schemas() == ("sales",)
        """
        return self.catalog.schemas()

    def drop_schema(self, name: str) -> bool:
        """Take away a schema that has no table; whether there was one.

        assert not lake.drop_schema("no_such_schema")
        """
        is_dropped = self.catalog.drop_schema(name)
        if is_dropped:
            self.catalog.copies.write_now()
        return is_dropped

    def table_exists(self, name: str) -> bool:
        """Whether there is a table of that name, ``schema.table``, that you may see.

        assert lake.table_exists("sales.orders")
        """
        try:
            self.catalog.resolve(parse_name(name))
        except (TableNotFound, SchemaNotFound):
            return self._is_external(name)
        return True

    def _is_external(self, name: str) -> bool:
        try:
            self.catalog.externals.find_external(parse_name(name))
        except HeadgateError:
            return False
        return True

    def tables(self, schema_name: str | None = None) -> tuple[TableEntry, ...]:
        """What tables there are, in the lake or in one schema.

        names = [str(entry.name) for entry in lake.tables("sales")]
        """
        return self.catalog.tables(schema_name)

    def drop_table(self, name: str) -> None:
        """Take the table's name away; its log and its data stay, and ``undrop`` brings it back.

        lake.drop_table("sales.orders")
        """
        self.catalog.drop(parse_name(name))
        self.catalog.copies.write_now()

    def rename(self, name: str, to: str) -> None:
        """Give the table another name, in another schema if need be; whoever has it open goes on.

        lake.rename("sales.orders", "sales.orders_2026")
        """
        self.catalog.rename(parse_name(name), parse_name(to))
        self.catalog.copies.write_now()

    def dropped(self, schema_name: str | None = None) -> tuple[TableEntry, ...]:
        """What was dropped and not purged, the latest first.

        names = [str(entry.name) for entry in lake.dropped()]
        """
        return self.catalog.dropped(schema_name)

    def undrop(self, name: str, *, table_id: str | None = None, to: str | None = None) -> None:
        """Have back the table of that name that was dropped last, or the one with that id.

        If the name is in use by now, say by which other one it shall come back.

            lake.drop_table("sales.orders")
            lake.undrop("sales.orders")
        """
        target = None if to is None else parse_name(to)
        wanted = None if table_id is None else TableId(table_id)
        self.catalog.undrop(parse_name(name), table_id=wanted, to=target)
        self.catalog.copies.write_now()

    def purge(self, name: str, *, table_id: str | None = None, files: bool = False) -> str:
        """Get rid of a dropped table for good: of what the catalog knows, and with ``files`` of its files.

        The id of the one that is gone.

        Without ``files`` all its versions must be published, because what stays shall be a whole table.

            lake.drop_table("sales.orders")
            lake.purge("sales.orders", files=True)
        """
        gone = purge.purge(self.catalog, parse_name(name), table_id, files=locate if files else None)
        self.catalog.copies.write_now(forgotten=(gone,))
        return gone

    def share_log(self, name: str) -> None:
        """From now on let others publish versions of the table themselves, by creating ``<v>.json``.

        Every commit then takes a conditional write to the log, and whoever asks for the latest version
        has the catalog look there. This cannot be taken back.

            lake.share_log("sales.orders")
        """
        self.open_table(self.catalog.resolve(parse_name(name))).publish()
        self.catalog.share_log(parse_name(name))
        self.catalog.copies.write_now()

    def recover(self, *, tables: Iterable[str | Path] = (), dry_run: bool = False) -> RecoveryReport:
        """Take in what the logs of tables prove and the catalog does not know; see ``headgate.recover``.

        A lake whose database is lost, or was restored from a backup, cannot be connected to before
        ``headgate.recover`` was called.

            report = lake.recover(dry_run=True)
        """
        return lake_recovery.recover_catalog(self.catalog, tables, dry_run=dry_run)

    def commits(
        self, name: str, *, before: int | None = None, limit: int = 1_000
    ) -> tuple[CommitRecord, ...]:
        """What the catalog remembers of the table's commits, the latest first; its log is not read.

        latest = lake.commits("sales.orders", limit=10)[0].version
        """
        entry = self.catalog.resolve(parse_name(name))
        bound = None if before is None else Version(before)
        return self.catalog.commits(entry.table_id, before=bound, limit=limit)
