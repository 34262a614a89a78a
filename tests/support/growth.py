"""How much longer does something take for eight times the input?

Only the processor's time of this thread counts, without the garbage collector, which looks at all that other
tests left behind, and the least of several rounds: so a busy machine changes nothing. What grows with the
input takes about 8 times as long, what grows with its square 64 times.
"""

import gc
import time
from collections.abc import Callable
from contextlib import suppress

from headgate.errors import HeadgateError

LARGER = 8
_MOST = 32
"""Between 8 and 64."""
_QUICK = 0.25
"""Seconds that are not worth a word for the larger input, whatever the smaller takes."""
_ROUNDS = 3


def check_growth(run: Callable[[], object], make: Callable[[int], Callable[[], object]], size: int) -> None:
    """Fail if ``run``, which is what ``make`` gives for eight times the size, takes far more than that."""
    if _seconds(run) <= _QUICK:
        return
    large = min(_seconds(make(size * LARGER)) for _ in range(_ROUNDS))
    small = min(_seconds(make(size)) for _ in range(_ROUNDS))
    assert large < _MOST * small, f"{small:.3f} s for {size}, {large:.3f} s for {LARGER} times as much"


def _seconds(run: Callable[[], object]) -> float:
    gc.disable()
    try:
        start = time.thread_time()
        with suppress(HeadgateError):  # a refusal takes its time too
            run()
        return time.thread_time() - start
    finally:
        gc.enable()
