"""What a lake offers to those who want a table once more: clones, with files of their own or without."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from dataclasses import replace as replaced
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, TableName, parse_name
from headgate.deferred import deferred
from headgate.errors import TableNotFound, VersionNotFound
from headgate.lake.activity import LakeActivity
from headgate.lake.context import LakeContext
from headgate.lake.path_table import open_path
from headgate.lake.table import Table
from headgate.protocol.metadata import alter_properties
from headgate.table.location import NewTableLocation
from headgate.table.opened_table import OpenedTable
from headgate.table.read import file_paths

if TYPE_CHECKING:
    from headgate.spark.calls import moments
    from headgate.table.alter import clone as cloned
    from headgate.table.alter.clone import CloneOptions, CloneSource
    from headgate.table.read import table_not_found
else:
    moments = deferred("headgate.spark.calls", "moments")
    cloned = deferred("headgate.table.alter", "clone")
    CloneOptions, CloneSource = deferred("headgate.table.alter.clone", "CloneOptions", "CloneSource")
    table_not_found = deferred("headgate.table.read", "table_not_found")

_DELTA = "delta.`"


@dataclass(frozen=True, slots=True)
class _CloneSource:
    """A table to be cloned, and its name if it is one of the lake's."""

    called: str
    opened: OpenedTable
    name: TableName | None = None


@dataclass(frozen=True, slots=True)
class TableCloning:
    """The part of a lake that clones tables."""

    context: LakeContext
    activity: LakeActivity
    """It leases what is copied."""

    def clone(  # noqa: PLR0913 — those of Delta's statement
        self,
        source: str | Path | Table,
        name: str,
        *,
        shallow: bool = False,
        version: int | None = None,
        timestamp: datetime | str | None = None,
        replace: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> Table:
        """Make a table of the lake what another table is, now, at a version or as of a moment.

        The ``source`` is a table of the lake by its name, an ordinary Delta table by its path, or a table
        that is open. The clone is a catalog-managed table of its own, with the columns, partitioning,
        clustering and properties of the source, over which ``properties`` go; its history begins with it.
        It has copies of all data files, or if it is ``shallow`` names those of the source where they are,
        for as long as they are there: a VACUUM of the source may take them. With ``replace`` the table may
        exist: it then becomes the clone in one commit, and of files that were copied before only new ones
        are copied. Whoever commits to it meanwhile wins: ``ConcurrentWrite``.

            lake.clone("sales.orders", "sales.orders_before", version=1)
        """
        found, target = self._source(source), parse_name(name)
        moment = None if timestamp is None else moments.to_epoch_millis(timestamp)
        snapshot = found.opened.snapshot(version=version, timestamp=moment)
        cloning = CloneSource(found.called, found.opened, snapshot)
        wish = CloneOptions(shallow=shallow, properties=properties or {})
        with self._undisturbed(found, snapshot.version, wish):
            entry = self._present(target) if replace else None
            return (
                self._make(found, cloning, target, wish)
                if entry is None
                else self._over(found, cloning, entry, wish)
            )

    def _make(self, found: _CloneSource, source: CloneSource, target: TableName, wish: CloneOptions) -> Table:
        staging = self.context.reserve(target)
        self._let_name(staging.table_id, found, source, wish)
        site = NewTableLocation(staging.location, self.context.staging_store(staging), self.context.world)
        wish = replaced(wish, required=alter_properties.catalog_identity(staging.table_id, str(target)))
        return self.context.handle(
            cloned.create_clone(site, source, wish, lambda: self.context.catalog.register(staging, target))
        )

    def _over(self, found: _CloneSource, source: CloneSource, entry: TableEntry, wish: CloneOptions) -> Table:
        handle = self.context.handle(entry)
        self._let_name(entry.table_id, found, source, wish)
        cloned.replace_with_clone(handle.log, source, wish)
        return handle

    def _present(self, name: TableName) -> TableEntry | None:
        try:
            return self.context.catalog.resolve(name)
        except TableNotFound:
            return None

    def _undisturbed(
        self, found: _CloneSource, version: int, wish: CloneOptions
    ) -> AbstractContextManager[object]:
        """Hold a lease on the source version while its files are copied, so that no VACUUM deletes them."""
        if wish.shallow or found.name is None:
            return nullcontext()
        try:
            return self.activity.lease(str(found.name), version=version)
        except VersionNotFound:  # some of it may be gone, or not: the copy will tell
            return nullcontext()

    def _let_name(
        self, table_id: TableId, found: _CloneSource, source: CloneSource, wish: CloneOptions
    ) -> None:
        """Have a shallow clone allowed to name files elsewhere, before a commit needs it.

        What a crash leaves of that is an allowance that nothing uses.
        """
        if not wish.shallow:
            return
        granting = self.context.catalog.granting
        if found.name is None:
            granting.allow_clone_locations(table_id, cloned.source_locations(source))
        else:
            granting.allow_clone_of(table_id, found.name)

    def _source(self, source: str | Path | Table) -> _CloneSource:
        if isinstance(source, Table):
            return self._ours(source) or _CloneSource(source.name, source.log)
        text = str(source)
        if text.startswith(_DELTA) and text.endswith("`"):
            text = text.removeprefix(_DELTA).removesuffix("`")
        elif not isinstance(source, Path) and "/" not in text:
            entry = self.context.resolve(text)
            return _CloneSource(str(entry.name), self.context.open_table(entry), entry.name)
        opened = open_path(text, self.context.settings)
        if not opened.exists():
            raise table_not_found.no_table_at(opened.location)
        return _CloneSource(f"delta.`{opened.location}`", opened)

    def _ours(self, table: Table) -> _CloneSource | None:
        """A table that is open, as the lake has it, if it is one of the lake's: as it is committed."""
        entry = None if table.name.startswith(_DELTA) else self._present(parse_name(table.name))
        if entry is None or not file_paths.is_same_location(entry.location, table.location):
            return None
        return _CloneSource(str(entry.name), self.context.open_table(entry), entry.name)
