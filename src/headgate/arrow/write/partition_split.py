"""Which rows go into which file of a partitioned table, and how does the log write their partition values?"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.schema import partition_values
from headgate.protocol.schema.types import DataType, Primitive

_EPOCH = datetime(1970, 1, 1)
_FIRST_SCIENTIFIC, _LAST_SCIENTIFIC = 1e7, 1e-3


@dataclass(frozen=True, slots=True)
class PartitionKey:
    """A column that the table is partitioned by."""

    name: str
    physical_name: str
    type: DataType


@dataclass(frozen=True, slots=True)
class PartitionRows:
    """The rows of one partition, with what the log says of it."""

    values: Mapping[str, str | None]
    rows: pa.Table


def split_rows(rows: pa.Table, keys: Sequence[PartitionKey]) -> Iterator[PartitionRows]:
    """The rows of each partition, in the order they came."""
    if not keys:
        yield PartitionRows({}, rows)
        return
    if not rows.num_rows:
        return
    codes = [_codes(rows.column(key.name), key) for key in keys]
    together = np.column_stack([places for places, _ in codes])
    found, members = np.unique(together, axis=0, return_inverse=True)
    members = members.reshape(-1)
    for number, places in enumerate(found):
        values = {
            key.physical_name: texts[place]
            for key, place, (_, texts) in zip(keys, places.tolist(), codes, strict=True)
        }
        chosen = rows if len(found) == 1 else rows.filter(pa.array(members == number))
        yield PartitionRows(values, chosen)


def _codes(column: pa.ChunkedArray, key: PartitionKey) -> tuple[Any, list[str | None]]:
    """For each row which of the texts it has in the log, and these: a null and an empty text are one."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    encoded = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    texts = [_log_text(value, key) for value in encoded.dictionary.to_pylist()]
    distinct = list(dict.fromkeys(texts))
    number = {text: at for at, text in enumerate(distinct)}
    place = np.array([number[text] for text in texts], np.int64)
    return place[encoded.indices.to_numpy(zero_copy_only=False)], distinct


def _log_text(value: Any, key: PartitionKey) -> str | None:
    """A value as the log keeps it."""
    if value is None:
        return None
    if isinstance(value, bytes):
        return partition_values.decode_text(value, key.name, key.type)
    try:
        return partition_values.serialize(_spark_text(value, key.type), key.type)
    except (ValueError, OverflowError) as exc:
        raise partition_values.beyond_years(key.name, value) from exc


def _spark_text(value: Any, data_type: DataType) -> str:
    """The text that Spark casts a value to."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return java_text(value, single=data_type == Primitive("float"))
        case Decimal():
            return format(value, "f")
        case date():
            return value.isoformat()
        case int() if data_type == Primitive("timestamp_ntz"):
            return (_EPOCH + timedelta(microseconds=value)).isoformat(sep=" ")
        case _:
            return str(value)


def java_text(value: float, *, single: bool = False) -> str:
    """A number as Java writes it: 1.0E10, NaN, Infinity."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    shortest = str(np.float32(value)) if single else repr(value)
    sign, digits, exponent = Decimal(shortest).normalize().as_tuple()
    if not any(digits):
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    text = "".join(map(str, digits))
    point = len(text) + int(exponent)
    minus = "-" if sign else ""
    if _LAST_SCIENTIFIC <= abs(value) < _FIRST_SCIENTIFIC:
        whole, rest = (
            (text[:point].ljust(point, "0"), text[point:]) if point > 0 else ("0", "0" * -point + text)
        )
        return f"{minus}{whole}.{rest or '0'}"
    return f"{minus}{text[0]}.{text[1:] or '0'}E{point - 1}"
