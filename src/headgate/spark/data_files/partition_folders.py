"""Between the partition values of rows and the folders that Spark puts their files in.

Spark names a folder after the text of the value, escaped in its own way, with one name for null that a
text may happen to have too, and in the encoding of the locale. So the text is chosen here: plain
where that is safe, else in base64 behind a percent sign. Percent encoding would be five times as long,
because Spark escapes each sign of it, and names of folders have few bytes.
"""

from base64 import urlsafe_b64decode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.protocol.schema import partition_values
from headgate.protocol.schema.types import DataType, Primitive
from headgate.spark.session import internal_names

_NULL = "__HIVE_DEFAULT_PARTITION__"
_ENCODED = "%"
_PLAIN = r"^[ -$&-~]*\z"  # a dollar sign would let a newline pass


@dataclass(frozen=True, slots=True)
class PartitionColumn:
    """A column that rows are put into folders by."""

    name: str
    physical_name: str
    type: DataType
    folder: str
    """How its folders are named, before the ``=``."""


def folder_text(column: Column, data_type: DataType) -> Column:
    """The value as the text that its folder is named after."""
    match data_type:
        case Primitive("timestamp"):
            return F.unix_micros(column).cast("string")
        case Primitive("binary"):
            return F.hex(column)
        case Primitive("string"):
            digits = F.translate(F.base64(column.cast("binary")), "+/=\r\n", "-_")
            is_plain = column.rlike(_PLAIN) & (column != _NULL)
            return F.when(is_plain, column).otherwise(F.concat(F.lit(_ENCODED), digits))
        case _:
            return column.cast("string")


def folder_name(position: int, name: str, stored: Collection[str], *, mapped: bool) -> str:
    """The name for the folders of a column, its own where every file system can have it.

    Not that of a mapped column: the physical name of a column says nothing to a person. Columns that are
    ``stored`` beside it have other names.
    """
    plain = name.isascii() and name.isprintable() and not mapped
    return name if plain else f"{internal_names.free_prefix('partition', stored, '-')}{position}"


def values_from_path(path: str, columns: Sequence[PartitionColumn]) -> Mapping[str, str | None]:
    """The partition values, by physical names, of the file at ``path``."""
    if not columns:
        return {}
    folders = path.split("/")[-1 - len(columns) : -1]
    return {
        column.physical_name: _value(folder.partition("=")[2], column)
        for column, folder in zip(columns, folders, strict=True)
    }


def _value(escaped: str, column: PartitionColumn) -> str | None:
    if escaped == _NULL:
        return None
    found = unquote(escaped)
    if column.type == Primitive("binary"):
        return partition_values.decode_text(bytes.fromhex(found), column.name, column.type)
    if column.type != Primitive("string"):
        return _log_text(found, column)
    if not found.startswith(_ENCODED):
        return found
    digits = found.removeprefix(_ENCODED)
    value = urlsafe_b64decode(digits + "=" * (-len(digits) % 4))
    return partition_values.decode_text(value, column.name, column.type)


def _log_text(text: str, column: PartitionColumn) -> str | None:
    try:
        return partition_values.serialize(text, column.type)
    except (ValueError, OverflowError) as exc:
        raise partition_values.beyond_years(column.name, text) from exc
