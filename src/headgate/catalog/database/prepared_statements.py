"""The few statements of every commit, without SQLAlchemy's work around them.

It compiles each once, and from then on the driver is given the text: the work around a statement took
five times as long as the statement. Only for columns whose values are what the driver takes and gives.

``select(tables.c.latest).where(tables.c.table_id == bindparam("id"))`` is compiled once for each kind of
database:

    SQLite       SELECT tables.latest FROM tables WHERE tables.table_id = ?                       ("id",)
    PostgreSQL   SELECT tables.latest FROM tables WHERE tables.table_id = %(id)s::VARCHAR         by name

``benchmarks/serial_commits.py`` justifies it: a commit there is a handful of such statements and a sync.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError


@dataclass(frozen=True, slots=True)
class _DriverStatement:
    """A statement as one kind of driver takes it."""

    sql: str
    constants: Mapping[str, Any]
    order: Sequence[str] | None
    """Of its parameters, where they have no names."""
    errors: type[Exception]

    def run(self, db: Connection, values: Mapping[str, Any]) -> Any:
        """The driver's cursor after it ran."""
        named = {**self.constants, **values}
        given = named if self.order is None else tuple([named[name] for name in self.order])
        driver: Any = db.connection.driver_connection
        try:
            return driver.execute(self.sql, given)
        except self.errors as exc:
            raise DBAPIError.instance(self.sql, given, exc, self.errors) from exc


class PreparedStatement:
    """One statement, for every kind of database."""

    __slots__ = ("_statement", "_texts")

    def __init__(self, statement: Any) -> None:
        self._statement = statement
        self._texts: dict[str, _DriverStatement] = {}

    def row(self, db: Connection, values: Mapping[str, Any]) -> Sequence[Any] | None:
        """The one row that it finds, if any."""
        if _has_listeners(db):
            return db.execute(self._statement, values).one_or_none()
        found: Sequence[Any] | None = self._text(db).run(db, values).fetchone()
        return found

    def run(self, db: Connection, values: Mapping[str, Any]) -> None:
        """Have it change what it changes."""
        if _has_listeners(db):
            db.execute(self._statement, values)
        else:
            self._text(db).run(db, values)

    def _text(self, db: Connection) -> _DriverStatement:
        dialect = db.dialect
        if dialect.name not in self._texts:
            compiled = self._statement.compile(dialect=dialect)
            self._texts[dialect.name] = _DriverStatement(
                str(compiled),
                {name: bound.value for bound, name in compiled.bind_names.items() if not bound.required},
                compiled.positiontup,
                dialect.loaded_dbapi.Error,
            )
        return self._texts[dialect.name]


def _has_listeners(db: Connection) -> bool:
    """Whether somebody wants to hear of statements, who would not hear of these."""
    heard = db.engine.dispatch
    return bool(heard.before_cursor_execute or heard.after_cursor_execute)
