"""How many rows an added file has, as its statistics say."""

from typing import Annotated, Any

import msgspec

from headgate.protocol.actions import AddFile

_Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Rows = Annotated[int, msgspec.Meta(ge=0, le=2**40)]
"""More than any file has, and few enough that the sum of a million files can be held."""


class RecordCounts(msgspec.Struct, frozen=True, rename="camel"):
    """What statistics say of a file as a whole."""

    num_records: _Number | None = None
    """Rows in the file, deleted ones too."""
    tight_bounds: bool | None = None
    """Whether its bounds are those of the rows that are not deleted."""


class _FullStats(msgspec.Struct, frozen=True, rename="camel"):
    """Statistics as far as readers agree on what they look like."""

    num_records: _Rows | None = None
    tight_bounds: bool | None = None
    min_values: dict[str, Any] | None = None
    max_values: dict[str, Any] | None = None
    null_count: dict[str, Any] | None = None


_DECODER = msgspec.json.Decoder(RecordCounts)
_WHOLE = msgspec.json.Decoder(_FullStats)
_NONE = RecordCounts()


def counts_of_file(add: AddFile) -> RecordCounts:
    """What is said of a file; see ``said``."""
    return parse_counts(add.stats)


def parse_counts(stats: str | None) -> RecordCounts:
    """What is said; nothing where there are no statistics, or none that can be read."""
    if not stats:
        return _NONE
    try:
        return _DECODER.decode(stats)
    except (msgspec.DecodeError, RecursionError):
        return _NONE


def stats_problem(stats: str | None) -> str | None:
    """Why some reader would stumble over these statistics; None if none does."""
    if stats is None:
        return None
    try:
        _WHOLE.decode(stats)
    except (msgspec.DecodeError, RecursionError) as exc:
        return str(exc)
    return None


def with_wide_bounds(stats: str | None) -> str | None:
    """Statistics that say their bounds are of all rows of the file, hidden ones too."""
    if stats is None:
        return None
    # Kept as they are written: a number through Python and back may lose digits.
    told = msgspec.json.decode(stats, type=dict[str, msgspec.Raw])
    return msgspec.json.encode({**told, "tightBounds": False}).decode()
