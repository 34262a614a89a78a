"""Who runs next? Threads one at a time, in an order that a seed decides.

Ordinary blocking code runs in ordinary threads; each asks to pause before every call that other
threads could notice, and a seeded choice says who goes on. Messages that were posted for later
compete with the threads for their moment.
"""

import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.support.waiting import PATIENCE_SECONDS

_STEP_LIMIT = 20_000


class Crash(BaseException):
    """The process of an actor is gone; nothing may catch this but the actor's own end."""


class Stopped(BaseException):
    """Another actor found a violation, so there is nothing more to do."""


class NoProgress(AssertionError):
    """The actors go round in circles, or one waits for a lock that another holds while paused."""


@dataclass(frozen=True, slots=True)
class _Message:
    deliver: Callable[[], None]
    sender: str
    after_pauses: int


class Turnstile:
    """Lets one thread through at a time."""

    def __init__(self, choices: random.Random) -> None:
        self._choices = choices
        self._gates: dict[str, threading.Lock] = {}
        self._pauses: dict[str, int] = {}
        self._messages: list[_Message] = []
        self._everyone_left = threading.Lock()
        self._failure: BaseException | None = None
        self._steps = 0

    def run(self, actors: Mapping[str, Callable[[], None]]) -> None:
        """Run every actor to its end; raises the first failure that is not a crash."""
        threads = []
        for name, body in actors.items():
            self._gates[name] = threading.Lock()
            self._gates[name].acquire()
            self._pauses[name] = 0
            threads.append(threading.Thread(target=self._act, args=(name, body), name=name, daemon=True))
        self._everyone_left.acquire()
        for thread in threads:
            thread.start()
        self._gates[self._pick()].release()
        if not self._everyone_left.acquire(timeout=PATIENCE_SECONDS):
            raise NoProgress("an actor neither paused nor ended")
        for thread in threads:
            thread.join()
        if self._failure is not None:
            raise self._failure

    def pause(self) -> None:
        """Let the seed decide who goes on; only actors may call this."""
        me = threading.current_thread().name
        if me not in self._gates:
            return  # not an actor: the calls made before and after the run
        self._pauses[me] += 1
        self._steps += 1
        if self._steps > _STEP_LIMIT and self._failure is None:
            raise NoProgress(f"still not done after {_STEP_LIMIT} steps")
        chosen = self._pick()
        if chosen != me:
            self._gates[chosen].release()
            self._gates[me].acquire()
        if self._failure is not None:
            raise Stopped

    def post(self, deliver: Callable[[], None]) -> None:
        """Have a message delivered later: any time after its sender's next pause, or after its end."""
        me = threading.current_thread().name
        self._messages.append(_Message(deliver, me, self._pauses.get(me, 0) + 1))

    def drain(self) -> None:
        """Deliver what is still on its way, in any order."""
        while self._messages:
            self._messages.pop(self._choices.randrange(len(self._messages))).deliver()

    def _act(self, name: str, body: Callable[[], None]) -> None:
        self._gates[name].acquire()
        try:
            if self._failure is None:
                body()
        except (Crash, Stopped):
            pass
        except BaseException as exc:
            self._failure = self._failure or exc
        del self._gates[name], self._pauses[name]
        try:
            chosen = self._pick() if self._gates else None
        except BaseException as exc:
            self._failure = self._failure or exc
            chosen = next(iter(self._gates))
        if chosen is None:
            self._everyone_left.release()
        else:
            self._gates[chosen].release()

    def _pick(self) -> str:
        names = list(self._gates)
        while True:
            ready = (
                [] if self._failure else [message for message in self._messages if self._is_ready(message)]
            )
            index = self._choices.randrange(len(names) + len(ready))
            if index < len(names):
                return names[index]
            message = ready[index - len(names)]
            self._messages.remove(message)
            message.deliver()

    def _is_ready(self, message: _Message) -> bool:
        return self._pauses.get(message.sender, message.after_pauses + 1) > message.after_pauses
