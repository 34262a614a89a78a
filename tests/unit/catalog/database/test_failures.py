"""A database that will never answer is not to be tried again, and the message says what to do."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql.types import LongType, StructType
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError, OperationalError

import headgate
from headgate.catalog.database import failures
from headgate.errors import CatalogUnavailable, DatabaseUnusable, Retry

IDS = StructType().add("id", LongType())


def _failure(url: str, statement: str) -> DBAPIError:
    engine = create_engine(url)
    with pytest.raises(DBAPIError) as caught, engine.connect() as connection:
        connection.execute(text(statement))
    return caught.value


def test_a_read_only_database_is_said_to_be_one(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    with create_engine(f"sqlite:///{path}").begin() as connection:
        connection.execute(text("CREATE TABLE t (x)"))

    failure = _failure(f"sqlite:///file:{path}?mode=ro&uri=true", "INSERT INTO t VALUES (1)")
    error = failures.unavailable_error(failure, f"sqlite:///{path}")

    assert isinstance(error, DatabaseUnusable) and error.retry is Retry.NEVER
    assert f"{path} cannot be written to: it is read-only" in error.message and "again" in error.message
    assert "right to write" in error.message


def test_what_may_pass_may_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    with create_engine(f"sqlite:///{path}").begin() as connection:
        connection.execute(text("CREATE TABLE t (x)"))
        connection.execute(text("INSERT INTO t VALUES (1)"))
        failure = _failure(f"sqlite:///{path}?timeout=0", "CREATE TABLE u (x)")

    error = failures.unavailable_error(failure, f"sqlite:///{path}")
    assert type(error) is CatalogUnavailable and error.retry is Retry.SAME


@pytest.mark.parametrize("sqlstate", ["25006", "3D000", "28P01", "42501", "53100"])
def test_postgresql_says_so_by_its_own_codes(sqlstate: str) -> None:
    said = type("Said", (Exception,), {"sqlstate": sqlstate})("no")

    error = failures.unavailable_error(OperationalError("", {}, said), "postgresql://ana:secret@host/lake")

    assert isinstance(error, DatabaseUnusable) and "secret" not in error.message


def _deleted(lake: Path) -> None:
    shutil.rmtree(lake)


def _replaced(lake: Path) -> None:
    copy = lake / "copy"
    shutil.copy(lake / "catalog.sqlite", copy)
    os.replace(copy, lake / "catalog.sqlite")


@pytest.mark.parametrize("lose", [_deleted, _replaced])
def test_nothing_is_acknowledged_that_goes_into_a_file_without_a_name(
    tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("s")
        table = lake.create_table("s.t", IDS)
        lose(tmp_path / "lake")

        for call in (lambda: lake.create_schema("t"), lake.tables, lambda: table.set_comment("lost?")):
            with pytest.raises(DatabaseUnusable, match="connect again"):
                call()
