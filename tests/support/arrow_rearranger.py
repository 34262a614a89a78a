"""Small files put together by PyArrow: a ``Rearranger`` that needs no Spark, with moments to interfere."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import structs

from headgate.catalog.ports.maintenance import Maintenance
from headgate.protocol.actions import EpochMillis
from headgate.protocol.predicates.tree import Always
from headgate.protocol.transaction.attempt import ReadSet
from headgate.storage.location_spelling import local_path
from headgate.table.commit import remove_actions
from headgate.table.maintenance.rearranger import RearrangeResult
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation
from tests.support.tables import parquet_file

_KIND = Maintenance.DATA_REORGANISATION


def nothing() -> None:
    """What happens where nobody interferes."""


@dataclass(frozen=True)
class ArrowRearranger:
    """Puts all files of a table without partitions together into one."""

    first: Callable[[], object] = nothing
    """Called when it has been decided that there is work, and before that has begun."""
    written: Callable[[], object] = nothing
    """Called when the new file is written, and before permission is asked for again."""
    committing: Callable[[], object] = nothing
    """Called when everything was asked, right before the commit."""

    def optimize(self, table: OpenedTable) -> RearrangeResult:
        self.first()
        base = table.check_permitted(_KIND, "OPTIMIZE").snapshot
        old, folder = base.files.without_stats, Path(local_path(table.location))
        ids = [number for path in old["path"].to_pylist() for number in ids_in(folder / path)]
        add = structs.replace(
            parquet_file(str(folder), f"{table.world.uuid()}.parquet", ids, "OPTIMIZE"), data_change=False
        )
        self.written()
        table.check_permitted(_KIND, "OPTIMIZE")
        self.committing()
        now = EpochMillis(table.world.now_ms())
        change = Change(
            Operation("OPTIMIZE", changes_data=False),
            (*remove_actions.removals(old, now, data_change=False), add),
            reads=ReadSet(predicates=(Always(),), files=frozenset(old["path"].to_pylist())),
        )
        return RearrangeResult(table.commit(change, base=base), 1, old.num_rows)

    def purge(self, table: OpenedTable) -> RearrangeResult:
        raise NotImplementedError


def ids_in(file: Path) -> list[int]:
    """The ids in a data file."""
    return pa.Table.to_pydict(pq.ParquetFile(file).read(["id"]))["id"]
