"""What each winner costs a transaction that began n versions ago and commits now.

The table is partitioned by writer, and every winner has overwritten a partition of its own. A
blind append to a catalog-managed table is given its version by the catalog and checks nothing; to
an ordinary table it is checked against every winner, as the peer's is. An overwrite has read one
partition, so the partition values of every file the winners added are compared with it. Winners
are published before the clock starts: all sides read them from files.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import msgspec
from deltalake import DeltaTable
from deltalake.transaction import AddAction

from benchmarks.report import Measure, Result
from benchmarks.sides import SCHEMA
from headgate.catalog.embedded import open_catalog
from headgate.clock import SystemWorld
from headgate.protocol.actions import AddFile, CommitInfo, EpochMillis, Metadata, Version
from headgate.protocol.log import codec, file_names
from headgate.protocol.predicates.tree import Column, Compare, Op
from headgate.protocol.schema.types import Primitive
from headgate.protocol.transaction.attempt import BLIND, ReadSet
from headgate.settings import Settings
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation
from tests.support import tables

_CHECKPOINTS = 100
_WRITER = Column(("writer",), Primitive("string"))
Behind = Callable[[int, str], float]
"""Begin n versions ago, commit a file to a partition of that name, and say how long the commit took."""


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    counts, rounds = ((0, 1, 3), 1) if quick else ((0, 1, 10, 100, 1_000), 7)
    most = counts[-1]
    managed, ordinary = _managed(place / "managed", most), _ordinary(place / "ordinary", most)
    sides: dict[str, Behind] = {
        "append, managed": lambda n, name: _spent(managed, n, _append(name)),
        "append, ordinary": lambda n, name: _spent(ordinary, n, _append(name)),
        "overwrite, managed": lambda n, name: _spent(managed, n, _overwrite(name)),
        "peer": _peer(place / "peer", most),
    }
    spent = {side: {count: list[float]() for count in counts} for side in sides}
    for number in range(rounds):
        for count in counts:
            for side, behind in sides.items():
                spent[side][count].append(behind(count, f"{side}-{number}-{count}"))
    for table in (managed, ordinary):
        table.close()
    peer = _Curve.of(spent.pop("peer"))
    for side, seconds in spent.items():
        ours = _Curve.of(seconds)
        yield Result(
            side,
            Measure(most / ours.seconds[-1]),
            Measure(most / peer.seconds[-1]),
            (
                f"behind {', '.join(f'{count:,}' for count in counts)} winners:",
                f"ours {ours}",
                f"theirs, an append, {peer}",
            ),
        )


@dataclass(frozen=True, slots=True)
class _Curve:
    """How long a commit took behind some numbers of winners, of which the first is none."""

    counts: tuple[int, ...]
    seconds: tuple[float, ...]

    @staticmethod
    def of(measured: dict[int, list[float]]) -> "_Curve":
        return _Curve(tuple(measured), tuple(median(seconds) for seconds in measured.values()))

    def __str__(self) -> str:
        alone, *others = self.seconds
        each = (
            f"{1e6 * (second - alone) / count:,.0f}"
            for count, second in zip(self.counts[1:], others, strict=True)
        )
        whole = ", ".join(f"{1000 * second:,.1f}" for second in self.seconds)
        return f"{whole} ms; so {', '.join(each)} µs a winner"


def _spent(table: OpenedTable, count: int, change: Change) -> float:
    base = table.snapshot(version=table.snapshot().version - count)
    began = time.perf_counter()
    table.commit(change, base=base)
    seconds = time.perf_counter() - began
    table.publish()
    return seconds


def _append(name: str) -> Change:
    return Change(Operation("WRITE", {"mode": "Append"}), (_added(name),), BLIND)


def _overwrite(name: str) -> Change:
    reads = ReadSet(predicates=(Compare(_WRITER, Op.EQ, name),))
    return Change(Operation("WRITE", {"mode": "Overwrite"}), (_added(name),), reads)


def _added(name: str) -> AddFile:
    return msgspec.structs.replace(
        tables.named_file(f"writer={name}/file.parquet"), partition_values={"writer": name}
    )


def _managed(folder: Path, winners: int) -> OpenedTable:
    catalog = open_catalog(folder)
    catalog.create_schema(tables.NAME.schema)
    staging = catalog.stage(tables.NAME)
    _create(locate(staging.location), managed=True)
    catalog.register(staging, tables.NAME)
    table = tables.open_managed(catalog, staging.table_id, staging.location, settings=Settings())
    for number in range(winners):
        table.commit(_overwrite(f"winner-{number}"), base=table.newest_known())
    table.publish()
    return table


def _ordinary(folder: Path, winners: int) -> OpenedTable:
    _write(folder, winners)
    return tables.open_filesystem(str(folder), settings=Settings())


def _write(folder: Path, winners: int) -> None:
    _create(locate(str(folder)), managed=False)
    for number in range(winners):
        info = CommitInfo(
            timestamp=EpochMillis(number),
            operation="WRITE",
            operation_parameters={"mode": "Overwrite"},
            is_blind_append=False,
        )
        # Not through the store: to sync each of them takes long, and says nothing about checking them.
        path = folder / file_names.published_path(Version(number + 1))
        path.write_bytes(codec.encode((info, _added(f"winner-{number}"))))
    # As the peer would have had them, had it made these commits itself.
    for version in range(_CHECKPOINTS, winners + 1, _CHECKPOINTS):
        DeltaTable(str(folder), version=version).create_checkpoint()


def _create(store: Store, *, managed: bool) -> None:
    content = create.version_0(TableDefinition(tables.SCHEMA), managed=managed, world=SystemWorld())
    actions = (
        msgspec.structs.replace(action, partition_columns=("writer",))
        if isinstance(action, Metadata)
        else action
        for action in codec.decode_actions(Version(0), content)
    )
    create.write_first_commit(store, codec.encode(actions), managed=managed)


def _peer(folder: Path, winners: int) -> Behind:
    _write(folder, winners)
    latest = DeltaTable(str(folder)).version()

    def behind(count: int, name: str) -> float:
        nonlocal latest
        add = _added(name)
        action = AddAction(
            path=add.path,
            size=add.size,
            partition_values=dict(add.partition_values),
            modification_time=add.modification_time,
            data_change=True,
            stats=add.stats or "",
        )
        table = DeltaTable(str(folder), version=latest - count)
        began = time.perf_counter()
        table.create_write_transaction([action], mode="append", schema=SCHEMA, partition_by=["writer"])
        latest += 1
        return time.perf_counter() - began

    return behind
