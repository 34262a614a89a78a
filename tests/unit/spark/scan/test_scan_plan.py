"""Which files one scan reads."""

from headgate.protocol.actions import AddFile, EpochMillis
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.spark.parquet.file_layouts import ScanColumns
from headgate.spark.scan import scan_plan
from headgate.table.read.live_files import adds_as_table

COLUMNS = ScanColumns(Struct((Field("id", Primitive("long")),)), frozenset(), ColumnMappingMode.NONE, ())
VECTOR = deletion_vectors.encode_inline(DeletedRows.from_rows([1]))


def add(name: str, size: int, *, deleted: bool) -> AddFile:
    return AddFile(
        path=name,
        partition_values={},
        size=size,
        modification_time=EpochMillis(1),
        data_change=True,
        deletion_vector=VECTOR if deleted else None,
    )


def scanned(*adds: AddFile, together: bool) -> list[list[str]]:
    found = scan_plan.build("/t", COLUMNS, adds_as_table(adds), together=together)
    for piece in found.pieces:
        assert len(piece.vectors) in (0, len(piece.uris))
    return [[uri[-1] for uri in piece.uris.to_pylist()] for piece in found.pieces]


def test_files_with_deleted_rows_are_read_with_the_others_if_they_are_most_of_what_is_read() -> None:
    most = (add("a", 50, deleted=True), add("b", 20, deleted=False), add("c", 30, deleted=False))
    few = (add("a", 49, deleted=True), add("b", 20, deleted=False), add("c", 30, deleted=False))

    assert scanned(*most, together=True) == [["a", "b", "c"]]
    assert scanned(*few, together=True) == [["b", "c"], ["a"]]
    assert scanned(*most, together=False) == [["b", "c"], ["a"]]


def test_which_file_a_vector_is_of_stays_known() -> None:
    files = (add("a", 1, deleted=False), add("b", 9, deleted=True), add("c", 1, deleted=False))

    (piece,) = scan_plan.build("/t", COLUMNS, adds_as_table(files), together=True).pieces

    assert [vector is not None for vector in piece.vectors] == [False, True, False]


def test_files_of_one_kind_are_one_scan_and_no_files_are_too() -> None:
    for deleted in (True, False):
        for together in (True, False):
            assert scanned(add("a", 1, deleted=deleted), add("b", 0, deleted=deleted), together=together) == [
                ["a", "b"]
            ]
    assert scanned(together=True) == scanned(together=False) == [[]]
