"""The same rows in other files: written, and committed as a change that changes no row.

Appends and readers are not disturbed by it, and whoever deletes or changes rows of the same files
meanwhile wins.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame

from headgate.catalog.ports.maintenance import Maintenance
from headgate.errors import ConflictError, HeadgateError, UserError
from headgate.progress import reporting
from headgate.protocol.actions import AddFile, EpochMillis
from headgate.protocol.domains import lifecycle
from headgate.protocol.domains.rules import NO_DOMAINS, DomainSettings
from headgate.protocol.features import zcubes
from headgate.protocol.schema import json as schema_json
from headgate.protocol.transaction.attempt import ReadSet
from headgate.spark.data_files import data_file_writer
from headgate.spark.data_files.data_file_writer import DataFileOptions, WrittenFiles
from headgate.spark.dml import dml_metrics, rewrite
from headgate.spark.dml.dml_metrics import FileSizes, OperationResult, RewrittenFiles
from headgate.spark.dml.target_scan import DmlTarget
from headgate.table.commit import remove_actions
from headgate.table.transaction import Change, Operation

_JOBS = 8
"""How many jobs write at a time; Spark has each wait for free cores."""
_SIZE_QUANTILES = {
    "minFileSize": 0.0,
    "p25FileSize": 0.25,
    "p50FileSize": 0.5,
    "p75FileSize": 0.75,
    "maxFileSize": 1.0,
}


@dataclass(frozen=True, slots=True)
class RewriteTask:
    """Some files, by position, and how their rows are laid out in new ones."""

    positions: Sequence[int]
    arrange: Callable[[DataFrame], DataFrame]
    tags: Mapping[str, str] | None = None
    """What the new files say of the cube they are in."""


def coalesce_to_one(rows: DataFrame) -> DataFrame:
    """In one file, by one task that reads the old ones one after the other; nothing is shuffled."""
    return rows.coalesce(1)


def rewrite_and_commit(
    target: DmlTarget, work: Sequence[RewriteTask], operation: Operation, domains: DomainSettings = NO_DOMAINS
) -> OperationResult:
    """Do the work and commit it, with these domains; without any of both, the version that was read."""
    started = target.table.world.now_ms()
    moved = domains.beside(target.base.state.protocol, ())
    if not (work or moved):
        nothing = target.files[:0]
        rewritten = _rewritten(target, (), nothing, started)
        return OperationResult(target.base.version, _metrics((), nothing), rewritten=rewritten)
    old = target.files.take(pa.array([position for some in work for position in some.positions], pa.int64()))
    written = _write(target, work)
    _check_still_permitted(target, written, operation)
    adds = tuple(add for one in written for add in one.adds)
    metrics = _metrics(adds, old)
    now = EpochMillis(target.table.world.now_ms())
    change = Change(
        replace(operation, metrics=dml_metrics.as_strings(metrics), changes_data=False),
        (*moved, *remove_actions.removals(old, now, data_change=False), *adds),
        reads=ReadSet(predicates=(target.predicate,), files=frozenset(old["path"].to_pylist())),
    )
    try:
        version = target.table.commit(change, base=target.base)
    except (ConflictError, UserError):
        # Proven not to be committed; after any other error the files may belong to a version (I7).
        _discard(target, written)
        raise
    return OperationResult(version, metrics, rewritten=_rewritten(target, adds, old, started))


def _check_still_permitted(target: DmlTarget, written: Sequence[WrittenFiles], operation: Operation) -> None:
    """Ask once more before the commit: writing takes long, and the table may have changed hands meanwhile.

    Nothing was proposed yet, so whatever the answer is, the new files belong to no version.
    """
    try:
        target.table.check_permitted(Maintenance.DATA_REORGANISATION, operation.name)
    except HeadgateError:
        _discard(target, written)
        raise


def _write(target: DmlTarget, work: Sequence[RewriteTask]) -> list[WrittenFiles]:
    """Each piece of work as a job of its own, several at a time; if one fails, nothing is left.

    One job of a union would not do: Spark makes one task of parts that have one each.
    """
    with ThreadPoolExecutor(_JOBS) as pool:
        jobs = [pool.submit(_write_one, target, some) for some in work]
        try:
            with reporting.tracked("rewrite files", as_completed(jobs), len(jobs)) as completed:
                for job in completed:
                    job.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            done = [job for job in jobs if not job.cancelled() and job.exception() is None]
            _discard(target, [job.result() for job in done])
            raise
    return [job.result() for job in jobs]


def _write_one(target: DmlTarget, work: RewriteTask) -> WrittenFiles:
    rows = target.rows_of(target.files.take(pa.array(work.positions, pa.int64())))
    written = data_file_writer.write_files(
        work.arrange(rows.select(*rewrite.copied_columns(target))),
        target.table,
        target.metadata,
        clustering=lifecycle.clustering_columns(target.base.state.domains),
        options=DataFileOptions(data_change=False),
        extra=target.tracked,
    )
    if work.tags is None:
        return written
    told = {"tags": dict(work.tags), "clustering_provider": zcubes.CLUSTERING_PROVIDER}
    return replace(written, adds=tuple(msgspec.structs.replace(add, **told) for add in written.adds))


def _discard(target: DmlTarget, written: Sequence[WrittenFiles]) -> None:
    for one in written:
        data_file_writer.discard(target.table.store, one)


def _rewritten(target: DmlTarget, adds: Sequence[AddFile], old: pa.Table, started_ms: int) -> RewrittenFiles:
    vectors = [vector for vector in old["deletion_vector"].to_pylist() if vector is not None]
    return RewrittenFiles(
        considered=target.files.num_rows,
        added=FileSizes.of_files([add.size for add in adds]),
        removed=FileSizes.of_files(old["size"].to_pylist()),
        partitions=len({str(sorted(values)) for values in old["partition_values"].to_pylist()}),
        vectors=len(vectors),
        vector_rows=sum(vector["cardinality"] for vector in vectors),
        columns=len(schema_json.parse(target.metadata.schema_string).fields),
        started_ms=started_ms,
        ended_ms=target.table.world.now_ms(),
    )


def _metrics(adds: Sequence[AddFile], old: pa.Table) -> Mapping[str, int]:
    sizes = sorted(add.size for add in adds)
    return {
        "numAddedFiles": len(adds),
        "numRemovedFiles": old.num_rows,
        "numAddedBytes": sum(sizes),
        "numRemovedBytes": sum(old["size"].to_pylist()),
        "numDeletionVectorsRemoved": old.num_rows - old["deletion_vector"].null_count,
        **{
            name: sizes[round(share * (len(sizes) - 1))] if sizes else 0
            for name, share in _SIZE_QUANTILES.items()
        },
    }
