"""Time, identifiers and chance as a capability handed in, so that a test can own them."""

import random
import time
import uuid
from typing import Protocol


class World(Protocol):
    """What is not decided by the program; safe to share between threads."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        ...

    def sleep(self, seconds: float) -> None:
        """Return after about this long."""
        ...

    def uuid(self) -> str:
        """A new random UUID in its canonical form, never given twice."""
        ...

    def jitter(self) -> float:
        """A number in [0, 1)."""
        ...


class SystemWorld:
    """The machine's clock and randomness."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def uuid(self) -> str:
        return str(uuid.uuid4())

    def jitter(self) -> float:
        return random.random()
