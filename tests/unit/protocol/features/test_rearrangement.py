"""When a table is worth laying out anew: decided on paper, from what the log says of its files."""

from collections.abc import Mapping

import pyarrow as pa
import pytest

from headgate.errors import InvalidRequest
from headgate.protocol.actions import AddFile, DeletionVector, EpochMillis, Format, Metadata
from headgate.protocol.features import rearrangement, zcubes
from headgate.protocol.features.rearrangement import (
    CLUSTER,
    LAYOUT_TASKS,
    OPTIMIZE,
    PURGE,
    LayoutTask,
    TableLayout,
    Thresholds,
)
from headgate.table.read.live_files import adds_as_table

TARGET = 1_000
METADATA = Metadata(
    id="1",
    format=Format(provider="parquet", options={}),
    schema_string='{"type":"struct","fields":[]}',
    partition_columns=(),
    configuration={"delta.targetFileSize": str(TARGET)},
)
BY_ID = (("id",),)


def a_file(
    name: str,
    size: int,
    *,
    deleted: int = 0,
    rows: int | None = 10,
    values: Mapping[str, str | None] | None = None,
    cube: str | None = None,
    by: tuple[tuple[str, ...], ...] = BY_ID,
) -> AddFile:
    vector = DeletionVector(storage_type="i", path_or_inline_dv="x", size_in_bytes=1, cardinality=deleted)
    return AddFile(
        path=name,
        partition_values=values or {},
        size=size,
        modification_time=EpochMillis(1),
        data_change=True,
        stats=None if rows is None else f'{{"numRecords":{rows}}}',
        deletion_vector=vector if deleted else None,
        tags=None if cube is None else dict(zcubes.zcube_tags(cube, by)),
        clustering_provider=None if cube is None else zcubes.CLUSTERING_PROVIDER,
    )


def laid_out(*files: AddFile, clustered: bool = False) -> TableLayout:
    live: pa.Table = adds_as_table(files)
    known = {file.path: file for file in files}
    return rearrangement.measure_layout(
        live, METADATA, BY_ID if clustered else (), lambda paths: {path: known[path] for path in paths}
    )


def due(order: LayoutTask, found: TableLayout, **thresholds: float | None) -> str | None:
    return rearrangement.due_reason(order, found, Thresholds(**thresholds))  # type: ignore[arg-type]


def test_small_files_count_if_they_can_be_put_together() -> None:
    small = [a_file(f"s{number}", 10) for number in range(5)]
    large = [a_file(f"l{number}", TARGET) for number in range(9)]
    half = [a_file(f"h{number}", TARGET * 6 // 10) for number in range(9)]

    assert due(OPTIMIZE, laid_out(*small, *large), small_files=5) == "5 small files"
    assert due(OPTIMIZE, laid_out(*small, *large), small_files=6) is None
    assert due(OPTIMIZE, laid_out(*half), small_files=2) is None  # no two of them make one


def test_fifty_small_files_are_reason_enough() -> None:
    small = [a_file(f"s{number}", 10) for number in range(50)]

    assert due(OPTIMIZE, laid_out(*small)) == "50 small files"
    assert due(OPTIMIZE, laid_out(*small[1:])) is None


def test_a_file_that_only_has_rows_to_be_rid_of_is_not_put_together() -> None:
    found = laid_out(a_file("a", 10, deleted=9), a_file("b", TARGET))

    assert OPTIMIZE.measure(found) == 0


@pytest.mark.parametrize("thresholds", [Thresholds(2, None, 1.0), Thresholds(None, 1.0, None), Thresholds()])
def test_thresholds_that_can_be_met_are_taken(thresholds: Thresholds) -> None:
    rearrangement.check_thresholds(thresholds)


@pytest.mark.parametrize(
    "thresholds",
    [Thresholds(1), Thresholds(0), Thresholds(unclustered_share=0.0), Thresholds(deleted_share=1.1)],
)
def test_thresholds_that_are_always_met_or_never_are_refused(thresholds: Thresholds) -> None:
    with pytest.raises(InvalidRequest, match="or None for never"):
        rearrangement.check_thresholds(thresholds)


def test_the_kinds_of_work_are_tried_in_this_order() -> None:
    assert LAYOUT_TASKS == (OPTIMIZE, CLUSTER, PURGE)


def test_files_of_different_partitions_are_not_put_together() -> None:
    apart = [a_file(str(number), 10, values={"p": str(number)}) for number in range(8)]
    pairs = [a_file(str(number), 10, values={"p": str(number // 2)}) for number in range(8)]

    assert due(OPTIMIZE, laid_out(*apart), small_files=2) is None
    assert due(OPTIMIZE, laid_out(*pairs), small_files=8) == "8 small files"


def test_a_clustered_table_is_not_put_together_but_clustered() -> None:
    new = [a_file(f"n{number}", 100) for number in range(3)]
    cube = [a_file(f"c{number}", 100, cube="a") for number in range(7)]
    other = [a_file(f"o{number}", 100, cube="b", by=(("other",),)) for number in range(10)]

    found = laid_out(*new, *cube, clustered=True)
    assert OPTIMIZE.measure(found) == 0
    assert due(CLUSTER, found, unclustered_share=0.3) == "30% of the table is not clustered"
    assert due(CLUSTER, found, unclustered_share=0.31) is None
    by_other_columns = laid_out(*cube, *other, *new, clustered=True)
    assert due(CLUSTER, by_other_columns, unclustered_share=0.6) == "65% of the table is not clustered"


def test_what_clustering_would_leave_alone_is_not_due() -> None:
    assert due(CLUSTER, laid_out(a_file("only", 10), clustered=True), unclustered_share=0.1) is None
    assert due(CLUSTER, laid_out(a_file("in", 10, cube="a"), clustered=True), unclustered_share=0.1) is None
    assert due(CLUSTER, laid_out(a_file("a", 10), a_file("b", 10)), unclustered_share=0.1) is None
    assert CLUSTER.measure(laid_out(a_file("only", 10), clustered=True)) == 0


@pytest.mark.parametrize(("sizes", "share"), [((10, 10), 1.0), ((1, 0), 1.0), ((0, 0), 0.0)])
def test_two_files_are_enough_to_be_clustered(sizes: tuple[int, int], share: float) -> None:
    found = laid_out(a_file("a", sizes[0]), a_file("b", sizes[1]), clustered=True)

    assert CLUSTER.measure(found) == share


def test_files_that_the_log_does_not_tell_of_are_not_clustered() -> None:
    live = adds_as_table([a_file("a", 10, cube="c"), a_file("b", 10, cube="c")])

    assert CLUSTER.measure(rearrangement.measure_layout(live, METADATA, BY_ID, lambda _: {})) == 1.0


def test_deleted_rows_count_by_the_bytes_of_their_files() -> None:
    found = laid_out(a_file("large", 900, deleted=1), a_file("small", 100, deleted=9))

    assert due(PURGE, found, deleted_share=0.18) == "18% of the table is deleted rows"
    assert due(PURGE, found, deleted_share=0.19) is None
    unknown = laid_out(a_file("large", 900), a_file("small", 100, deleted=1, rows=None))
    assert due(PURGE, unknown, deleted_share=0.1) == "10% of the table is deleted rows"
    assert due(PURGE, laid_out(a_file("large", 900)), deleted_share=0.01) is None
    clustered = laid_out(a_file("large", 900), a_file("small", 100, deleted=9), clustered=True)
    assert PURGE.measure(clustered) == pytest.approx(0.09)


@pytest.mark.parametrize(("rows", "size"), [(1, 100), (0, 100), (1, 1)])
def test_all_rows_of_a_file_may_be_deleted(rows: int, size: int) -> None:
    assert PURGE.measure(laid_out(a_file("a", size, deleted=1, rows=rows))) == 1.0


@pytest.mark.parametrize("order", LAYOUT_TASKS, ids=lambda order: order.name)
def test_never_means_never_and_an_empty_table_needs_nothing(order: LayoutTask) -> None:
    full = laid_out(a_file("a", 10, deleted=9), a_file("b", 10, deleted=9), clustered=order is CLUSTER)

    assert due(order, full, **{order.threshold: None}) is None
    assert due(order, laid_out(clustered=order is CLUSTER)) is None


def test_only_what_is_needed_of_the_log_is_asked_for() -> None:
    asked: list[frozenset[str]] = []

    def adds(paths: frozenset[str]) -> Mapping[str, AddFile]:
        asked.append(paths)
        return {}

    rearrangement.measure_layout(adds_as_table([a_file("a", 10), a_file("b", 10)]), METADATA, (), adds)
    assert asked == []
    rearrangement.measure_layout(
        adds_as_table([a_file("a", 10), a_file("b", 10, deleted=1)]), METADATA, (), adds
    )
    assert asked == [frozenset({"b"})]
