"""The boundary of calls: arguments taken as meant, errors told by the name of their table and briefly."""

import pickle
import traceback
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from headgate.calls.arguments import KINDS
from headgate.calls.boundary import FULL_TRACEBACKS, PLAIN, Boundary, CallSubject
from headgate.errors import HeadgateError, InvalidRequest, TableNotFound


@PLAIN.user_calls
class Door:
    """One parameter of each kind."""

    def _subject(self) -> CallSubject:
        return CallSubject("s.door", "/lake/7d5b4e4c", {"7d5b4e4c": "s.door"})

    def version(self, version: int | None = None) -> object:
        return version

    def names(self, *columns: str) -> object:
        return columns

    def listed(self, partition_by: str | tuple[str, ...] | list[str]) -> object:
        return partition_by

    def moment(self, timestamp: datetime | str) -> object:
        return timestamp

    def has_attempts_left(self, ttl: timedelta) -> object:
        return ttl

    def fails(self) -> None:
        try:
            raise OSError("the disk is gone")
        except OSError as exc:
            raise TableNotFound("there is no table 7d5b4e4c in /lake/7d5b4e4c") from exc


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (lambda door: door.version("3"), 3),
        (lambda door: door.version(" 12 "), 12),
        (lambda door: door.version(None), None),
        (lambda door: door.names("a", "b"), ("a", "b")),
        (lambda door: door.names(["a", "b"]), ("a", "b")),
        (lambda door: door.names(), ()),
        (lambda door: door.listed("day"), ("day",)),
        (lambda door: door.listed(["day", "id"]), ("day", "id")),
        (lambda door: door.moment(date(2026, 1, 31)), "2026-01-31"),
    ],
)
def test_arguments_are_taken_as_spark_users_write_them(given: Callable[[Any], object], meant: object) -> None:
    assert given(Door()) == meant


@pytest.mark.parametrize("version", [True, 3.5, "3.0", "", [3]])
def test_what_is_no_version_is_none(version: Any) -> None:
    with pytest.raises(InvalidRequest, match=r"table s\.door: version must be a whole number"):
        Door().version(version)


def test_what_python_says_best_it_says_itself() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'versoin'"):
        Door().version(versoin=3)  # type: ignore[call-arg]


def test_an_error_is_told_by_name_and_without_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TableNotFound) as caught:
        Door().fails()

    assert caught.value.message == "there is no table s.door in /lake/7d5b4e4c"
    shown = "".join(traceback.format_exception(caught.value))
    assert "the disk is gone" not in shown and "in fails" not in shown
    assert isinstance(caught.value.cause, OSError)
    assert "the disk is gone" in caught.value.details() and "in fails" in caught.value.details()

    monkeypatch.setenv(FULL_TRACEBACKS, "1")
    with pytest.raises(TableNotFound) as whole:
        Door().fails()
    assert isinstance(whole.value.__cause__, OSError)


def test_a_call_within_a_call_is_told_once() -> None:
    @PLAIN.user_call
    def outer(name: str) -> None:
        Door().fails()

    with pytest.raises(TableNotFound) as caught:
        outer("s.other")

    assert "in fails" in caught.value.details() and isinstance(caught.value.cause, OSError)


def test_errors_can_be_sent_to_another_process() -> None:
    with pytest.raises(HeadgateError) as caught:
        Door().fails()

    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.code) == (TableNotFound, str(caught.value), caught.value.code)


class _Refused(Exception):
    """What another library raises."""


def test_what_another_library_means_is_told_as_an_error_of_ours() -> None:
    def meaning(failure: Exception) -> HeadgateError | None:
        return InvalidRequest("it was refused") if isinstance(failure, _Refused) else None

    boundary = Boundary(KINDS, meaning)

    @boundary.user_call
    def call(name: str, failure: Exception) -> None:
        raise failure

    with pytest.raises(InvalidRequest, match=r"table s\.t: it was refused") as caught:
        call("s.t", _Refused("code 7"))
    assert isinstance(caught.value.cause, _Refused) and "in call" in caught.value.details()
    with pytest.raises(KeyError):
        call("s.t", KeyError("ours to mend"))


def test_what_only_looks_as_if_it_could_be_iterated_is_no_list_of_names() -> None:
    class Expression:
        def __iter__(self) -> None:
            raise TypeError("an expression cannot be iterated")

    with pytest.raises(InvalidRequest, match="partition_by must be a list of names, not an Expression"):
        Door().listed(Expression())  # type: ignore[arg-type]
