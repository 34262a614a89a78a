"""Files of the change data feed: each changed row as it was and as it is.

A version that has any says everything by them, so it has all of its changes in them or none. They
are left out where adding and removing whole files tells the same.
"""

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.protocol import property_values
from headgate.protocol.actions import Metadata
from headgate.protocol.schema import json as schema_json
from headgate.spark.data_files import data_file_writer, fit_schema
from headgate.spark.data_files.data_file_writer import WrittenFiles
from headgate.spark.dml.edits import DELETES, UPDATES, EditKind, Edits
from headgate.spark.dml.target_scan import DmlTarget
from headgate.spark.session import schema as spark_schema
from headgate.spark.session.internal_names import InternalNames


def are_needed(target: DmlTarget, edits: Edits, partly: object) -> bool:
    """Whether the feed could not tell these edits from whole files; ``partly`` if some keep rows."""
    if not target.has(property_values.CHANGE_DATA_FEED):
        return False
    if edits.count(*UPDATES):
        return True
    return edits.count(*DELETES) > 0 and bool(partly)


def write(target: DmlTarget, edits: Edits, metadata: Metadata) -> WrittenFiles:
    """Write the edits for readers of the feed."""
    if edits.rows is None:
        raise AssertionError("the feed needs the rows that change")
    rows, own = edits.rows, target.own
    deleted = edits.matched_rows.get(EditKind.DELETED)
    if deleted is not None and deleted.count > deleted.distinct:
        # Several rows of a source may have asked for the same deletion.
        in_place = F.col(own.position).isNotNull()
        rows = (
            rows.where(in_place).dropDuplicates([own.position, own.index]).unionByName(rows.where(~in_place))
        )
    new = table_columns(target, rows)
    old = [F.col(own.before).getField(name).alias(name) for name in target.names]
    parts = [
        _with_change_type(rows, own, UPDATES, old, "update_preimage"),
        _with_change_type(rows, own, UPDATES, new, "update_postimage"),
        _with_change_type(rows, own, DELETES, old, "delete"),
        _with_change_type(rows, own, (EditKind.INSERTED,), new, "insert"),
    ]
    schema = schema_json.parse(metadata.schema_string)
    alike = [fit_schema.cast_to_table_types(part, schema) for part in parts]
    joined = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), alike)
    return data_file_writer.write_cdc_files(
        joined.coalesce(1) if _is_small(edits) else joined, target.table, metadata
    )


def table_columns(target: DmlTarget, rows: DataFrame) -> list[Column]:
    """The columns of edited rows that are the table's."""
    own = target.own
    ours = (own.position, own.index, own.kind, own.before, own.row_id)
    return [spark_schema.column(name) for name in rows.columns if name not in ours]


def _with_change_type(
    rows: DataFrame, own: InternalNames, kinds: tuple[EditKind, ...], columns: list[Column], change: str
) -> DataFrame:
    mark = F.lit(change).alias(data_file_writer.CHANGE_TYPE.name)
    return rows.where(F.col(own.kind).isin(*map(int, kinds))).select(*columns, mark)


def _is_small(edits: Edits) -> bool:
    return edits.count(*UPDATES, *DELETES, EditKind.INSERTED) <= 500_000
