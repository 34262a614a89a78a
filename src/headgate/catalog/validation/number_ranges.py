"""Which numbers can an action have? A row for each: those outside of it mean nothing, or break sums.

A size that is negative, or close to the largest number there is, makes the totals of a table wrong for
every reader. What a remove says of its file is left alone: it repeats what somebody else said of it.
"""

from dataclasses import dataclass

from headgate.protocol.actions import Action, AddCdcFile, AddFile, AppTransaction, DeletionVector, RemoveFile

MAX_FILE_BYTES = 2**50
"""More than any file has, and few enough that the sum of a million of them can be held."""
MAX_TIMESTAMP_MS = 253_402_300_799_999
"""The end of the year 9999."""
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class NumberRange:
    """One row: from 0 to what a field may go."""

    kind: type[Action]
    name: str
    most: int


RANGES: tuple[NumberRange, ...] = (
    NumberRange(AddFile, "size", MAX_FILE_BYTES),
    NumberRange(AddFile, "modification_time", MAX_TIMESTAMP_MS),
    NumberRange(AddFile, "base_row_id", _MOST),
    NumberRange(AddFile, "default_row_commit_version", _MOST),
    NumberRange(DeletionVector, "offset", MAX_FILE_BYTES),
    NumberRange(DeletionVector, "size_in_bytes", MAX_FILE_BYTES),
    NumberRange(DeletionVector, "cardinality", _MOST),
    NumberRange(RemoveFile, "deletion_timestamp", MAX_TIMESTAMP_MS),
    NumberRange(AddCdcFile, "size", MAX_FILE_BYTES),
    NumberRange(AppTransaction, "version", _MOST),
    NumberRange(AppTransaction, "last_updated", MAX_TIMESTAMP_MS),
)
_BY_KIND = {
    kind: tuple((row.name, row.most) for row in RANGES if row.kind is kind)
    for kind in {row.kind for row in RANGES}
}


def out_of_range(action: Action) -> str | None:
    """What is wrong with a number of the action, or of its deletion vector."""
    for name, most in _BY_KIND.get(type(action), ()):
        value = getattr(action, name)
        if value is not None and not 0 <= value <= most:
            return f"{name} is {value}, and must be from 0 to {most}"
    vector = action.deletion_vector if isinstance(action, AddFile) else None
    return None if vector is None else out_of_range(vector)
