"""How Spark is handed a list of files through public calls only.

It reads the list as the manifest that its own streaming sink leaves behind (``_spark_metadata``),
so nothing is listed and no Python touches a row. A classic session reads it once, before ``scan``
returns. A Spark Connect server reads it again whenever a query runs, so there it stays as long as
any DataFrame made from the scan; ``connect_scratch`` says where.

``_spark_metadata/0`` for two files of a partitioned table:

    v1
    {"path":"file:///t/a.parquet","size":10,"isDir":false,"modificationTime":1767225600122,…,"action":"add"}
    {"path":"file:///t/b.parquet","size":20,"isDir":false,"modificationTime":1767225600125,…,"action":"add"}

The first was modified at …123: its time is moved to …122, so that modulo two files it is 0, and that of the
second is 1. By that remainder rows are told apart.
"""

import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from headgate.errors import InvalidRequest, StorageError, UnsupportedFeature
from headgate.protocol import property_values
from headgate.spark.parquet import parquet_options
from headgate.spark.scan import connect_scratch, scan_marks
from headgate.spark.scan.connect_scratch import ScratchFolder
from headgate.spark.scan.scan_marks import ScanMark
from headgate.spark.scan.scan_plan import Piece
from headgate.spark.session import kind, vended_access

_IGNORE = "spark.sql.streaming.fileStreamSink.ignoreMetadata"
_MANIFEST = "_spark_metadata/0"
# Spark reads it only if it lists the folder instead of reading the manifest, and it is no parquet file:
# then the query fails, where it would have found no rows.
_DECOY = "the-manifest-was-ignored.parquet"
_OPTIONS = {
    # Else Spark would infer partition columns from folder names.
    "recursiveFileLookup": "true",
    **parquet_options.READ_OPTIONS,
}
_YEAR_10000_MS = 253_402_300_800_000


def scan(spark: SparkSession, wanted: StructType, piece: Piece) -> DataFrame:
    """The rows of a piece's files as they are stored; ``ordinal`` tells files apart."""
    _check_visible(piece.uris)
    if property_values.is_true(spark.conf.get(_IGNORE, "false")):
        raise InvalidRequest(
            f"the session has {_IGNORE}=true, with which Spark would see an empty table: "
            f"unset it, spark.conf.unset({_IGNORE!r})"
        )
    if kind.is_connect(spark):
        return _scan_by_server(spark, wanted, piece)
    if piece.mark is not None:
        scan_marks.retain_mark(piece.mark)
    with tempfile.TemporaryDirectory(prefix=connect_scratch.prefix(piece.mark)) as folder:
        manifest = Path(folder) / _MANIFEST
        manifest.parent.mkdir()
        manifest.write_bytes(_render(piece))
        return _read(spark, wanted, piece.location, f"file:{folder}")


def _check_visible(uris: pa.StringArray) -> None:
    """Refuse what Spark takes for none of a sink's files, whatever the manifest says."""
    hidden = uris.filter(pc.match_substring_regex(uris, "/[._][^/]*$"))
    if len(hidden):
        raise UnsupportedFeature(
            f"the data file {hidden[0]} has a name that starts with '.' or '_', and Spark would skip it "
            "silently here: read the table with a session whose driver is in this process, by the classic "
            "binder, or have its writer rewrite it, OPTIMIZE for example",
            features=("hiddenDataFiles",), operation="read",
        )  # fmt: skip


def ordinal(rows: DataFrame, piece: Piece) -> Column:
    """Which of the files of a piece that needs ordinals a row of its scan is from."""
    modified = rows.metadataColumn("_metadata").getField("file_modification_time")
    return F.pmod(F.unix_millis(modified), F.lit(max(1, len(piece.uris))))


def _scan_by_server(spark: SparkSession, wanted: StructType, piece: Piece) -> DataFrame:
    files = {_DECOY: _DECOY.encode(), _MANIFEST: _render(piece)}
    refusals = []
    for root in connect_scratch.roots(spark, piece.location):
        try:
            placed = connect_scratch.put(root, files, piece.mark)
        except StorageError as exc:
            refusals.append(f"in {root} it cannot be put ({exc})")
            continue
        df = _read(spark, wanted, piece.location, placed.path)
        # Every DataFrame made from this one holds its plan, though not the DataFrame.
        weakref.finalize(df._plan, _remove_scratch, placed, piece.mark)
        if _server_finds_manifest(df):
            return df
        refusals.append(f"in {root} the server does not find it")
    raise InvalidRequest(
        f"the Spark Connect server must be shown which files of {piece.location} to read, and that list has "
        f"no place: {'; '.join(refusals)}. If the server can read the table, set {connect_scratch.SETTING} "
        "to a folder or bucket that this side can write and the server can read"
    )


def _remove_scratch(placed: ScratchFolder, _mark: ScanMark | None) -> None:
    """Until here the mark was known."""
    placed.remove()


def _server_finds_manifest(df: DataFrame) -> bool:
    """Whether the server finds the manifest; it looks when it is asked for the schema."""
    try:
        return bool(df.schema is not None)
    except AnalysisException as exc:
        if exc.getCondition() != "PATH_NOT_FOUND":
            raise
        return False


def _read(spark: SparkSession, wanted: StructType, location: str, folder: str) -> DataFrame:
    options = {**_OPTIONS, **vended_access.access_options(location)}
    return spark.read.schema(wanted).options(**options).parquet(folder)


def _render(piece: Piece) -> bytes:
    times: Sequence[int] = piece.modified_ms.to_pylist()
    if piece.needs_ordinals:
        times = _distinct_times(times)
    entry = msgspec.json.Encoder().encode
    lines = (
        entry(
            {
                "path": uri,
                "size": size,
                "isDir": False,
                "modificationTime": time,
                "blockReplication": 1,
                "blockSize": 128 * 1024 * 1024,
                "action": "add",
            }
        )
        for uri, size, time in zip(piece.uris.to_pylist(), piece.sizes.to_pylist(), times, strict=True)
    )
    return b"\n".join((b"v1", *lines))


def _distinct_times(modified_ms: Sequence[int]) -> list[int]:
    """When files were modified, each moved by fewer milliseconds than there are files.

    The remainder is a file's ordinal: Spark hands nothing else of a file to its rows that it could spare,
    and what ``_metadata`` says of the time stays true to within that. A time that Spark could not hand on
    as it is would give rows to another file.
    """
    count = len(modified_ms)
    return [
        (ms - ms % count if 0 <= ms < _YEAR_10000_MS else 0) + number for number, ms in enumerate(modified_ms)
    ]
