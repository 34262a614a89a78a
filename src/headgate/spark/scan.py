"""A snapshot as a DataFrame whose plan is Spark's own parquet scan.

A ScanPlan says on paper what to read; a binder makes Spark read exactly that. The one here uses
public calls only: it hands Spark the file list as the manifest that Spark's streaming sink
leaves behind (``_spark_metadata``), so nothing is listed and no Python touches a row.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StructType

from headgate.errors import InvalidRequest, UnsupportedFeature
from headgate.protocol import partitions
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import DataType, Struct
from headgate.spark import paths
from headgate.spark import schema as spark_schema
from headgate.table.snapshot import Snapshot

_IGNORE_MANIFEST = "spark.sql.streaming.fileStreamSink.ignoreMetadata"
_OPTIONS = {
    # Else Spark would infer partition columns from folder names.
    "recursiveFileLookup": "true",
    # The session may have these on, and rows would be lost without a word.
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
    "mergeSchema": "false",
}


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """Which files to read, and what every row of a file has in common."""

    schema: Struct
    uris: Sequence[str]
    sizes: Sequence[int]
    modified_ms: Sequence[int]
    constants: Mapping[str, Sequence[str | None]]
    """For each partition column its value in each file, as text that casts to its type."""


def read(spark: SparkSession, location: str, snapshot: Snapshot) -> DataFrame:
    """The rows of a snapshot: the table's columns in its order, all nullable as Spark's files are."""
    return bind(spark, plan(location, snapshot))


def plan(location: str, snapshot: Snapshot) -> ScanPlan:
    """What reading ``snapshot`` takes."""
    metadata, files = snapshot.state.metadata, snapshot.files.columns
    if files["deletion_vector"].null_count < files.num_rows:
        raise UnsupportedFeature(
            "files of the table have deletion vectors, which this version of Headgate cannot read",
            features=("deletionVectors",), operation="read",
        )  # fmt: skip
    schema = schema_json.parse(metadata.schema_string)
    uris = paths.file_uris(location, files["path"].to_pylist())
    _check_visible(uris)
    return ScanPlan(
        schema=schema,
        uris=uris,
        sizes=files["size"].to_pylist(),
        modified_ms=files["modified_ms"].to_pylist(),
        constants={
            field.name: _constants(files["partition_values"], field.name, field.type)
            for field in schema.fields
            if field.name in metadata.partition_columns
        },
    )


def bind(spark: SparkSession, scan: ScanPlan) -> DataFrame:
    """The DataFrame that reads ``scan``, by way of a manifest."""
    if spark.conf.get(_IGNORE_MANIFEST, "false") == "true":
        raise InvalidRequest(
            f"the session has {_IGNORE_MANIFEST}=true, with which Spark would see an empty table: "
            f"unset it, spark.conf.unset({_IGNORE_MANIFEST!r})"
        )
    whole = spark_schema.to_spark(scan.schema)
    stored = StructType([field for field in whole.fields if field.name not in scan.constants])
    with tempfile.TemporaryDirectory(prefix="headgate-scan-") as folder:
        _write_manifest(Path(folder), scan)
        # Spark reads the manifest once, on the driver, before this returns.
        rows = spark.read.schema(stored).options(**_OPTIONS).parquet(f"file:{folder}")
    if not scan.constants:
        return rows
    # With constants to look up, a file's ordinal is handed over as its modification time.
    ordinal = F.unix_millis(rows.metadataColumn("_metadata").getField("file_modification_time")).cast("int")
    return rows.select(
        *(
            _lookup(scan.constants[field.name], ordinal, ArrayType(field.dataType)).alias(
                field.name, metadata=field.metadata
            )
            if field.name in scan.constants
            else spark_schema.column(field.name)
            for field in whole.fields
        )
    )


def _check_visible(uris: Sequence[str]) -> None:
    hidden = next((uri for uri in uris if uri[uri.rfind("/") + 1] in "._"), None)
    if hidden is not None:
        raise UnsupportedFeature(
            f"the data file {hidden} has a name that starts with '.' or '_', and Spark would skip it "
            "silently: have its writer rewrite the table, OPTIMIZE for example",
            features=("hiddenDataFiles",), operation="read",
        )  # fmt: skip


def _constants(values: pa.ChunkedArray, column: str, data_type: DataType) -> Sequence[str | None]:
    found = pc.map_lookup(values, pa.scalar(column), "first").combine_chunks().dictionary_encode()
    texts = [partitions.canonical(text, data_type) for text in found.dictionary.to_pylist()]
    return [None if index is None else texts[index] for index in found.indices.to_pylist()]


def _write_manifest(folder: Path, scan: ScanPlan) -> None:
    times = range(len(scan.uris)) if scan.constants else scan.modified_ms
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
        for uri, size, time in zip(scan.uris, scan.sizes, times, strict=True)
    )
    manifest = folder / "_spark_metadata" / "0"
    manifest.parent.mkdir()
    manifest.write_bytes(b"\n".join((b"v1", *lines)))


def _lookup(values: Sequence[str | None], ordinal: Column, array: ArrayType) -> Column:
    """The file's value out of a literal array, which Spark folds and prunes files with."""
    texts = F.from_json(F.lit(msgspec.json.encode(values).decode()), "array<string>")
    return F.get(texts.cast(array), ordinal)
