"""How Spark is handed a list of files through public calls only.

It reads the list as the manifest that its own streaming sink leaves behind (``_spark_metadata``),
so nothing is listed and no Python touches a row.
"""

import tempfile
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from headgate.errors import InvalidRequest
from headgate.spark.plan import Piece

_IGNORE = "spark.sql.streaming.fileStreamSink.ignoreMetadata"
_OPTIONS = {
    # Else Spark would infer partition columns from folder names.
    "recursiveFileLookup": "true",
    # The session may have these on, and rows would be lost without a word.
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
    "mergeSchema": "false",
}


def scan(spark: SparkSession, wanted: StructType, piece: Piece) -> DataFrame:
    """The rows of a piece's files as they are stored; ``file_modification_time`` tells files apart."""
    if spark.conf.get(_IGNORE, "false") == "true":
        raise InvalidRequest(
            f"the session has {_IGNORE}=true, with which Spark would see an empty table: "
            f"unset it, spark.conf.unset({_IGNORE!r})"
        )
    with tempfile.TemporaryDirectory(prefix="headgate-scan-") as folder:
        _write(Path(folder), piece)
        # Spark reads the manifest once, on the driver, before this returns.
        return spark.read.schema(wanted).options(**_OPTIONS).parquet(f"file:{folder}")


def _write(folder: Path, piece: Piece) -> None:
    times = range(len(piece.uris)) if piece.needs_ordinals else piece.modified_ms
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
        for uri, size, time in zip(piece.uris, piece.sizes, times, strict=True)
    )
    manifest = folder / "_spark_metadata" / "0"
    manifest.parent.mkdir()
    manifest.write_bytes(b"\n".join((b"v1", *lines)))
