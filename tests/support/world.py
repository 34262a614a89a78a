"""Worlds for tests: one that a seed decides, whose clock may jump backwards, and one that stands still."""

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from headgate.clock import SystemWorld

_TICK_MS = 1_000
_START_MS = 1_750_000_000_000


@dataclass
class LogicalClock:
    """Ticks at every look, far enough that no chain of rebased timestamps catches up with it."""

    now_ms: int = _START_MS
    jump: Callable[[], int] = field(default=lambda: 0)

    def look(self) -> int:
        """The time; ``jump`` says how far back it goes first."""
        self.now_ms += _TICK_MS - self.jump()
        return self.now_ms


class SimulatedWorld:
    """Nothing here depends on the machine; sleeping lets others run."""

    def __init__(self, chance: random.Random, clock: LogicalClock, *, pause: Callable[[], None]) -> None:
        self._chance = chance
        self._clock = clock
        self._pause = pause

    def now_ms(self) -> int:
        return self._clock.look()

    def sleep(self, seconds: float) -> None:
        self._pause()

    def uuid(self) -> str:
        return str(uuid.UUID(int=self._chance.getrandbits(128), version=4))

    def jitter(self) -> float:
        return self._chance.random()


class SkewedWorld(SystemWorld):
    """A machine whose clock is ahead, or behind."""

    def __init__(self, ahead_ms: int) -> None:
        self.ahead_ms = ahead_ms

    def now_ms(self) -> int:
        return super().now_ms() + self.ahead_ms


class StillWorld:
    """Time passes only by sleeping, and then not for real."""

    def __init__(self, now_ms: int = 2_000) -> None:
        self.now = now_ms
        self.pauses: list[float] = []

    def now_ms(self) -> int:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def uuid(self) -> str:
        return "00000000-0000-0000-0000-000000000001"

    def jitter(self) -> float:
        return 0.5
