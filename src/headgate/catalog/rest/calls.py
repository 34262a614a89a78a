"""What does a client do if no answer comes? What the row of the operation says: ask again, or say so.

Once a request was sent and not answered it is in doubt, and stays so until an answer says what happened.
That a later attempt was refused, or not sent at all, is no such answer: the first may still arrive.
"""

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import quote

from headgate.catalog.ports.commits import Unknown
from headgate.catalog.rest.transport import AnswerLost, HttpAnswer, HttpTransport, NotSent
from headgate.catalog.wire.lake_description import ACTING_AS, BASE_PATH
from headgate.catalog.wire.operation_codec import AnswerUnreadable, OperationCodec, codec_for
from headgate.catalog.wire.operations import BY_METHOD, PortOperation, Repeat
from headgate.catalog.wire.wire_errors import INTERNAL, decode_error
from headgate.errors import CatalogUnavailable, CommitUnknown, HeadgateError, InvalidRequest

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 2.0


def pause_before(attempt: int) -> None:
    """Wait longer from attempt to attempt, each client differently; not before the first."""
    if attempt:
        time.sleep(random.uniform(0, min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE)))


class WriteCount:
    """How often something was written through a client; safe to share between threads."""

    def __init__(self) -> None:
        self.value = 0
        self._lock = threading.Lock()

    def add(self) -> None:
        with self._lock:
            self.value += 1


@dataclass(frozen=True, slots=True)
class LakeCalls:
    """Calls the operations of one lake, on behalf of one principal; safe to share between threads."""

    transport: HttpTransport
    lake: str
    attempts: int
    acting_as: str | None = None
    """For whom, if that is not who the token is of."""
    writes: WriteCount = field(default_factory=WriteCount)

    @property
    def headers(self) -> Mapping[str, str]:
        return {} if self.acting_as is None else {ACTING_AS: quote(self.acting_as, safe="")}

    def call(self, operation: PortOperation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What the catalog answers."""
        codec = codec_for(operation)
        body = codec.encode_arguments(args, kwargs)
        try:
            return _Attempts(self, codec, body).answer()
        finally:
            if operation.repeat is not Repeat.READ:
                self.writes.add()  # after the answer: what was read before it is older

    def exchange(self, operation: PortOperation, body: bytes) -> HttpAnswer:
        path = f"{BASE_PATH}/lakes/{quote(self.lake, safe='')}/{operation.path}"
        return self.transport.exchange("POST", path, body, self.headers)


@dataclass(slots=True)
class _Attempts:
    """One call, as often as it is sent."""

    calls: LakeCalls
    codec: OperationCodec
    body: bytes
    doubt: str | None = None
    """Why nobody can say what became of an attempt, if there is one of which that is true."""
    failure: str = ""
    refusal: CatalogUnavailable | None = None
    """What a server said that could not do anything just now."""

    @property
    def repeat(self) -> Repeat:
        return self.codec.operation.repeat

    def answer(self) -> Any:
        for attempt in range(self.calls.attempts):
            pause_before(attempt)
            try:
                return self._answered(self.calls.exchange(self.codec.operation, self.body))
            except NotSent as exc:
                self.failure = str(exc)
            except CatalogUnavailable as exc:  # it stops, or is busy, and has changed nothing
                self.failure, self.refusal = str(exc), exc
            except (AnswerLost, AnswerUnreadable) as exc:
                self.doubt = self.failure = str(exc)
                if self.repeat is Repeat.ONCE:
                    break
            except HeadgateError as exc:
                if self.doubt is None or self.repeat is Repeat.READ:
                    raise
                self.failure = f"{self.doubt}; asked again, it refused: {exc}"
                break
        return self._undecided()

    def _answered(self, answer: HttpAnswer) -> Any:
        if answer.status == 200:
            return self.codec.decode_result(answer.content)
        error = decode_error(answer.content)
        if error is None and answer.status in range(300, 500):  # nothing was done, and redirects lead away
            raise InvalidRequest(
                f"{self.calls.transport.root} answered {answer.status}, and not as a Headgate server does: "
                "correct the address, or ask who runs the proxy in front of it"
            )
        if error is None or (error.code == INTERNAL and self.repeat is not Repeat.READ):
            raise AnswerLost(f"it answered {answer.status}" + ("" if error is None else f": {error.message}"))
        raise error

    def _undecided(self) -> Any:
        where, what = self.calls.transport.root, self.codec.operation.path
        if self.doubt is None or self.repeat is Repeat.READ:
            if self.refusal is not None:
                raise self.refusal
            raise CatalogUnavailable(
                f"the catalog at {where} did not answer {what}: {self.failure}. Nothing was changed; see "
                "whether the server runs and can be reached, and try again"
            )
        told = f"the catalog at {where} may have done {what}, and its answer was lost: {self.failure}"
        if self.repeat is Repeat.OUTCOME:
            return Unknown(told)
        raise CommitUnknown(f"{told}. Look whether it happened before doing it again")


class RemotePart:
    """A part of a catalog whose methods are operations at the far end of a wire."""

    def __init__(self, calls: LakeCalls, *taking: Any) -> None:
        self._calls = calls
        self._taking = taking
        """What it takes to reach the part."""

    def _call(self, operation: PortOperation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return self._calls.call(operation, (*self._taking, *args), kwargs)


def remote(
    method: Callable[Concatenate[Any, Arguments], Returned],
) -> Callable[Concatenate[Any, Arguments], Returned]:
    """The method of a port, done at the far end: with its signature, its types and its docstring."""
    operation = BY_METHOD[method]

    @wraps(method)
    def call(part: RemotePart, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        answer: Returned = part._call(operation, args, kwargs)
        return answer

    return call
