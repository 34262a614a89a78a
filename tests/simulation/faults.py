"""What can go wrong with a call, and the wire on which it does, as a seed decides.

Every fault is here because of a mutant that it kills: see mutants.md.
"""

import random
import threading
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import TypeVar

from headgate.errors import HeadgateError
from tests.support.turnstile import Crash, Turnstile

Answer = TypeVar("Answer")
Step = tuple[str, str, str, object]


class Fault(Enum):
    """One way in which the world is worse than a perfect one."""

    CRASH = "crash"
    """The caller dies, before its call is performed or before it hears the answer."""
    LOST_REPLY = "lost reply"
    """The call is performed at once; the caller is told nothing."""
    LOST_REQUEST = "lost request"
    """The call is never performed; the caller may or may not be told so."""
    DELAYED_DUPLICATE = "delayed duplicate"
    """The call is performed, again or for the first time, after the caller has gone on to other things."""
    RESENT = "resent"
    """The caller's library sends the call twice and returns the second answer."""
    CLOCK_BACK = "clock back"
    """The clock jumps backwards."""
    RESTART = "restart"
    """After a crash or an unknown outcome a new process repeats the operation with the same txnId."""
    STRAY_FILE = "stray file"
    """Somebody who knows nothing of the catalog writes the next version into ``_delta_log``."""


EVERY_FAULT = frozenset(Fault)
NO_FAULT: frozenset[Fault] = frozenset()

_ON_READS = (Fault.CRASH, Fault.LOST_REQUEST, Fault.LOST_REQUEST)
_ON_WRITES = (
    Fault.CRASH,
    Fault.LOST_REPLY,
    Fault.LOST_REPLY,
    Fault.LOST_REQUEST,
    Fault.DELAYED_DUPLICATE,
    Fault.DELAYED_DUPLICATE,
    Fault.RESENT,
)


class FaultPlan:
    """Which call meets which fault; a fault that is switched off leaves the other draws as they are."""

    def __init__(self, chance: random.Random, enabled: frozenset[Fault]) -> None:
        self._chance = chance
        self._enabled = enabled
        self._rate = chance.choice((0.0, 0.1, 0.2, 0.4))
        self._backwards = chance.choice((0.0, 0.3))
        self._trouble = False

    def on_call(self, *, writes: bool) -> Fault | None:
        """The fault of the next call, if any."""
        # Trouble comes in spells: an outage fails several calls in a row.
        rate = 0.4 if self._trouble else self._rate if writes else self._rate / 8
        strikes = self._trouble = self._chance.random() < rate
        fault = self._chance.choice(_ON_WRITES if writes else _ON_READS)
        return fault if strikes and fault in self._enabled else None

    def coin(self) -> bool:
        """One of two variants of a fault."""
        return self._chance.random() < 0.5

    def clock_jump_ms(self) -> int:
        """How far back the clock jumps now; mostly not at all."""
        jump = self._chance.randrange(40_000) if self._chance.random() < self._backwards else 0
        return jump if Fault.CLOCK_BACK in self._enabled else 0

    def restarts(self) -> bool:
        """Whether a client whose operation ended in doubt repeats it."""
        return self._chance.random() < 0.8 and Fault.RESTART in self._enabled

    def plants_a_stray_file(self) -> bool:
        """Whether somebody interferes with this table's log."""
        return self._chance.random() < 0.15 and Fault.STRAY_FILE in self._enabled


class FaultyWire:
    """Every call waits for its turn, then meets its fault."""

    def __init__(self, turnstile: Turnstile, plan: FaultPlan, trace: list[Step]) -> None:
        self._turnstile = turnstile
        self._plan = plan
        self._trace = trace

    def call(
        self,
        name: str,
        perform: Callable[[], Answer],
        *,
        unanswered: Callable[[bool], Answer],
        writes: bool,
    ) -> Answer:
        self._turnstile.pause()
        fault = self._plan.on_call(writes=writes)
        match fault:
            case Fault.CRASH:
                if self._plan.coin():
                    self._unheard(name, perform, "crash after")
                else:
                    self._note(name, "crash before", None)
                raise Crash
            case Fault.LOST_REPLY:
                self._unheard(name, perform, "lost reply")
                return unanswered(False)
            case Fault.LOST_REQUEST:
                self._note(name, "lost request", None)
                return unanswered(self._plan.coin())
            case Fault.DELAYED_DUPLICATE:
                sender = threading.current_thread().name
                self._turnstile.post(lambda: self._unheard(name, perform, f"delayed from {sender}"))
                if self._plan.coin():
                    self._note(name, "to be delivered late", None)
                    return unanswered(False)
                return self._heard(name, perform, "to be delivered again")
            case Fault.RESENT:
                self._unheard(name, perform, "sent")
                return self._heard(name, perform, "sent again")
            case _:
                return self._heard(name, perform, "")

    def _heard(self, name: str, perform: Callable[[], Answer], how: str) -> Answer:
        try:
            answer = perform()
        except HeadgateError as exc:
            self._note(name, how, exc)
            raise
        self._note(name, how, answer)
        return answer

    def _unheard(self, name: str, perform: Callable[[], object], how: str) -> None:
        with suppress(HeadgateError):
            self._heard(name, perform, how)

    def _note(self, name: str, how: str, answer: object) -> None:
        self._trace.append((threading.current_thread().name, name, how, answer))
