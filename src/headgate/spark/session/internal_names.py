"""Which names have the columns that Headgate puts beside a user's? Ones that no column of his has.

No name is reserved: whatever a table or a DataFrame calls its columns, those of our own begin with what
none of them begins with, at any level and in any case of letters.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import count

from headgate.protocol.schema.types import Array, DataType, Map, Primitive, Struct

DEFAULT_PREFIX = "__headgate"


@dataclass(frozen=True, slots=True)
class InternalNames:
    """Names that are free where they were chosen; more are made of one by adding to it."""

    ordinal: str
    """Which of the files of a scan a row is from."""
    place: str
    """Where the deletion vector of a row's file is among the words of all."""
    path: str
    uri: str
    size: str
    modified_ms: str
    metadata: str
    """What Spark calls ``_metadata``, until it is hidden."""
    file: str
    row: str
    deleted_from: str
    deleted: str
    position: str
    """Where a row's file stands among all that a statement reads."""
    index: str
    """Which row of its file it is."""
    row_id: str
    row_commit_version: str
    kind: str
    """What is to be done with a row; see ``EditKind`` in ``edits``."""
    before: str
    clause: str
    source_row: str
    number: str
    digits_a: str
    digits_b: str
    step: str
    key: str
    bucket: str
    value: str
    cuts: str
    partition: str


def free_names(*columns: Struct | Iterable[str]) -> InternalNames:
    """Names for columns beside these."""
    prefix = free_prefix(DEFAULT_PREFIX, (name for some in columns for name in _names(some)))
    return InternalNames(**{part.name: f"{prefix}{part.name}" for part in fields(InternalNames)})


def free_prefix(usual: str, taken: Iterable[str], end: str = "_") -> str:
    """What none of these names begins with, whatever is put behind it and in whatever case of letters."""
    known = {name.lower() for name in taken}
    wanted = (f"{usual}{number or ''}{end}" for number in count())
    return next(one for one in wanted if not any(name.startswith(one.lower()) for name in known))


def _names(columns: Struct | Iterable[str]) -> Iterator[str]:
    return _names_in_struct(columns) if isinstance(columns, Struct) else iter(columns)


def _names_in_struct(columns: Struct) -> Iterator[str]:
    for column in columns.fields:
        yield column.name
        yield from _names_in_type(column.type)


def _names_in_type(data_type: DataType) -> Iterator[str]:
    match data_type:
        case Primitive():
            return
        case Struct():
            yield from _names_in_struct(data_type)
        case Array(element, _):
            yield from _names_in_type(element)
        case Map(key, value, _):
            yield from _names_in_type(key)
            yield from _names_in_type(value)
