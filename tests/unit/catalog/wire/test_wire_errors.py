"""An error is the same on the other side: its class, its code, its message and its fields."""

import pytest

from headgate import errors
from headgate.catalog.ports.access import ScopedPrincipal, TokenScope
from headgate.catalog.wire import wire_errors
from headgate.catalog.wire.wire_errors import decode_error, encode_error, error_body
from headgate.errors import HeadgateError, InvalidRequest, TableNotFound

KINDS = sorted(wire_errors._KINDS.values(), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_arrives_as_itself(kind: type[HeadgateError]) -> None:
    error = kind("it went wrong", code="SOME_CODE", name="s.t", version=3, winners=[1, 2])

    found = decode_error(encode_error(error_body(error)))

    assert type(found) is kind
    assert (found.message, found.code, found.fields) == (error.message, error.code, error.fields)
    assert found.retry is error.retry


def test_every_error_there_is_travels() -> None:
    named = {kind for kind in vars(errors).values() if isinstance(kind, type)}

    assert {kind for kind in named if issubclass(kind, HeadgateError)} == set(KINDS)


def test_an_error_of_elsewhere_arrives_as_the_nearest_that_is_known() -> None:
    class Special(TableNotFound):
        pass

    assert type(decode_error(encode_error(error_body(Special("gone"))))) is TableNotFound


def test_fields_that_are_no_json_stay_behind() -> None:
    error = InvalidRequest("it went wrong", place=object(), cause=ValueError("x"), version=3)

    found = decode_error(encode_error(error_body(error)))

    assert found is not None
    assert found.fields == {"version": 3}


def test_a_name_that_is_more_than_a_text_travels_as_one() -> None:
    error = InvalidRequest("no", principal=ScopedPrincipal("ada", TokenScope(read_only=True)))

    found = decode_error(encode_error(error_body(error)))

    assert found is not None
    assert found.fields == {"principal": "ada"}


def test_of_what_nobody_expected_nothing_is_told() -> None:
    found = decode_error(encode_error(error_body(KeyError("password=hunter2"), hidden="see the log")))

    assert type(found) is HeadgateError
    assert (found.code, found.message) == (wire_errors.INTERNAL, "see the log")


def test_half_a_character_does_no_harm() -> None:
    found = decode_error(encode_error(error_body(TableNotFound("no \ud800", name="\ud800"))))

    assert type(found) is TableNotFound


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b"{}", b'{"class": "TableNotFound"}', b"\xff"])
def test_what_another_server_says_is_no_error_of_ours(content: bytes) -> None:
    assert decode_error(content) is None


def test_a_field_cannot_pass_for_the_message() -> None:
    body = b'{"class":"InvalidRequest","code":"A","message":"m","fields":{"message":"x","code":"B","self":1}}'

    found = decode_error(body)

    assert found is not None
    assert (found.message, found.code, found.fields) == ("m", "A", {})
