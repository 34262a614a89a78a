"""A table that a server shows to engines nobody here wrote, and our own client on the same table.

Our client is the table layer over the catalog in this process; no Spark is needed to write and read rows.
"""

import itertools
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.clock import SystemWorld
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.protocol.metadata import alter_properties
from headgate.server.delta_api import DeltaApiSettings
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from headgate.table.opened_table import OpenedTable
from tests.support import tables
from tests.support.http_server import serving
from tests.support.lossy_http import LossyWay, lossy

INLINE = Settings(publish=Publish.ON_DEMAND)
STAGED = Settings(publish=Publish.ON_DEMAND, inline_limit_bytes=0)
BOTH = {"inline": INLINE, "staged": STAGED}
LAKE, NAME = "main", TableName("s1", "t")
_FILES = itertools.count()


@dataclass(frozen=True)
class ServedTable:
    """The table ``main.s1.t`` of a lake that is served."""

    catalog: Catalog
    way: LossyWay
    """The way to the server, on which answers can be lost."""

    @property
    def url(self) -> str:
        return self.way.url

    @property
    def entry(self) -> TableEntry:
        return self.catalog.resolve(NAME)

    @property
    def log(self) -> Path:
        return Path(self.entry.location) / "_delta_log"

    @property
    def latest(self) -> int:
        return self.catalog.tail(self.entry.table_id).latest

    def opened(self, settings: Settings = INLINE) -> OpenedTable:
        return tables.open_managed(self.catalog, self.entry.table_id, self.entry.location, settings=settings)

    def append(self, *ids: int, settings: Settings = INLINE) -> None:
        """Append rows as our client does, without publishing them."""
        table = self.opened(settings)
        file = tables.parquet_file(table.location, f"ours-{next(_FILES)}.parquet", list(ids), "ours")
        table.commit(tables.append_change(file), base=table.snapshot())

    def ids(self, version: int | None = None) -> list[int]:
        """The ids of all rows as our client reads them, now or at a version."""
        snapshot = self.opened().snapshot(version=version)
        paths = snapshot.files.columns["path"].to_pylist()
        found = [pq.read_table(Path(self.entry.location) / path, columns=["id"]) for path in paths]
        return sorted(row for table in found for row in table["id"].to_pylist())

    def published_file(self, version: int) -> Path:
        return Path(self.entry.location) / file_names.published_path(Version(version))

    def harm_published(self, version: int, harm: str) -> None:
        """Have the published file of a version ``deleted``, or turned into ``garbage``."""
        path = self.published_file(version)
        path.unlink(missing_ok=True)
        if harm == "garbage":
            path.write_bytes(b'{"commitInfo":{}}\n')

    def recreate(self) -> TableEntry:
        """Drop the table, and make another one of the same name."""
        self.catalog.drop(NAME)
        return create_served(self.catalog)


def create_served(catalog: Catalog, name: TableName = NAME) -> TableEntry:
    """A new table as ``lake.create_table`` makes it, which says the id that its catalog knows it by."""
    catalog.create_schema(name.schema)
    staging = catalog.stage(name)
    identity = alter_properties.catalog_identity(staging.table_id, str(name))
    definition = replace(TableDefinition(tables.SCHEMA), required=identity)
    create.write_version_0(locate(staging.location), definition, managed=True, world=SystemWorld())
    return catalog.register(staging, name)


@contextmanager
def served_lake(folder: Path, *, delta_api: DeltaApiSettings | None = None) -> Iterator[ServedTable]:
    """A lake with one empty table, and a server of it."""
    with closing(open_catalog(folder)) as catalog:
        create_served(catalog)
        with serving(catalog, name=LAKE, delta_api=delta_api) as url, lossy(url) as way:
            yield ServedTable(catalog, way)
