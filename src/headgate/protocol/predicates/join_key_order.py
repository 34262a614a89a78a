"""Do the keys of two columns that are compared stand in one order, whichever side one looks from?

Then the least and the greatest key of the one say between which keys of the other a match must lie. Texts
of numbers, days or moments are in another order than these are: '10' is below '9'.
"""

from headgate.protocol.predicates.comparisons import INTEGER_BITS, precision_and_scale
from headgate.protocol.predicates.tree import Column
from headgate.protocol.schema.types import Primitive

_DIGITS = {"byte": 3, "short": 5, "integer": 10, "long": 20}
"""How many digits Spark has a type of integers be a decimal of."""
_MAX_PRECISION = 38
_ROUNDED = ("float", "double")
_ALIKE = {"string": ("string",), "date": ("date", "timestamp", "timestamp_ntz")}


def is_order_shared(mine: Column, theirs: Column) -> bool:
    """Whether values of ``theirs`` say, as literals, what they say as a column beside ``mine``, in order."""
    if not isinstance(mine.type, Primitive) or not isinstance(theirs.type, Primitive):
        return False
    if not _is_exact(theirs.type):
        return mine.type.name in _ALIKE.get(theirs.type.name, ())
    return mine.type.name in _ROUNDED or (_is_exact(mine.type) and _are_compared_exactly(mine, theirs))


def _is_exact(data_type: Primitive) -> bool:
    return data_type.name in INTEGER_BITS or data_type.name.startswith("decimal")


def _are_compared_exactly(mine: Column, theirs: Column) -> bool:
    """Whether one decimal is wide enough for both: in a narrower one Spark rounds them to compare them."""
    sizes = [_digits(column) for column in (mine, theirs)]
    return max(whole for whole, _ in sizes) + max(scale for _, scale in sizes) <= _MAX_PRECISION


def _digits(column: Column) -> tuple[int, int]:
    """How many digits there are before the point, and how many after it."""
    name = column.type.name if isinstance(column.type, Primitive) else ""
    precision, scale = (_DIGITS[name], 0) if name in _DIGITS else precision_and_scale(column)
    return precision - scale, scale
