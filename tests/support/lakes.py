"""A lake folder with a few tables, made without Spark."""

from pathlib import Path

from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.directory import TableName
from headgate.settings import Publish, Settings
from tests.support.tables import append_change, create_managed, open_managed, parquet_file

_STAGED = Settings(publish=Publish.ON_DEMAND, inline_limit_bytes=0)


def build_lake(folder: Path) -> None:
    """``sales.orders`` with 5 rows at version 2, one commit inline and one staged; ``sales.stock``, empty."""
    catalog = open_catalog(folder)
    orders = create_managed(catalog, TableName("sales", "orders"))
    create_managed(catalog, TableName("sales", "stock"))
    inline = open_managed(catalog, orders.table_id, orders.location)
    staged = open_managed(catalog, orders.table_id, orders.location, settings=_STAGED)
    for number, (table, ids) in enumerate(((inline, [1, 2, 3]), (staged, [4, 5]))):
        add = parquet_file(orders.location, f"part-{number}.parquet", ids)
        table.commit(append_change(add), base=table.snapshot())
    catalog.close()
