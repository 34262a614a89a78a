"""By which key does a row come to a chosen partition of a shuffle?

Spark hashes what rows are repartitioned by, an int by Murmur3 with the seed 42, and takes the
remainder. So keys are tried until every partition has one. Were the hash another, rows would still
all arrive, only not so evenly.
"""

from functools import cache

import numpy as np

_SEED = np.uint32(42)
_TRIED_AT_ONCE = 8


@cache
def keys_for_partitions(partitions: int) -> tuple[int, ...]:
    """For each of so many partitions an int whose hash leads to it."""
    found = np.full(partitions, -1, np.int64)
    begin, count = 0, partitions * _TRIED_AT_ONCE
    while (found < 0).any():
        tried = np.arange(begin, begin + count, dtype=np.int64)
        found[_murmur3(tried.astype(np.uint32)) % partitions] = tried
        begin += count
    return tuple(found.tolist())


def _murmur3(values: np.ndarray) -> np.ndarray:
    """Murmur3, x86, 32 bits, of ints; signed, so that remainders are those of Spark's ``pmod``."""
    with np.errstate(over="ignore"):
        mixed = _rotate_left(values * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
        found = _rotate_left(_SEED ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
        found ^= np.uint32(4)  # the length of an int
        for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
            found = (found ^ found >> np.uint32(shift)) * np.uint32(factor)
        return (found ^ found >> np.uint32(16)).astype(np.int32).astype(np.int64)


def _rotate_left(values: np.ndarray, by: int) -> np.ndarray:
    return values << np.uint32(by) | values >> np.uint32(32 - by)
