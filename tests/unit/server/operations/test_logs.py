"""A line is a line, and tells no secrets, whatever callers and errors put into it (T11, T15)."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from headgate.server.operations import logs
from headgate.server.request_record import RequestRecord, begin_request

HOSTILE = (
    "a\r\nlevel=error forged",
    "a\x1b[31mred",
    "a\x00b\x0bc\u2028d\u2029e\x85f",
    "half \ud800 character",
    "postgresql://u:hunter2@db/x",
    "AKIAABCDEFGHIJKLMNOP",
    "x" * 100_000,
)


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = root.handlers[:], root.level, logging.getLogger("headgate").level
    yield io.StringIO()
    root.handlers[:], root.level = before[0], before[1]
    logging.getLogger("headgate").setLevel(before[2])


@pytest.mark.parametrize("form", ["json", "text"])
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_line_is_one_line_without_secrets(lines: io.StringIO, form: str, text: str) -> None:
    logs.set_up_logs("info", form, lines)
    logging.getLogger("headgate.test").warning("name is %s", text)
    logs.log_access({"principal": text})

    written = lines.getvalue()
    assert len(written.splitlines()) == 2
    assert not any(sign in written for sign in ("\r", "\x1b", "\x00", "hunter2", "AKIAABCDEFGHIJKLMNOP"))
    assert len(written) < 20_000


def test_a_json_line_has_the_request_and_its_fields(lines: io.StringIO) -> None:
    logs.set_up_logs("info", "json", lines)
    begin_request(RequestRecord("r1"))
    logs.log_access({"status": 200})
    try:
        raise ValueError("inside")
    except ValueError:
        logging.getLogger("headgate.test").exception("it failed")

    access, failure = map(json.loads, lines.getvalue().splitlines())
    assert (access["level"], access["request_id"], access["status"]) == ("info", "r1", 200)
    assert (failure["level"], failure["request_id"]) == ("error", "r1")
    assert "ValueError: inside" in failure["error"]


def test_a_level_keeps_out_what_is_below_it(lines: io.StringIO) -> None:
    logs.set_up_logs("warning", "json", lines)
    logs.log_access({"status": 200})
    logging.getLogger("headgate.test").warning("this")

    assert [json.loads(line)["message"] for line in lines.getvalue().splitlines()] == ["this"]
