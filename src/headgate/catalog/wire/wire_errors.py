"""How does an error cross the wire? By the name of its class, so that the client raises the same one.

{"class": "TableNotFound", "code": "DELTA_TABLE_NOT_FOUND", "message": "…", "retry": "never",
 "fields": {"name": "sales.orders"}}
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from headgate import errors
from headgate.catalog.wire.conversions import plain_value
from headgate.errors import HeadgateError

INTERNAL = "HEADGATE_INTERNAL"
"""The code of what nobody expected: whether something happened before it, it does not say."""


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """An error as it travels."""

    kind: str = msgspec.field(name="class")
    code: str
    message: str
    retry: str = errors.Retry.NEVER.value
    fields: dict[str, Any] = {}
    request_id: str | None = msgspec.field(name="requestId", default=None)
    """Under which the log of the server has it."""


def _all_kinds(kind: type[HeadgateError]) -> Iterator[type[HeadgateError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _all_kinds(below)


_KINDS: Mapping[str, type[HeadgateError]] = {
    kind.__name__: kind for kind in _all_kinds(HeadgateError) if kind.__module__ == errors.__name__
}
_ENCODER = msgspec.json.Encoder(enc_hook=plain_value)
_DECODER = msgspec.json.Decoder(ErrorBody)


def error_body(error: Exception, *, hidden: str = "") -> ErrorBody:
    """The error as it travels; of one that is not ours nothing is told but what ``hidden`` says."""
    if not isinstance(error, HeadgateError):
        return ErrorBody(kind=HeadgateError.__name__, code=INTERNAL, message=hidden)
    kind = next(each for each in type(error).__mro__ if each.__name__ in _KINDS)
    fields = {name: _plain(value) for name, value in error.fields.items() if _travels(value)}
    return ErrorBody(
        kind=kind.__name__, code=error.code, message=error.message, retry=error.retry.value, fields=fields
    )


def _plain(value: Any) -> Any:
    """A name without what its credentials limit it to, which is nobody's business."""
    return str(value) if isinstance(value, str) else value


def _travels(value: object) -> bool:
    try:
        _ENCODER.encode(value)
    except (TypeError, UnicodeEncodeError, OverflowError):
        return False
    return True


def encode_error(body: ErrorBody) -> bytes:
    """The body of an answer that is an error."""
    try:
        return _ENCODER.encode(body)
    except UnicodeEncodeError:  # a name that somebody gave may have half a character
        return _ENCODER.encode(msgspec.structs.replace(body, message=ascii(body.message), fields={}))


def decode_error(content: bytes) -> HeadgateError | None:
    """The error that was answered, of the same class; None if this is no answer of ours."""
    try:
        body = _DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    fields = {name: value for name, value in body.fields.items() if name not in ("message", "code", "self")}
    return _KINDS.get(body.kind, HeadgateError)(body.message, code=body.code, **fields)
