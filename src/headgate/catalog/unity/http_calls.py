"""How is a Unity Catalog server asked? Once at a time, knowing whether a request can have had an effect.

A request that was never sent raises ``CatalogUnavailable``. One that was sent and got no answer is a
``NoAnswer``: only whoever sent it knows what that means, and nothing here sends it again unless it is safe.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from urllib.parse import quote, urlencode

from headgate.catalog.rest.transport import AnswerLost, HttpTransport, NotSent
from headgate.errors import CatalogUnavailable
from headgate.redaction import redact

SAFE_ATTEMPTS = 3
"""How often a request is sent that changes nothing, or nothing more when it is repeated."""


@dataclass(frozen=True, slots=True)
class UnityAnswer:
    """What a server answered."""

    status: int
    body: bytes = field(repr=False)

    @property
    def is_success(self) -> bool:
        return self.status < 300

    @property
    def is_failure(self) -> bool:
        """Whether the server failed, so that nobody knows how far it came."""
        return self.status >= 500 and self.status != 501


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The request was sent, and what became of it is not known."""

    reason: str


Answered = UnityAnswer | NoAnswer


class UnityServer:
    """One server, on behalf of whoever has the token; safe to share between threads."""

    def __init__(self, transport: HttpTransport) -> None:
        self.address = transport.root
        self._transport = transport
        self._lock = threading.Lock()
        self._clock_ms: int | None = None

    def send(
        self, method: str, path: str, body: bytes | None = None, *, query: Mapping[str, str] | None = None
    ) -> Answered:
        """Send once; ``CatalogUnavailable`` if it is certain that nothing arrived."""
        try:
            answer = self._transport.exchange(method, path + (f"?{urlencode(query)}" if query else ""), body)
        except NotSent as exc:
            raise CatalogUnavailable(
                f"the Unity Catalog server at {self.address} could not be reached, so nothing was changed: "
                f"see that it runs and that its address is right ({redact(str(exc))})"
            ) from exc
        except AnswerLost as exc:
            return NoAnswer(redact(f"{method} {path}: {exc}"))
        self._note_clock(answer.date)
        return UnityAnswer(answer.status, answer.content)

    def send_safely(
        self, method: str, path: str, body: bytes | None = None, *, query: Mapping[str, str] | None = None
    ) -> UnityAnswer:
        """The answer to what may be sent more than once; ``CatalogUnavailable`` if there is none."""
        reason = ""
        for _ in range(SAFE_ATTEMPTS):
            answered = self.send(method, path, body, query=query)
            if isinstance(answered, UnityAnswer) and not answered.is_failure:
                return answered
            reason = answered.reason if isinstance(answered, NoAnswer) else f"status {answered.status}"
        raise CatalogUnavailable(
            f"the Unity Catalog server at {self.address} did not answer {method} {path}, {SAFE_ATTEMPTS} "
            f"times ({reason}): try again in a moment"
        )

    @property
    def clock_ms(self) -> int | None:
        """The time by the server's own clock when it last answered, if it says."""
        with self._lock:
            return self._clock_ms

    def _note_clock(self, date: str | None) -> None:
        try:
            moment = None if date is None else int(parsedate_to_datetime(date).timestamp() * 1000)
        except (ValueError, TypeError):
            moment = None
        with self._lock:
            self._clock_ms = moment

    def close(self) -> None:
        self._transport.close()


def segment(text: str) -> str:
    """A name as one segment of a path."""
    return quote(text, safe="")
