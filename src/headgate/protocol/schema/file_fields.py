"""Which of the fields that a data file has is a column of the table, or a part of one?

That of its physical name, whose case may differ, or where the table maps columns by id, that of its field
id. A file has such ids in the metadata of its fields, as Arrow reads them: ``{b"PARQUET:field_id": b"7"}``.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from headgate.errors import CorruptLog, UnsupportedFeature
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import Field

_FIELD_ID = b"PARQUET:field_id"


class FileField(Protocol):
    """A field as a data file has it."""

    @property
    def name(self) -> str: ...

    @property
    def metadata(self) -> Mapping[bytes, bytes] | None: ...


def find_field(field: Field, file: Sequence[FileField], mode: ColumnMappingMode, path: str) -> int | None:
    """Where a column, or a part of one, is among the fields of the file at ``path``; None if it has none."""
    number = column_mapping.field_id(field) if mode is ColumnMappingMode.ID else None
    if number is not None:
        wanted = str(number).encode()
        found = [at for at, part in enumerate(file) if (part.metadata or {}).get(_FIELD_ID) == wanted]
    else:
        name = column_mapping.physical_name(field, mode)
        found = [at for at, part in enumerate(file) if part.name == name]
        found = found or [at for at, part in enumerate(file) if part.name.lower() == name.lower()]
    if len(found) > 1:
        raise CorruptLog(
            f"the data file {path} has column {field.name!r} of the table {len(found)} times",
            code="DELTA_DUPLICATE_COLUMNS_FOUND",
        )
    return found[0] if found else None


def check_field_ids(file: Iterable[FileField], mode: ColumnMappingMode, path: str) -> None:
    """Refuse a file without field ids where columns are found by these."""
    if mode is ColumnMappingMode.ID and not any(_FIELD_ID in (part.metadata or {}) for part in file):
        raise UnsupportedFeature(
            f"the table finds its columns by field ids, and the data file {path} has none: "
            "have its writer rewrite the file",
            code="DELTA_UNSUPPORTED_FEATURES_FOR_READ",
            features=("columnMapping",), operation="read",
        )  # fmt: skip
