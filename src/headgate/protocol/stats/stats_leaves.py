"""A few leaves of the statistics of some files: parsed, where a checkpoint has them so, else JSON.

The minimum of ``a`` in three files: a checkpoint has it as a column for the first, and JSON is asked for
the others, of which the last has none.

    stats_parsed                stats                     read as int64
    {minValues: {a: 1}}         {"minValues":{"a":7}}     1
    null                        {"minValues":{"a":3}}     3
    null                        null                      null
"""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.stats import stats_json
from headgate.protocol.stats.stats_json import StatsLeaf

PARSED = "stats_parsed"
"""An optional column of files: statistics that a checkpoint has as columns of their own."""


class StatsLeafReader:
    """Reads some leaves out of the statistics of files.

    JSON comes in the type asked for, parsed statistics in the type they have if all of the files
    have them. What is not there, or does not fit, is null.
    """

    __slots__ = ("_json", "_leaves")

    def __init__(self, leaves: Mapping[StatsLeaf, pa.DataType]) -> None:
        self._leaves = leaves
        self._json = stats_json.StatsJsonReader(leaves)

    def read(self, files: pa.Table) -> dict[StatsLeaf, pa.Array]:
        """Each leaf in every file."""
        parsed = self._parsed(files)
        texts = files["stats"].combine_chunks().cast(pa.string())
        if len(parsed) == len(self._leaves):
            texts = pc.if_else(
                pc.is_valid(files[PARSED].combine_chunks()), pa.scalar(None, pa.string()), texts
            )
            if texts.null_count == len(texts):
                return parsed
        found = self._json.read(texts)
        return {
            leaf: pc.coalesce(_fitting(parsed[leaf], data_type), found[leaf])
            if leaf in parsed
            else found[leaf]
            for leaf, data_type in self._leaves.items()
        }

    def _parsed(self, files: pa.Table) -> dict[StatsLeaf, pa.Array]:
        if PARSED not in files.column_names:
            return {}
        column = files[PARSED].combine_chunks()
        found = ((leaf, _inside(column, leaf.keys)) for leaf in self._leaves)
        return {leaf: values for leaf, values in found if values is not None}


def _inside(column: pa.Array, keys: tuple[str, ...]) -> pa.Array | None:
    for key in keys:
        if not pa.types.is_struct(column.type) or column.type.get_field_index(key) < 0:
            return None
        column = pc.struct_field(column, column.type.get_field_index(key))
    return column


def _fitting(values: pa.Array, target: pa.DataType) -> pa.Array:
    if pa.types.is_string(target) and pa.types.is_timestamp(values.type):
        zone = "Z" if values.type.tz else ""
        return pc.binary_join_element_wise(pc.strftime(values, "%Y-%m-%dT%H:%M:%S"), zone, "")
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.string())  # the next double is found by way of the digits only
    try:
        return values.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(len(values), target)
