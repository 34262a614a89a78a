"""New databases of tests get their schema in one go: to run all migrations takes twenty times as long.

The first new SQLite database of a run is made as everybody's is, and its schema is remembered; later ones get
it in the same transaction of the code under test. Databases that have a schema are migrated as ever, and
suites about new databases themselves (``ABOUT_NEW_DATABASES``) get real ones.
"""

import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect

from headgate.catalog.database import engine, schema_upgrade

ABOUT_NEW_DATABASES = ("test_schema_upgrade", "test_private_files", "test_older_lakes", "test_descriptions")
_upgrade = schema_upgrade.upgrade


@contextmanager
def remembered_schema() -> Iterator[None]:
    """In this block new databases get the schema that is remembered."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema_upgrade, "upgrade", _create_or_upgrade)
        yield


def _create_or_upgrade(connection: Connection) -> None:
    if connection.dialect.name != "sqlite" or inspect(connection).get_table_names():
        _upgrade(connection)
        return
    for statement in _statements():
        connection.exec_driver_sql(statement)


@cache
def _statements() -> Sequence[str]:
    """What makes the newest schema."""
    with (
        tempfile.TemporaryDirectory(prefix="headgate-migrated-") as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(schema_upgrade, "upgrade", _upgrade)
        path = Path(folder, "catalog.db")
        engine.open_sqlite(path).close()
        with closing(sqlite3.connect(path)) as connection:
            return tuple(connection.iterdump())[1:-1]  # without BEGIN and COMMIT
