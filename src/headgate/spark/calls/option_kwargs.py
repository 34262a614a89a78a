"""Which arguments of public calls are Spark's? Its frames, columns and schemas, beside all the plain ones."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StructType

from headgate.calls import arguments
from headgate.calls.arguments import REFUSED, ArgumentKind, Kinds, instance_of, say, shown
from headgate.errors import InvalidRequest

LocalRows: TypeAlias = pa.Table | pa.RecordBatch | Sequence[Mapping[str, Any]]
"""Rows of this process; a DataFrame of pandas is taken too, which need not be installed."""


def take_options(asked: Mapping[str, Any], known: type, of: str) -> dict[str, Any]:
    """The options of a call as they are meant, without those that are None; ``known`` is their TypedDict."""
    return arguments.take_options(asked, _options(known), of)


@cache
def _options(known: type) -> Kinds:
    return arguments.kinds_of(known, KINDS)


def _assignments(value: Any) -> object:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        return REFUSED
    for name, assigned in value.items():
        if not isinstance(assigned, Column | str):
            raise InvalidRequest(
                f"the value for {name!r} must be a Column or SQL text, not {shown(assigned)}: write "
                f"F.lit({assigned!r}) for the value itself, where F is pyspark.sql.functions"
            )
    return value


def _rows_hint(value: Any) -> str:
    made = "rows, 'id BIGINT, name STRING'" if isinstance(value, list | tuple) else "rows"
    return f"make one with spark.createDataFrame({made}), which takes lists, pandas and Arrow"


def _local_rows_hint(value: Any) -> str:
    if isinstance(value, Mapping):
        return "put it into a list, [row]"
    dicts = "bring dicts, as in [{'id': 1}], or " if isinstance(value, list | tuple) else ""
    return f"{dicts}{_rows_hint(value)}"


def _rows(value: Any) -> object:
    if isinstance(value, DataFrame | pa.Table | pa.RecordBatch):
        return value
    kind = type(value)
    if kind.__module__.partition(".")[0] == "pandas" and kind.__name__ == "DataFrame":
        return value
    is_list = isinstance(value, list | tuple)
    return value if is_list and all(isinstance(row, Mapping) for row in value) else REFUSED


KINDS: tuple[ArgumentKind, ...] = (
    *arguments.KINDS,
    ArgumentKind(frozenset({DataFrame}), "a DataFrame of Spark", instance_of(DataFrame), _rows_hint),
    ArgumentKind(
        frozenset({DataFrame, pa.Table, pa.RecordBatch, Sequence[Mapping[str, Any]]}),
        "rows: a DataFrame of Spark or pandas, an Arrow table, or a list of dicts",
        _rows,
        _local_rows_hint,
    ),
    ArgumentKind(
        frozenset({DataFrame, StructType, str}),
        "the columns of a table",
        instance_of(DataFrame, StructType, str),
        say("write them like 'id BIGINT, name STRING', or give a StructType or a DataFrame that has them"),
    ),
    ArgumentKind(
        frozenset({Column, str}),
        "a condition",
        instance_of(Column, str),
        say("write it like 'id > 5', or F.col('id') > 5"),
    ),
    ArgumentKind(
        frozenset({Mapping[str, Column | str]}),
        "a dict of columns and values",
        _assignments,
        say("write it like {'name': 'upper(name)', 'amount': F.lit(5)}"),
    ),
)
"""Every kind of argument that is looked at; others are left to those who take them."""
