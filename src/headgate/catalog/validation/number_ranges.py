"""Which numbers can an action have? A row for each: those outside of it mean nothing, or break sums.

A size that is negative, or close to the largest number there is, makes the totals of a table wrong for
every reader. What a remove says of its file is left alone: it repeats what somebody else said of it.
"""

from dataclasses import dataclass

from headgate.protocol.actions import Action, AddCdcFile, AddFile, AppTransaction, DeletionVector, RemoveFile

MOST_BYTES = 2**50
"""More than any file has, and few enough that the sum of a million of them can be held."""
LAST_MOMENT = 253_402_300_799_999
"""The end of the year 9999."""
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class Range:
    """One row: from 0 to what a field may go."""

    kind: type[Action]
    name: str
    most: int


RANGES: tuple[Range, ...] = (
    Range(AddFile, "size", MOST_BYTES),
    Range(AddFile, "modification_time", LAST_MOMENT),
    Range(AddFile, "base_row_id", _MOST),
    Range(AddFile, "default_row_commit_version", _MOST),
    Range(DeletionVector, "offset", MOST_BYTES),
    Range(DeletionVector, "size_in_bytes", MOST_BYTES),
    Range(DeletionVector, "cardinality", _MOST),
    Range(RemoveFile, "deletion_timestamp", LAST_MOMENT),
    Range(AddCdcFile, "size", MOST_BYTES),
    Range(AppTransaction, "version", _MOST),
    Range(AppTransaction, "last_updated", LAST_MOMENT),
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
