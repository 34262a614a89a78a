"""Adding the rows of this process to a table, without Spark: checked, written, synced, and then committed.

A blind append starts from the newest version that this process knows, and leaves the version open, so that
nobody is asked before the commit. Files go only after a proven failure; if nobody can say whether the commit
happened they stay.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headgate.arrow.write import incoming_rows, new_files
from headgate.arrow.write.append_plan import AppendPlan, PlanRequest
from headgate.arrow.write.append_plan_cache import AppendPlans
from headgate.arrow.write.new_files import NewFiles
from headgate.errors import (
    ConflictError,
    InvalidRequest,
    MetadataChanged,
    ProtocolChanged,
    SchemaMismatch,
    UserError,
)
from headgate.protocol.actions import Version
from headgate.protocol.domains.rules import NO_DOMAINS, DomainSettings
from headgate.protocol.features import identity_columns
from headgate.protocol.metadata.implicit_changes import MetadataOutcome
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Struct
from headgate.protocol.transaction.attempt import BLIND
from headgate.table.commit import app_transaction
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation

_MOST_LOSSES = 20
"""How often rows are written again because others gave the values of their identity columns."""


@dataclass(frozen=True, slots=True)
class AppendOptions:
    """What is asked of an append."""

    merges: bool = False
    """Whether columns that the table does not have are added to it."""
    txn: tuple[str, int] | None = None
    user_metadata: str | None = None
    domains: DomainSettings = NO_DOMAINS
    casts: bool = False
    """Whether values are cast to the table's types, as far as that loses nothing."""
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] | None = None
    compression: str = new_files.DEFAULT_COMPRESSION
    max_records: int | None = None
    time_zone: Callable[[], str] = lambda: ""
    """In which zone moments are that name none; an empty one leaves what depends on it to Spark."""

    def __post_init__(self) -> None:
        if self.compression.lower() not in new_files.COMPRESSIONS:
            raise InvalidRequest(
                f"compression {self.compression!r} is none that files can be written with here: give one of "
                f"{', '.join(sorted(new_files.COMPRESSIONS))}"
            )


PLAIN_APPEND = AppendOptions()


def append(
    table: OpenedTable, rows: Any, options: AppendOptions = PLAIN_APPEND, plans: AppendPlans | None = None
) -> Version:
    """Add rows, an Arrow table, pandas or dicts; the version that has them.

    Whoever changes the table meanwhile makes it start once more, from the version that won; and again where
    others gave the values of identity columns.
    """
    kept = plans or AppendPlans()
    lost, retried = 0, False
    while True:
        base = _base(table, options, newest=retried or lost > 0)
        if app_transaction.is_committed(base, options.txn):
            return base.version
        try:
            return _append(table, base, rows, options, kept)
        except (MetadataChanged, ProtocolChanged):
            counted = identity_columns.PREFIX in base.state.metadata.schema_string
            lost += counted
            if options.domains.configurations or options.txn is not None or lost > _MOST_LOSSES:
                raise
            if retried and not counted:
                raise
            retried = True


def _append(
    table: OpenedTable, base: Snapshot, rows: Any, options: AppendOptions, plans: AppendPlans
) -> Version:
    given, plan = _planned(table, base, rows, options, plans)
    now_micros = table.world.now_ms() * 1_000
    whole = plan.table_rows(given, now_micros)
    written = new_files.write_files(
        table, plan.shape, whole, compression=options.compression.lower(), max_records=options.max_records
    )
    prepared = plan.prepared.with_values(_farthest(whole, plan))
    meta = options.domains.beside(prepared.base.state.protocol, prepared.actions)
    change = Change(
        _operation(plan, written),
        (*meta, *app_transaction.actions(table.world, options.txn), *written.adds),
        reads=BLIND if options.txn is None else replace(BLIND, app_ids=frozenset({options.txn[0]})),
        user_metadata=options.user_metadata,
        written_as=written.txn_id,
    )
    try:
        return table.commit(change, base=prepared.base)
    except (ConflictError, UserError):
        # Proven not to be committed; after any other error the files may belong to a version (I7).
        new_files.discard(table.store, written.paths)
        raise


def _planned(
    table: OpenedTable, base: Snapshot, rows: Any, options: AppendOptions, plans: AppendPlans
) -> tuple[pa.Table, AppendPlan]:
    """The rows as Arrow, and what becomes of them; from the newest version, if they do not fit a known."""
    try:
        found = _plan_at(table, base, rows, options, plans)
        if found[1].keeps_metadata or options.domains.since is not None:
            return found
    except SchemaMismatch:
        newest = base if options.domains.since is not None else table.snapshot()
        if newest.version == base.version:
            raise
        return _plan_at(table, newest, rows, options, plans)
    newest = table.snapshot()
    return found if newest.version == base.version else _plan_at(table, newest, rows, options, plans)


def _plan_at(
    table: OpenedTable, base: Snapshot, rows: Any, options: AppendOptions, plans: AppendPlans
) -> tuple[pa.Table, AppendPlan]:
    given = incoming_rows.as_arrow(rows, _schema(base.state.metadata.schema_string))
    asked = PlanRequest(given.schema, options.merges, options.partition_by, options.cluster_by, options.casts)
    return given, plans.find(table.world, base, asked, options.time_zone)


@lru_cache(maxsize=64)
def _schema(schema_string: str) -> Struct:
    return schema_json.parse(schema_string)


def _base(table: OpenedTable, options: AppendOptions, *, newest: bool) -> Snapshot:
    if options.domains.configurations:
        return table.snapshot(version=options.domains.since)
    if newest or options.txn is not None:
        return table.snapshot()
    known = table.newest_known()
    # Where values are given out, an old mark is a race that is lost already.
    return table.snapshot() if identity_columns.PREFIX in known.state.metadata.schema_string else known


def _farthest(rows: pa.Table, plan: AppendPlan) -> Mapping[str, int]:
    """The value of each identity column that is farthest in the direction of its step."""
    found = {}
    for name, spec in identity_columns.columns_of_schema(plan.schema).items():
        last = pc.max(rows.column(name)) if spec.step > 0 else pc.min(rows.column(name))
        if last.is_valid:
            found[name] = last.as_py()
    return found


def _operation(plan: AppendPlan, written: NewFiles) -> Operation:
    planned = plan.prepared.planned
    parameters = {
        "mode": "Append",
        "partitionBy": msgspec.json.encode(list(planned.partition_columns)).decode(),
    }
    if planned.outcome is MetadataOutcome.MERGE:
        parameters["canMergeSchema"] = "true"
    return Operation("WRITE", parameters, written.metrics)
