"""What does a server write down? A line for each request, and whatever goes wrong: JSON objects, or text.

    {"time": "2026-11-18T07:00:00.123Z", "level": "info", "logger": "headgate.access", "message": "request",
     "request_id": "5f0c…", "principal": "ada", "method": "POST", "route": "/api/…/{lake:str}/propose",
     "status": 200, "milliseconds": 4.2}

A line is a line, whatever a caller puts into a name, and credentials are masked.
"""

import json
import logging
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO

import msgspec
from typing_extensions import override

from headgate import tracing
from headgate.redaction import redact
from headgate.server.request_record import current_request_id

ACCESS = logging.getLogger("headgate.access")
FIELDS = "headgate_fields"
"""The attribute of a record under which more fields travel."""
_LONGEST = 4_096
_SHORT = 128
_ENCODER = msgspec.json.Encoder(enc_hook=str)
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def set_up_logs(level: str, form: str, stream: TextIO | None = None) -> None:
    """Have what this process logs written as lines, to the standard error unless another is named."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("headgate").setLevel(_LEVELS[level])
    # No line tells of these, and to find them out takes as long as to write the line.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False


@dataclass(frozen=True, slots=True)
class FieldsAsLine:
    """A message that is nothing but its fields: a JSON object to handlers that know of no fields."""

    title: str
    fields: Mapping[str, object]

    @override
    def __str__(self) -> str:
        return json.dumps(self.fields)


def writes_access() -> bool:
    """Whether anybody wants lines about requests."""
    return ACCESS.isEnabledFor(logging.INFO)


def log_access(fields: Mapping[str, Any], moment: float | None = None) -> None:
    """One line about a request that got its answer, at that moment or just now."""
    log_fields(ACCESS, "request", fields, moment)


def log_fields(
    logger: logging.Logger, message: object, fields: Mapping[str, Any], moment: float | None = None
) -> None:
    """One line at level info with these fields, without asking from where in the source it comes."""
    if not logger.isEnabledFor(logging.INFO):
        return
    record = logger.makeRecord(logger.name, logging.INFO, __file__, 0, message, (), None)
    if moment is not None:
        record.created, record.msecs = moment, moment % 1 * 1000
    setattr(record, FIELDS, fields)
    logger.handle(record)


class JsonLines(logging.Formatter):
    """A JSON object a line."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        fields = _fields(record)
        try:
            line = _ENCODER.encode(fields).decode()
        except (
            TypeError,
            ValueError,
            OverflowError,
        ):  # the other encoder takes more
            line = ""
        # signs that end a line somewhere are spelled out
        return line if line and line.isascii() else json.dumps(fields, default=str)


class TextLines(logging.Formatter):
    """The same for people: what is most important first, then the rest."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        fields = dict(_fields(record))
        head = " ".join(str(fields.pop(name)) for name in ("time", "level", "logger", "message"))
        rest = " ".join(f"{name}={_one_line(str(value))}" for name, value in fields.items())
        return f"{_one_line(head)} {rest}".rstrip()


def _fields(record: logging.LogRecord) -> Mapping[str, Any]:
    fields: dict[str, Any] = {
        "time": _shown_moment(record.created),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": _message(record),
    }
    more = getattr(record, FIELDS, {})
    fields |= {name: _clean(value) if isinstance(value, str) else value for name, value in more.items()}
    if (request_id := current_request_id()) is not None:
        fields.setdefault("request_id", request_id)
    if (trace := tracing.trace_id()) is not None:
        fields["trace_id"] = trace
    if record.exc_info is not None and record.exc_info[0] is not None:
        fields["error"] = _clean("".join(traceback.format_exception(*record.exc_info)))
    return fields


def _shown_moment(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _message(record: logging.LogRecord) -> str:
    if isinstance(record.msg, FieldsAsLine):  # its fields follow, cleaned one by one
        return record.msg.title
    return _clean(record.getMessage())


def _clean(text: str) -> str:
    """A text without credentials, half characters and boundless length."""
    if len(text) <= _SHORT:
        return _clean_short(text)
    return _without_secrets(text)


@lru_cache(maxsize=4_096)
def _clean_short(text: str) -> str:
    """The same for the few that stand in line after line, such as routes and names of callers."""
    return _without_secrets(text)


def _without_secrets(text: str) -> str:
    shown = redact(text.encode(errors="backslashreplace").decode())
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}… ({len(shown)} characters)"


def _one_line(text: str) -> str:
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
