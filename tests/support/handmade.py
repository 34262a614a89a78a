"""Tables of any shape, made by hand: data files by pyarrow, a log of one version."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from headgate.protocol.actions import AddFile, DeletionVector, EpochMillis

_ID, _PHYSICAL = "delta.columnMapping.id", "delta.columnMapping.physicalName"


def column(name: str, data_type: Any, **metadata: Any) -> dict[str, Any]:
    """A nullable column of a schema; underscores in the names of its metadata stand for dots."""
    keys = {key.replace("_", "."): value for key, value in metadata.items()}
    return {"name": name, "type": data_type, "nullable": True, "metadata": keys}


def mapped(name: str, data_type: Any, number: int, physical: str) -> dict[str, Any]:
    """A column with an id and a physical name."""
    return {**column(name, data_type), "metadata": {_ID: number, _PHYSICAL: physical}}


def struct(*columns: Mapping[str, Any]) -> dict[str, Any]:
    """A struct of columns, as the log has it."""
    return {"type": "struct", "fields": list(columns)}


def array(element: Any) -> dict[str, Any]:
    """An array, as the log has it."""
    return {"type": "array", "elementType": element, "containsNull": True}


def map_of(key: Any, value: Any) -> dict[str, Any]:
    """A map, as the log has it."""
    return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}


def field(name: str, data_type: pa.DataType, number: int) -> pa.Field:
    """A column of a data file, with its id."""
    return pa.field(name, data_type, metadata={"PARQUET:field_id": str(number)})


def data_file(
    location: Path,
    name: str,
    rows: pa.Table,
    *,
    group: int | None = None,
    vector: DeletionVector | None = None,
    **rest: Any,
) -> AddFile:
    """A data file with these rows, and its add action."""
    path = location / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path, row_group_size=group)
    defaults = {"partition_values": {}, "modification_time": EpochMillis(1), "data_change": True}
    return AddFile(path=name, size=path.stat().st_size, deletion_vector=vector, **{**defaults, **rest})


def write_log(
    location: Path,
    columns: Sequence[Mapping[str, Any]],
    adds: Sequence[AddFile],
    *,
    features: Sequence[str] = (),
    writers: Sequence[str] = (),
    partitioned_by: Sequence[str] = (),
    **configuration: str,
) -> None:
    """Version 0 of a table; underscores in the names of its properties stand for dots.

    Readers and writers must know the ``features``, the ``writers`` those too that are only theirs.
    """
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": list(features),
        "writerFeatures": [*features, *writers],
    }
    metadata = {
        "id": "00000000-0000-4000-8000-000000000000",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": msgspec.json.encode(struct(*columns)).decode(),
        "partitionColumns": list(partitioned_by),
        "configuration": {key.replace("_", "."): value for key, value in configuration.items()},
    }
    lines: list[Mapping[str, Any]] = [{"protocol": protocol}, {"metaData": metadata}]
    lines += [{"add": add} for add in adds]
    log = location / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020d}.json").write_bytes(b"\n".join(map(msgspec.json.encode, lines)) + b"\n")
