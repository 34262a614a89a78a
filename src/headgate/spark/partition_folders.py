"""Between the partition values of rows and the folders that Spark puts their files in.

Spark names a folder after the text of the value, escaped in its own way, with one name for null that a
text may happen to have too, and in the encoding of the locale. So the text is chosen here: plain
where that is safe, else in percent encoding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, unquote_plus

from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.errors import InvalidRequest
from headgate.protocol import partitions
from headgate.protocol.schema.types import DataType, Primitive

_NULL = "__HIVE_DEFAULT_PARTITION__"
_NOT_NULL = "%5F" + _NULL[1:]
_PLAIN = r"^[ -$&-~]*\z"  # a dollar sign would let a newline pass


@dataclass(frozen=True, slots=True)
class PartitionColumn:
    """A column that rows are put into folders by."""

    name: str
    physical_name: str
    type: DataType
    folder: str
    """How its folders are named, before the ``=``."""


def text(column: Column, data_type: DataType) -> Column:
    """The value as the text that its folder is named after."""
    match data_type:
        case Primitive("timestamp"):
            return F.unix_micros(column).cast("string")
        case Primitive("binary"):
            return F.hex(column)
        case Primitive("string"):
            encoded = F.when(column.rlike(_PLAIN), column).otherwise(F.url_encode(column))
            return F.when(column == _NULL, F.lit(_NOT_NULL)).otherwise(encoded)
        case _:
            return column.cast("string")


def folder_name(position: int, name: str, *, mapped: bool) -> str:
    """The name for the folders of a column, its own where every file system can have it.

    Not that of a mapped column: the physical name of a column says nothing to a person.
    """
    plain = name.isascii() and name.isprintable() and not mapped
    return name if plain else f"partition-{position}"


def values(path: str, columns: Sequence[PartitionColumn]) -> Mapping[str, str | None]:
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
        return _bytes(found, column)
    if column.type == Primitive("string"):
        return unquote_plus(found) if "%" in found else found
    return partitions.serialized(found, column.type)


def _bytes(digits: str, column: PartitionColumn) -> str | None:
    try:
        return bytes.fromhex(digits).decode() or None
    except UnicodeDecodeError as exc:
        raise InvalidRequest(
            f"the binary partition column {column.name!r} has a value that is not UTF-8, which a log of JSON "
            "cannot keep; nothing was committed: partition by another column",
            code="DELTA_UNSUPPORTED_DATA_TYPES",
        ) from exc
