"""Managed tables of a few versions, part of them not published, and checkpoints of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import CommitCatalog, TableId
from headgate.protocol.log import codec, file_names
from headgate.settings import Publish, Settings
from headgate.storage.store import Store
from headgate.table.opened_table import OpenedTable
from tests.support.tables import append_change, create_managed, named_file, open_managed

STAGED = Settings(inline_limit_bytes=0, publish=Publish.ON_DEMAND)
INLINE = Settings(publish=Publish.ON_DEMAND)


@dataclass(frozen=True)
class Managed:
    """A table, its catalog and where it is."""

    catalog: CommitCatalog
    table_id: TableId
    location: str

    def opened(
        self, *, through: Callable[[CommitCatalog], CommitCatalog] | None = None, store: Store | None = None
    ) -> OpenedTable:
        """A fresh handle, through another catalog or store if the caller has one."""
        catalog = through(self.catalog) if through else self.catalog
        return open_managed(catalog, self.table_id, self.location, store=store)


def managed(folder: Path, versions: int, *, published: int = 0, settings: Settings = INLINE) -> Managed:
    """A table whose version v adds the file v; those after ``published`` only the catalog has."""
    catalog = open_catalog(folder)
    staging = create_managed(catalog)
    table = open_managed(catalog, staging.table_id, staging.location, settings=settings)
    for number in range(1, versions + 1):
        table.commit(append_change(named_file(f"{number}")), base=table.newest_known())
        if number == published:
            table.publish()
    return Managed(catalog, staging.table_id, staging.location)


def paths(table: OpenedTable, version: int | None = None) -> list[str]:
    """The live files."""
    return sorted(table.snapshot(version=version).files.columns["path"].to_pylist())


def write_checkpoint(folder: str | Path, table: OpenedTable, version: int) -> None:
    """A checkpoint of that version and the pointer to it."""
    at = table.snapshot(version=version)
    adds = [named_file(path) for path in at.files.columns["path"].to_pylist()]
    name = f"{version:020d}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
    content = codec.encode((at.state.protocol, at.state.metadata, *adds))
    (Path(folder) / file_names.LOG_FOLDER / name).write_bytes(content)
    (Path(folder) / file_names.LAST_CHECKPOINT).write_text(f'{{"version":{version},"size":{len(adds) + 2}}}')
