"""Which files a Z-order or a clustering lays out anew, and how."""

from collections.abc import Sequence
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.actions import AddFile
from headgate.protocol.domains.lifecycle import Column as Clustered
from headgate.protocol.features import bin_packing, space_filling_curves, zcubes
from headgate.protocol.features.space_filling_curves import Curve
from headgate.protocol.features.zcubes import ZCubeFile
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema.column_path import Path, format_path, parse_path
from headgate.protocol.schema.types import leaf_columns
from headgate.protocol.stats import indexed_columns
from headgate.spark.dml import target_scan
from headgate.spark.dml.target_scan import DmlTarget
from headgate.spark.optimize import curve_sort
from headgate.spark.optimize.rewrite_files import RewriteTask


def z_order_tasks(target: DmlTarget, names: Sequence[str]) -> list[RewriteTask]:
    """All files of the target, each partition by itself, in a Z-order of these columns."""
    columns = [_column(path) for path in _check_columns(target, names)]
    partitions = bin_packing.partition_keys(
        [dict(values) for values in target.files["partition_values"].to_pylist()]
    )
    positions: dict[object, list[int]] = {}
    for position, partition in enumerate(partitions):
        positions.setdefault(partition, []).append(position)
    curve = space_filling_curves.z_order(len(columns))
    return [_task(target, some, columns, curve) for some in positions.values()]


def clustering_tasks(target: DmlTarget, clustered: tuple[Clustered, ...], *, full: bool) -> list[RewriteTask]:
    """The files that are not laid out by the columns of the table yet, along Hilbert's curve."""
    paths = target.files["path"].to_pylist()
    adds = target.adds(paths)
    members = [
        ZCubeFile(position, adds[path].size, zcubes.zcube_id(adds[path], clustered))
        for position, path in enumerate(paths)
    ]
    chosen = zcubes.files_to_recluster(
        members, bin_packing.target_file_size(target.metadata), all_of_them=full
    )
    if not chosen:
        return []
    logical = {theirs: ours for ours, theirs in _physical_paths(target).items()}
    columns = [_column(logical.get(path, path)) for path in clustered]
    tags = zcubes.zcube_tags(target.table.world.uuid(), clustered)
    work = _task(target, chosen, columns, space_filling_curves.hilbert(len(columns)))
    return [RewriteTask(work.positions, work.arrange, tags)]


def _task(
    target: DmlTarget, positions: Sequence[int], columns: Sequence[Column], curve: Curve
) -> RewriteTask:
    paths = target.files["path"].to_pylist()
    adds = target.adds(paths[position] for position in positions).values()
    size = sum(add.size for add in adds)
    files = max(1, round(size / bin_packing.target_file_size(target.metadata)))
    arrange = partial(_sort_rows, by=columns, curve=curve, files=files, total=_rows(list(adds)))
    return RewriteTask(positions, arrange)


def _sort_rows(
    rows: DataFrame, *, by: Sequence[Column], curve: Curve, files: int, total: int | None
) -> DataFrame:
    if files == 1:
        return rows.coalesce(1)
    count = rows.count() if total is None else total
    return curve_sort.sort_by_curve(rows, by, curve, files=files, total=count)


def _rows(adds: Sequence[AddFile]) -> int | None:
    known = [target_scan.live_row_count(add) for add in adds]
    return None if None in known else sum(count for count in known if count is not None)


def _check_columns(target: DmlTarget, names: Sequence[str]) -> list[Path]:
    """The columns of these names, if they are in the files with statistics to skip by."""
    partitioned = {name.lower() for name in target.metadata.partition_columns}
    stored = {
        tuple(part.lower() for part in ours): theirs for ours, theirs in _physical_paths(target).items()
    }
    with_statistics = indexed_columns.indexed_paths(target.metadata)
    found = []
    for path in map(parse_path, names):
        lower = tuple(part.lower() for part in path)
        if lower not in stored:
            raise InvalidRequest(
                f"the table has no column {format_path(path)}: correct the name",
                code="DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST",
            )
        if lower[0] in partitioned:
            raise InvalidRequest(
                f"the table is partitioned by {format_path(path)}, so its rows are together already: leave "
                "it out",
                code="DELTA_ZORDERING_ON_PARTITION_COLUMN",
            )
        if stored[lower] not in with_statistics:
            raise InvalidRequest(
                f"there are no statistics of {format_path(path)} to skip files by: cluster by others, or "
                f"have it among the columns of {property_values.STATS_COLUMNS}",
                code="DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS",
            )
        found.append(path)
    return found


def _physical_paths(target: DmlTarget) -> dict[Path, Path]:
    """For every column its path in the files."""
    schema = target.columns.schema
    mapped = column_mapping.physical_paths(schema, target.columns.mode)
    return {path: mapped.get(path, path) for path, _ in leaf_columns(schema)}


def _column(path: Path) -> Column:
    return F.col(".".join("`" + part.replace("`", "``") + "`" for part in path))
