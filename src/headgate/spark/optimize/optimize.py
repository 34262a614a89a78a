"""OPTIMIZE and REORG: the same rows in fewer files, in a better order, or without those that are deleted."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec
from pyspark.sql import Column, SparkSession

from headgate.catalog.ports.maintenance import Maintenance, Permission
from headgate.errors import InvalidRequest
from headgate.protocol.domains import lifecycle
from headgate.protocol.domains.rules import NO_DOMAINS, DomainSettings
from headgate.protocol.features import bin_packing, clustering, rearrangement
from headgate.protocol.features.bin_packing import PackableFile
from headgate.protocol.predicates import tree
from headgate.protocol.predicates.tree import Always, And, Opaque, Or, Predicate
from headgate.spark.calls import errors
from headgate.spark.dml import dml_metrics, target_scan
from headgate.spark.dml.dml_metrics import OperationResult
from headgate.spark.dml.target_scan import DmlTarget
from headgate.spark.optimize import rewrite_files, zorder_clustering
from headgate.spark.optimize.rewrite_files import RewriteTask
from headgate.spark.predicates import from_column
from headgate.spark.scan import scan
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Operation


@errors.translated_errors(errors.unreadable_file)
def optimize(
    spark: SparkSession,
    table: OpenedTable,
    where: Column | str | None = None,
    *,
    z_order_by: Sequence[str] = (),
    full: bool = False,
    domains: DomainSettings = NO_DOMAINS,
) -> OperationResult:
    """Put small files together, of the partitions that ``where`` selects.

    With ``z_order_by`` all their rows are laid out anew, so that those with values alike in these columns
    are together. A clustered table is laid out so by the columns it is clustered by, as far as it is
    not yet, or with ``full`` altogether.
    """
    target, permission = _target(spark, table, where, "OPTIMIZE")
    clustered = lifecycle.clustering_columns(target.base.state.domains)
    if clustered:
        _check_clustered(where, z_order_by)
        work = zorder_clustering.clustering_tasks(target, clustered, full=full)
    elif full:
        raise InvalidRequest(
            "full lays a clustered table out anew, and this one is not clustered: leave it out, or say by "
            "which columns with cluster_by",
            code="DELTA_OPTIMIZE_FULL_NOT_SUPPORTED",
        )
    elif z_order_by:
        work = zorder_clustering.z_order_tasks(target, z_order_by)
    else:
        small = bin_packing.pack_files(_bin_pack(target), bin_packing.target_file_size(target.metadata))
        work = [RewriteTask(positions, rewrite_files.coalesce_to_one) for positions in small]
    parameters = {
        "predicate": dml_metrics.predicate_parameter(where),
        "zOrderBy": _json(list(z_order_by)),
        "clusterBy": _json(clustering.logical_names(clustered, target.metadata)),
        "auto": "false",
    }
    done = rewrite_files.rewrite_and_commit(target, work, Operation("OPTIMIZE", parameters), domains)
    return replace(done, permission=permission)


@errors.translated_errors(errors.unreadable_file)
def purge(
    spark: SparkSession,
    table: OpenedTable,
    where: Column | str | None = None,
    domains: DomainSettings = NO_DOMAINS,
) -> OperationResult:
    """Rewrite every file that has deleted rows, so that they are gone from it."""
    target, permission = _target(spark, table, where, "REORG")
    vectors = target.files["deletion_vector"].to_pylist()
    work = [
        RewriteTask([position], rewrite_files.coalesce_to_one)
        for position, vector in enumerate(vectors)
        if vector is not None
    ]
    parameters = {"predicate": dml_metrics.predicate_parameter(where), "applyPurge": "true"}
    done = rewrite_files.rewrite_and_commit(target, work, Operation("REORG", parameters), domains)
    return replace(done, permission=permission)


def _target(
    spark: SparkSession, table: OpenedTable, where: Column | str | None, operation: str
) -> tuple[DmlTarget, Permission]:
    permitted = table.check_permitted(Maintenance.DATA_REORGANISATION, operation)
    base = permitted.snapshot
    schema = scan.scan_columns(base.state.metadata).schema
    wanted = Always() if where is None else from_column.to_predicate(where, schema, spark)
    _check_partition_columns_only(wanted, base.state.metadata.partition_columns, operation)
    return target_scan.find_target(spark, table, base, wanted), permitted.permission


def _check_clustered(where: Column | str | None, z_order_by: Sequence[str]) -> None:
    if where is not None or z_order_by:
        raise InvalidRequest(
            "a clustered table is laid out as a whole, by the columns it is clustered by: leave out the "
            "condition and z_order_by",
            code="DELTA_CLUSTERING_WITH_ZORDER_BY"
            if z_order_by
            else "DELTA_CLUSTERING_WITH_PARTITION_PREDICATE",
        )


def _check_partition_columns_only(wanted: Predicate, partitioned: Sequence[str], operation: str) -> None:
    names = {name.lower() for name in partitioned}
    others = any(column.path[0].lower() not in names for column in tree.referenced_columns(wanted))
    if others or _has_unknown(wanted):
        raise InvalidRequest(
            f"{operation} takes whole partitions, so its condition may only compare "
            f"{', '.join(partitioned) or 'partition columns, of which this table has none,'} with constants: "
            "leave the condition out, or compare those",
            code="DELTA_NON_PARTITION_COLUMN_REFERENCE" if others else "DELTA_UNSUPPORTED_WHERE_CLAUSE",
        )


def _has_unknown(predicate: Predicate) -> bool:
    match predicate:
        case Opaque():
            return True
        case And(parts) | Or(parts):
            return any(map(_has_unknown, parts))
        case _:
            return False


def _bin_pack(target: DmlTarget) -> Iterator[PackableFile]:
    live = target.files
    paths = live["path"].to_pylist()
    partitions = bin_packing.partition_keys([dict(values) for values in live["partition_values"].to_pylist()])
    vectors = zip(paths, live["deletion_vector"].to_pylist(), strict=True)
    with_vectors = target.adds(path for path, vector in vectors if vector is not None)
    shares = {path: rearrangement.deleted_share(add) for path, add in with_vectors.items()}
    rows = zip(paths, live["size"].to_pylist(), partitions, strict=True)
    for position, (path, size, partition) in enumerate(rows):
        yield PackableFile(position, size, partition, shares.get(path, 0.0))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
