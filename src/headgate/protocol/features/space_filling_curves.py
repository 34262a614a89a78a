"""Curves through a grid: in which order its cells come, so that neighbours stay together.

A cell is found bit by bit, from the highest of its coordinates down. Where the curve turns depends
on where it came from, so each step goes through a table: the state before and the bits of all
coordinates give the state after and the next digits of the cell's number. A Z-order never turns;
a Hilbert curve turns so that each cell is next to the one before (after Hamilton's construction).

The numbers of the cells of a grid of four by four, x to the right and y down:

    Z-order         Hilbert
     0  1  4  5      0  1 14 15
     2  3  6  7      3  2 13 12
     8  9 12 13      4  7  8 11
    10 11 14 15      5  6  9 10
"""

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve through so many dimensions, as its table.

    The entry at ``state << dimensions | bits``, where bit j is of coordinate j, is the state after,
    shifted likewise, and the digits.
    """

    dimensions: int
    table: tuple[int, ...]

    def number(self, coordinates: tuple[int, ...], bits: int) -> int:
        """The number of a cell."""
        state = number = 0
        for bit in reversed(range(bits)):
            cell = sum((coordinate >> bit & 1) << j for j, coordinate in enumerate(coordinates))
            step = self.table[state << self.dimensions | cell]
            state, digits = step >> self.dimensions, step & ((1 << self.dimensions) - 1)
            number = number << self.dimensions | digits
        return number


def z_order(dimensions: int) -> Curve:
    """The curve that interleaves the bits of the coordinates."""
    return Curve(dimensions, tuple(range(1 << dimensions)))


@cache
def hilbert(dimensions: int) -> Curve:
    """Hilbert's curve, from the origin to the far end of the first dimension."""
    states = [(0, 0)]
    numbers = {(0, 0): 0}
    table: list[int] = []
    for state in states:  # grows while states are found
        for cell in range(1 << dimensions):
            digits, after = _step(cell, *state, dimensions)
            if after not in numbers:
                numbers[after] = len(states)
                states.append(after)
            table.append(numbers[after] << dimensions | digits)
    return Curve(dimensions, tuple(table))


def _step(cell: int, entry: int, direction: int, dimensions: int) -> tuple[int, tuple[int, int]]:
    """The digits of a cell of a curve that enters at a corner in a direction, and how it enters that cell."""
    turned = _rotated(cell ^ entry, -(direction + 1), dimensions)
    digits = _gray_inverse(turned)
    corner = 0 if digits == 0 else _gray(2 * ((digits - 1) // 2))
    next_entry = entry ^ _rotated(corner, direction + 1, dimensions)
    next_direction = (direction + _inside(digits, dimensions) + 1) % dimensions
    return digits, (next_entry, next_direction)


def _inside(digits: int, dimensions: int) -> int:
    """The direction of the curve within the cell of these digits."""
    if digits == 0:
        return 0
    return _trailing_ones(digits if digits % 2 else digits - 1) % dimensions


def _rotated(bits: int, by: int, width: int) -> int:
    """The bits rotated to the left."""
    by %= width
    return (bits << by | bits >> (width - by)) & ((1 << width) - 1)


def _gray(number: int) -> int:
    return number ^ (number >> 1)


def _gray_inverse(code: int) -> int:
    number = 0
    while code:
        number ^= code
        code >>= 1
    return number


def _trailing_ones(number: int) -> int:
    bits = f"{number:b}"
    return len(bits) - len(bits.rstrip("1"))
