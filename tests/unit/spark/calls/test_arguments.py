"""Arguments of public calls: taken as meant, or refused before anything is done; none ends in a TypeError."""

import inspect
import pickle
import traceback
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import LongType, StructType

import headgate
from headgate import Lake, Table
from headgate.errors import HeadgateError, InvalidRequest, TableNotFound
from headgate.lake.transaction import LakeSnapshot, LakeTransaction
from headgate.spark.calls import arguments
from headgate.spark.calls.user_calls import FULL_TRACEBACKS, Subject, user_call, user_calls
from headgate.spark.dml.merge.merge import Merge
from headgate.spelling import did_you_mean

IDS = StructType().add("id", LongType())
CLASSES = (Lake, Table, LakeTransaction, LakeSnapshot, Merge)
FUNCTIONS = (headgate.connect, headgate.at_path, headgate.write_path, headgate.check_path, headgate.convert)
LEFT_TO_THE_CALL = {
    "callback", "generator", "kinds", "owner", "policy", "privilege", "source", "spark", "value", "when",
    "options", "mode", "kind", "error", "trace",
}  # fmt: skip
"""Parameters of types that no row is about, each with words of its own or none to misunderstand."""


class Odd:
    """Something that no argument can be."""


def _calls() -> Iterator[tuple[str, Callable[..., Any]]]:
    for function in FUNCTIONS:
        yield function.__name__, inspect.unwrap(function)
    for cls in CLASSES:
        for name, function in inspect.getmembers(cls, inspect.isfunction):
            if not name.startswith("_"):
                yield f"{cls.__name__}.{name}", inspect.unwrap(function)


@pytest.mark.parametrize(("call", "function"), [pytest.param(*row, id=row[0]) for row in _calls()])
def test_every_parameter_has_a_row_that_refuses_what_is_no_such_thing(
    call: str, function: Callable[..., Any]
) -> None:
    signature, rows = arguments._signature(function)
    for name, parameter in signature.parameters.items():
        if name in LEFT_TO_THE_CALL | {"self"}:
            continue
        row = rows[name]
        assert row is not None, f"no row is about {name} of {call}"
        odd: object = (Odd(),) if parameter.kind is parameter.VAR_POSITIONAL else Odd()
        with pytest.raises(
            InvalidRequest, match=rf"^\[DELTA_ILLEGAL_OPTION\] {name} must be .*, not an Odd: \w+"
        ):
            arguments._taken(row, name, odd)


@user_calls
class Door:
    """One parameter of each kind."""

    def _subject(self) -> Subject:
        return Subject("s.door", "/lake/7d5b4e4c", {"7d5b4e4c": "s.door"})

    def version(self, version: int | None = None) -> object:
        return version

    def names(self, *columns: str) -> object:
        return columns

    def listed(self, partition_by: str | tuple[str, ...] | list[str]) -> object:
        return partition_by

    def moment(self, timestamp: datetime | str) -> object:
        return timestamp

    def lasts(self, ttl: timedelta) -> object:
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
    @user_call
    def outer(name: str) -> None:
        Door().fails()

    with pytest.raises(TableNotFound) as caught:
        outer("s.other")

    assert "in fails" in caught.value.details() and isinstance(caught.value.cause, OSError)


def test_one_column_needs_no_list(tmp_path: Path) -> None:
    wide = StructType([*IDS.fields, *StructType().add("day", LongType()).fields])
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("s")
        made = lake.create_table("s.t", wide, partition_by="day")
        clustered = lake.create_table("s.c", wide, cluster_by="day")

        assert made.log.snapshot().state.metadata.partition_columns == ("day",)
        assert "delta.clustering" in clustered.log.snapshot().state.domains
        with lake.transaction("s.t") as tx:
            assert tx.table("s.t").version() == 0


@pytest.mark.parametrize(
    ("asked", "known", "says"),
    [
        ("dya", ["id", "day"], " did you mean 'day'?"),
        ("ORDER", ["orders", "x"], " did you mean 'orders'?"),
        ("zzz", ["id", "day"], ""),
        ("a", [], ""),
    ],
)
def test_near_names_are_told(asked: str, known: list[str], says: str) -> None:
    assert did_you_mean(asked, known) == says


def test_what_all_have_in_common_makes_none_nearer() -> None:
    assert did_you_mean("nothing", ["plain"], prefix="/a/long/way/") == ""
    assert did_you_mean("plane", ["plain"], prefix="/a/") == " did you mean '/a/plain'?"


def test_errors_can_be_sent_to_another_process() -> None:
    with pytest.raises(HeadgateError) as caught:
        Door().fails()

    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.code) == (TableNotFound, str(caught.value), caught.value.code)
