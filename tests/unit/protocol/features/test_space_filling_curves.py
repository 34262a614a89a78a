"""Curves through grids: each cell once, and neighbours next to each other."""

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.features import space_filling_curves
from headgate.protocol.features.space_filling_curves import Curve

GRIDS = [(1, 5), (2, 1), (2, 2), (2, 5), (3, 1), (3, 3), (4, 1), (4, 2), (5, 2)]


def cells(curve: Curve, bits: int) -> list[tuple[int, ...]]:
    """The cells in the order of the curve."""
    grid = product(range(1 << bits), repeat=curve.dimensions)
    return sorted(grid, key=lambda cell: curve.number(cell, bits))


@pytest.mark.parametrize(("dimensions", "bits"), GRIDS)
@pytest.mark.parametrize("kind", [space_filling_curves.z_order, space_filling_curves.hilbert])
def test_every_cell_has_a_number_of_its_own(kind: type, dimensions: int, bits: int) -> None:
    curve = kind(dimensions)

    numbers = [curve.number(cell, bits) for cell in product(range(1 << bits), repeat=dimensions)]

    assert sorted(numbers) == list(range(1 << dimensions * bits))


@pytest.mark.parametrize(("dimensions", "bits"), GRIDS)
def test_hilberts_curve_makes_no_leaps(dimensions: int, bits: int) -> None:
    for here, there in pairwise(cells(space_filling_curves.hilbert(dimensions), bits)):
        assert sum(abs(a - b) for a, b in zip(here, there, strict=True)) == 1


@pytest.mark.parametrize(("dimensions", "bits"), GRIDS)
def test_hilberts_curve_goes_from_the_origin_along_the_first_dimension(dimensions: int, bits: int) -> None:
    """Files that were laid out before are in the order of those that are laid out now."""
    first, *_, last = cells(space_filling_curves.hilbert(dimensions), bits)

    assert first == (0,) * dimensions
    assert last == ((1 << bits) - 1, *first[1:])


@pytest.mark.parametrize(("dimensions", "ways"), [(1, 1), (2, 4), (3, 12), (4, 32)])
def test_a_table_has_no_row_twice(dimensions: int, ways: int) -> None:
    assert len(space_filling_curves.hilbert(dimensions).table) == ways << dimensions
    assert len(space_filling_curves.z_order(dimensions).table) == 1 << dimensions


@given(st.integers(0, 255), st.integers(0, 255))
def test_a_z_order_interleaves_bits(x: int, y: int) -> None:
    interleaved = sum((x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1 for bit in range(8))

    assert space_filling_curves.z_order(2).number((x, y), 8) == interleaved


def test_a_coarser_grid_has_the_same_order() -> None:
    """So bits that are not there, as if they were 0, do no harm."""
    curve = space_filling_curves.hilbert(3)
    coarse = {cell: curve.number(cell, 2) for cell in product(range(4), repeat=3)}

    for cell in product(range(8), repeat=3):
        x, y, z = cell
        assert curve.number(cell, 3) >> 3 == coarse[x >> 1, y >> 1, z >> 1]
