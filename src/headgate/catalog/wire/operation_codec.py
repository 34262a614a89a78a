"""How are the arguments of an operation, and its answer, written as JSON and read? Prepared once for each.

codec = codec_for(BY_METHOD[CommitCatalog.tail])
codec.encode_arguments((TableId("6f1c…"),), {})      b'{"table_id":"6f1c…"}'
codec.decode_arguments(b'{"table_id":"6f1c…"}')       {"table_id": "6f1c…"}
"""

import inspect
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from headgate.catalog.wire.conversions import Conversion, Conversions, plain_value
from headgate.catalog.wire.operations import Parameter, PortOperation
from headgate.errors import InvalidRequest

_FOR_REQUESTS = Conversions(strict=True)
_FOR_ANSWERS = Conversions(strict=False)
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class AnswerUnreadable(Exception):
    """What came is not the answer of this operation: it was cut off, or is somebody else's."""


_ENCODER = msgspec.json.Encoder(enc_hook=plain_value)


class OperationCodec:
    """The JSON of one operation; safe to share between threads."""

    def __init__(self, operation: PortOperation) -> None:
        self.operation = operation
        signature = operation.signature()
        self._names = tuple(each.name for each in signature)
        self._sending = {each.name: _FOR_ANSWERS.plan(each.annotation) for each in signature}
        strict = {each.name: _FOR_REQUESTS.plan(each.annotation) for each in signature}
        self._receiving = tuple((name, plan.from_wire) for name, plan in strict.items())
        self.arguments_type = _arguments_type(operation.path, signature, strict)
        self._arguments = msgspec.json.Decoder(self.arguments_type)
        self._result = _FOR_ANSWERS.plan(operation.result())
        self._results = msgspec.json.Decoder(self._result.wire)

    @property
    def result_type(self) -> Any:
        """The answer as msgspec sees it."""
        return self._result.wire

    def encode_arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bytes:
        """The body of a request; ``InvalidRequest`` if something in it cannot be sent."""
        given = {**dict(zip(self._names, args, strict=False)), **kwargs}
        try:
            return _ENCODER.encode({name: self._sending[name].send(value) for name, value in given.items()})
        except (TypeError, KeyError, AttributeError, UnicodeEncodeError, OverflowError) as exc:
            raise InvalidRequest(
                f"{self.operation.path} was called with something that cannot be sent ({exc}): it takes "
                f"{', '.join(self._names)}"
            ) from exc

    def decode_arguments(self, body: bytes) -> dict[str, Any]:
        """What a stranger asks for; ``InvalidRequest`` names the field that is wrong."""
        try:
            found = self._arguments.decode(body or b"{}")
            if b"\\u0000" in body and _NUL.search(body):
                raise InvalidRequest(
                    f"a text in the request for {self.operation.path} has the character NUL, which no "
                    "database keeps: leave it out"
                )
            return {
                name: getattr(found, name) if convert is None else convert(getattr(found, name))
                for name, convert in self._receiving
            }
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as exc:
            raise InvalidRequest(
                f"the request for {self.operation.path} is not as it must be: {exc}. Correct that field; it "
                f"takes {', '.join(self._names) or 'no arguments'}",
                operation=self.operation.path,
            ) from exc

    def encode_result(self, value: Any) -> bytes:
        """The body of an answer."""
        return _ENCODER.encode(self._result.send(value))

    def decode_result(self, body: bytes) -> Any:
        """What was answered; ``AnswerUnreadable`` if this is no whole answer."""
        try:
            return self._result.receive(self._results.decode(body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
            raise AnswerUnreadable(str(exc)) from exc


@cache
def codec_for(operation: PortOperation) -> OperationCodec:
    """The codec of an operation, prepared when it is first asked for."""
    return OperationCodec(operation)


def _arguments_type(path: str, signature: Sequence[Parameter], plans: Mapping[str, Conversion]) -> Any:
    fields: list[Any] = []
    for each in signature:
        field = (each.name, plans[each.name].wire)
        fields.append(field if each.default is inspect.Parameter.empty else (*field, each.default))
    name = "".join(word.capitalize() for word in re.split(r"[/_]", path))
    return msgspec.defstruct(f"{name}Arguments", fields, forbid_unknown_fields=True, kw_only=True)
