"""The columns of a checkpoint: those of the specification, as parquet has them in a file."""

import io
import json
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headgate.protocol.actions import Metadata
from headgate.protocol.log import checkpoint_schema, log_retention
from headgate.protocol.log.checkpoint_schema import (
    NON_FILE_ACTIONS,
    REMOVE,
    V2_ONLY,
    FileColumns,
    parquet_leaves,
)
from headgate.protocol.schema.types import Primitive
from tests.support import handmade
from tests.support.commits import PROTOCOL, metadata

MAP = {"key_value.key": "text", "key_value.value": "text"}
VECTOR = {
    "storageType": "text", "pathOrInlineDv": "text", "offset": "INT32", "sizeInBytes": "INT32",
    "cardinality": "INT64",
}  # fmt: skip
BOTH = {"delta_checkpoint_writeStatsAsStruct": "true"}
ONLY_STRUCT = {**BOTH, "delta_checkpoint_writeStatsAsJson": "false"}
SHORT = {"BYTE_ARRAY String": "text", "INT32 None": "INT32", "INT64 None": "INT64"}


def under(name: str, columns: dict[str, str]) -> dict[str, str]:
    return {f"{name}.{inner}": kind for inner, kind in columns.items()}


ADD = {
    "path": "text", **under("partitionValues", MAP), "size": "INT64", "modificationTime": "INT64",
    "dataChange": "BOOLEAN None", **under("tags", MAP), **under("deletionVector", VECTOR),
    "baseRowId": "INT64", "defaultRowCommitVersion": "INT64", "clusteringProvider": "text",
}  # fmt: skip
OTHERS = {
    "remove": {
        "path": "text", "deletionTimestamp": "INT64", "dataChange": "BOOLEAN None",
        "extendedFileMetadata": "BOOLEAN None", **under("partitionValues", MAP), "size": "INT64",
        **under("deletionVector", VECTOR), "baseRowId": "INT64", "defaultRowCommitVersion": "INT64",
    },
    "txn": {"appId": "text", "version": "INT64", "lastUpdated": "INT64"},
    "metaData": {
        "id": "text", "name": "text", "description": "text", "format.provider": "text",
        **under("format.options", MAP), "schemaString": "text", "partitionColumns.list.element": "text",
        **under("configuration", MAP), "createdTime": "INT64",
    },
    "protocol": {
        "minReaderVersion": "INT32", "minWriterVersion": "INT32", "readerFeatures.list.element": "text",
        "writerFeatures.list.element": "text",
    },
    "domainMetadata": {"domain": "text", "configuration": "text", "removed": "BOOLEAN None"},
    "checkpointMetadata": {"version": "INT64", **under("tags", MAP)},
    "sidecar": {
        "path": "text", "sizeInBytes": "INT64", "modificationTime": "INT64", **under("tags", MAP),
    },
}  # fmt: skip


def stored(columns: dict[str, pa.DataType]) -> dict[str, str]:
    """The path and the type of every column of a parquet file with these."""
    buffer = io.BytesIO()
    pq.write_table(pa.schema(columns).empty_table(), buffer)
    schema = pq.ParquetFile(buffer).schema
    found = [schema.column(at) for at in range(len(schema))]
    shown = ((leaf.path, f"{leaf.physical_type} {leaf.logical_type}") for leaf in found)
    return {path: SHORT.get(kind, kind) for path, kind in shown}


def described(*columns: dict[str, Any], by: tuple[str, ...] = (), **properties: str) -> Metadata:
    schema = json.dumps(handmade.struct(*columns))
    return msgspec.structs.replace(metadata(schema=schema, **properties), partition_columns=by)


def columns_of(table: Metadata) -> FileColumns:
    return checkpoint_schema.file_columns(table, log_retention.log_settings(PROTOCOL, table))


def add_of(table: Metadata) -> dict[str, str]:
    """What an add has beyond that which all have."""
    found = stored({"add": columns_of(table).add})
    assert list(found)[: len(ADD)] == list(under("add", ADD))
    assert under("add", ADD).items() <= found.items()
    return {path.removeprefix("add."): kind for path, kind in list(found.items())[len(ADD) :]}


@pytest.mark.parametrize("name", OTHERS)
def test_actions_have_the_columns_of_the_specification(name: str) -> None:
    kinds = {"remove": REMOVE, **NON_FILE_ACTIONS, **V2_ONLY}

    assert set(kinds) == set(OTHERS)
    assert stored({name: kinds[name]}) == under(name, OTHERS[name])


def test_file_actions_are_adds_and_removes() -> None:
    columns = columns_of(described(handmade.column("n", "long")))

    assert columns.files == {"add": columns.add, "remove": REMOVE}


def test_the_leaves_that_are_told_are_those_that_parquet_has() -> None:
    inner = handmade.struct(handmade.column("x", "long"), handmade.column("list", handmade.array("long")))
    table = described(handmade.column("in", inner), handmade.column("p", "date"), by=("p",), **BOTH)
    columns = {"add": columns_of(table).add, "remove": REMOVE, **NON_FILE_ACTIONS, **V2_ONLY}

    told = [leaf for name, kind in columns.items() for leaf in parquet_leaves(name, kind)]

    assert told == list(stored(columns))


@pytest.mark.parametrize(
    ("properties", "text", "typed"), [({}, True, False), (BOTH, True, True), (ONLY_STRUCT, False, True)]
)
def test_statistics_are_in_the_form_that_the_table_wants(
    properties: dict[str, str], text: bool, typed: bool
) -> None:
    table = described(handmade.column("n", "long"), handmade.column("p", "long"), by=("p",), **properties)
    parsed = {
        "partitionValues_parsed.p": "INT64", "stats_parsed.numRecords": "INT64",
        "stats_parsed.minValues.n": "INT64", "stats_parsed.maxValues.n": "INT64",
        "stats_parsed.nullCount.n": "INT64", "stats_parsed.tightBounds": "BOOLEAN None",
    }  # fmt: skip

    assert add_of(table) == ({"stats": "text"} if text else {}) | (parsed if typed else {})


MOMENT = "Timestamp(isAdjustedToUTC={}, timeUnit=microseconds, is_from_converted_type=false, force_set_converted_type=false)"  # noqa: E501


@pytest.mark.parametrize(
    ("type_name", "kind"),
    [
        ("byte", "INT32 Int(bitWidth=8, isSigned=true)"),
        ("short", "INT32 Int(bitWidth=16, isSigned=true)"),
        ("integer", "INT32"),
        ("long", "INT64"),
        ("float", "FLOAT None"),
        ("double", "DOUBLE None"),
        ("boolean", "BOOLEAN None"),
        ("date", "INT32 Date"),
        ("timestamp", f"INT64 {MOMENT.format('true')}"),
        ("timestamp_ntz", f"INT64 {MOMENT.format('false')}"),
        ("binary", "BYTE_ARRAY None"),
        ("string", "text"),
        ("decimal(10,2)", "FIXED_LEN_BYTE_ARRAY Decimal(precision=10, scale=2)"),
        ("decimal(38,0)", "FIXED_LEN_BYTE_ARRAY Decimal(precision=38, scale=0)"),
    ],
)
def test_partition_values_and_bounds_have_the_types_of_their_columns(type_name: str, kind: str) -> None:
    table = described(
        handmade.column("a", type_name), handmade.column("P", type_name), by=("p",), **ONLY_STRUCT
    )
    ends = {} if type_name in ("binary", "boolean") else {"minValues.a": kind, "maxValues.a": kind}
    statistics = {"numRecords": "INT64", **ends, "nullCount.a": "INT64", "tightBounds": "BOOLEAN None"}

    assert add_of(table) == {"partitionValues_parsed.P": kind, **under("stats_parsed", statistics)}


def test_of_columns_in_structs_each_has_statistics_of_its_own() -> None:
    deep = handmade.struct(handmade.column("y", "long"), handmade.column("gone", "void"))
    inner = handmade.struct(
        handmade.column("x", "double"), handmade.column("p", "long"), handmade.column("deep", deep)
    )
    table = described(
        handmade.column("in", inner), handmade.column("void", "void"), handmade.column("p", "long"),
        handmade.column("list", handmade.array("long")), handmade.column("last", "string"),
        by=("p",), **ONLY_STRUCT,
    )  # fmt: skip
    ends = {"in.x": "DOUBLE None", "in.p": "INT64", "in.deep.y": "INT64", "last": "text"}
    counts = dict.fromkeys(("in.x", "in.p", "in.deep.y", "list", "last"), "INT64")

    assert add_of(table) == {
        "partitionValues_parsed.p": "INT64",
        "stats_parsed.numRecords": "INT64",
        **under("stats_parsed.minValues", ends),
        **under("stats_parsed.maxValues", ends),
        **under("stats_parsed.nullCount", counts),
        "stats_parsed.tightBounds": "BOOLEAN None",
    }


@pytest.mark.parametrize(
    ("columns", "by", "parsed"),
    [
        ([handmade.column("p", "long")], ("p",), {"partitionValues_parsed.p": "INT64"}),
        ([handmade.column("b", "binary")], (), {"stats_parsed.nullCount.b": "INT64"}),
    ],
)
def test_no_struct_is_left_without_fields(
    columns: list[dict[str, Any]], by: tuple[str, ...], parsed: dict[str, str]
) -> None:
    always = {"stats_parsed.numRecords": "INT64", "stats_parsed.tightBounds": "BOOLEAN None"}

    assert add_of(described(*columns, by=by, **ONLY_STRUCT)) == {**always, **parsed}


def test_mapped_columns_are_under_their_names_in_the_files() -> None:
    inner = handmade.struct(handmade.mapped("x", "long", 2, "col-2"))
    table = described(
        handmade.mapped("in", inner, 1, "col-1"), handmade.mapped("p", "date", 3, "col-3"),
        by=("p",), delta_columnMapping_mode="name", **ONLY_STRUCT,
    )  # fmt: skip

    found = columns_of(table)

    assert found.partitions == (("col-3", Primitive("date")),)
    assert found.leaves == found.bounded == ((("col-1", "col-2"), Primitive("long")),)
