"""What does a checkpoint say of its live files? The fields of its adds as the columns that we have.

    add: {path, partitionValues, size, deletionVector: {storageType, …}, …}, null in rows of other actions

becomes a table of ``live_files.SCHEMA``, a row for each add, with ``stats_parsed`` behind if it is there.
"""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from headgate.table.read.live_files import SCHEMA, STATS_PARSED

_PLAIN = {
    "path": "path",
    "partitionValues": "partition_values",
    "size": "size",
    "modificationTime": "modified_ms",
    "stats": "stats",
    "baseRowId": "base_row_id",
    "defaultRowCommitVersion": "default_row_commit_version",
}
STATISTICS_FIELDS = ("stats", STATS_PARSED)
"""The fields of an add that are most of a checkpoint."""
OTHER_FIELDS = tuple(name for name in (*_PLAIN, "deletionVector") if name != "stats")
"""All others that we have a column for; the first is one that no add is without."""
_OFFSET = "offset"
"""Of a deletion vector, the one field that it may be without."""
_VECTOR_FIELDS = ("storageType", "pathOrInlineDv", _OFFSET, "sizeInBytes", "cardinality")


def concat_adds(tables: Iterable[pa.Table]) -> pa.Table:
    """All adds in one table."""
    return pa.concat_tables([SCHEMA.empty_table(), *tables], promote_options="default")


def present_adds(add: pa.StructArray, required: str) -> pa.StructArray:
    """The rows that are adds; a slice if these are together, because that copies nothing."""
    valid = pc.is_valid(pc.struct_field(add, required))
    first = pc.index(valid, pa.scalar(value=True, type=pa.bool_())).as_py()
    together = add.slice(max(0, first), valid.true_count)
    if pc.struct_field(together, required).null_count == 0:
        return together
    return add.filter(valid)


def statistics_table(add: pa.StructArray) -> pa.Table:
    """The statistics of adds: as JSON, null where there is none, and as columns if there are such."""
    present = {field.name: pc.struct_field(add, field.name) for field in add.type}
    texts = present["stats"].cast(pa.string()) if "stats" in present else pa.nulls(len(add), pa.string())
    texts.validate(full=True)
    parsed = {STATS_PARSED: present[STATS_PARSED]} if STATS_PARSED in present else {}
    return pa.table({"stats": texts, **parsed})


def flatten_adds(add: pa.StructArray) -> pa.Table:
    """Adds as rows of ours; what was not read of them is null."""
    present = {field.name for field in add.type}
    columns: dict[str, pa.Array] = {
        ours: pc.struct_field(add, theirs) for theirs, ours in _PLAIN.items() if theirs in present
    }
    if "deletionVector" in present:
        columns["deletion_vector"] = _vectors(pc.struct_field(add, "deletionVector"))
    complete = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(len(add), field.type)
        for field in SCHEMA
    ]
    table = pa.table(complete, schema=SCHEMA)
    table.validate(full=True)  # Arrow takes any bytes for text until somebody looks
    if STATS_PARSED in present:
        table = table.append_column(STATS_PARSED, pc.struct_field(add, STATS_PARSED))
    return table


def _vectors(vectors: pa.StructArray) -> pa.Array:
    target = SCHEMA.field("deletion_vector").type
    parts = [
        pa.nulls(len(vectors), ours.type)
        if theirs == _OFFSET and vectors.type.get_field_index(theirs) < 0
        else pc.struct_field(vectors, theirs).cast(ours.type)
        for theirs, ours in zip(_VECTOR_FIELDS, target, strict=True)
    ]
    # Some writers leave an empty struct where there is no vector.
    absent = pc.is_null(parts[0])
    return pa.StructArray.from_arrays(parts, fields=list(target), mask=absent)
