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
from typing import Any, TextIO

from typing_extensions import override

from headgate import tracing
from headgate.redaction import redact
from headgate.server.request_record import current_request_id

ACCESS = logging.getLogger("headgate.access")
FIELDS = "headgate_fields"
"""The attribute of a record under which more fields travel."""
_LONGEST = 4_096
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def set_up_logs(level: str, form: str, stream: TextIO | None = None) -> None:
    """Have what this process logs written as lines, to the standard error unless another is named."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("headgate").setLevel(_LEVELS[level])


@dataclass(frozen=True, slots=True)
class FieldsAsLine:
    """A message that is nothing but its fields: a JSON object to handlers that know of no fields."""

    title: str
    fields: Mapping[str, object]

    @override
    def __str__(self) -> str:
        return json.dumps(self.fields)


def log_access(fields: Mapping[str, Any]) -> None:
    """One line about a request that has its answer."""
    ACCESS.info("request", extra={FIELDS: fields})


class JsonLines(logging.Formatter):
    """A JSON object a line."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(_fields(record), default=str)  # signs that end a line somewhere are spelled out


class TextLines(logging.Formatter):
    """The same for people: what is most important first, then the rest."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        fields = dict(_fields(record))
        head = " ".join(str(fields.pop(name)) for name in ("time", "level", "logger", "message"))
        rest = " ".join(f"{name}={_one_line(str(value))}" for name, value in fields.items())
        return f"{_one_line(head)} {rest}".rstrip()


def _fields(record: logging.LogRecord) -> Mapping[str, Any]:
    moment = datetime.fromtimestamp(record.created, UTC)
    fields: dict[str, Any] = {
        "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
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


def _message(record: logging.LogRecord) -> str:
    if isinstance(record.msg, FieldsAsLine):  # its fields follow, cleaned one by one
        return record.msg.title
    return _clean(record.getMessage())


def _clean(text: str) -> str:
    """A text without credentials, half characters and boundless length."""
    shown = redact(text.encode(errors="backslashreplace").decode())
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}… ({len(shown)} characters)"


def _one_line(text: str) -> str:
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
