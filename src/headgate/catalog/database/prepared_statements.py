"""The few statements of every commit, without SQLAlchemy's work around them.

It compiles each once, and from then on the driver is given the text: the work around a statement took
five times as long as the statement. Only for columns whose values are what the driver takes and gives.

``select(tables.c.latest).where(tables.c.table_id == bindparam("id"))`` is compiled once for each kind of
database:

    SQLite       SELECT tables.latest FROM tables WHERE tables.table_id = ?                       ("id",)
    PostgreSQL   SELECT tables.latest FROM tables WHERE tables.table_id = %(id)s::VARCHAR         by name

A list of any length is one parameter, so that the statement stays the same (``is_any_of``,
``list_parameter``):

    SQLite       table_id IN (SELECT value FROM json_each(?))                           ('["id","other"]',)
    PostgreSQL   table_id = ANY(%(ids)s::VARCHAR[])                                                 by name

What never changes stands in the text. SQLite plans a statement anew, in seven times the time it takes to
run, whenever a value is bound that an index may depend on, as ``state = ?`` does where an index has only the
rows ``WHERE state = 'live'``.

``benchmarks/serial_commits.py`` justifies it: a commit there is a handful of such statements and a sync.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import (
    ARRAY,
    BindParameter,
    Boolean,
    ColumnElement,
    Connection,
    String,
    bindparam,
    literal_column,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import visitors
from typing_extensions import override


@dataclass(frozen=True, slots=True)
class _DriverStatement:
    """A statement as one kind of driver takes it."""

    sql: str
    constants: Mapping[str, Any]
    """The values of parameters that the compiler added."""
    order: Sequence[str] | None
    """Of its parameters, where they have no names."""
    errors: type[Exception]

    def run(self, db: Connection, values: Mapping[str, Any]) -> Any:
        """The driver's cursor after it ran."""
        given = self._given(values)
        driver: Any = db.connection.driver_connection
        try:
            return driver.execute(self.sql, given)
        except self.errors as exc:
            raise DBAPIError.instance(self.sql, given, exc, self.errors) from exc

    def run_many(self, db: Connection, many: Iterable[Mapping[str, Any]]) -> None:
        """Run it once for each of these; a server hears of all of them at once."""
        given = [self._given(values) for values in many]
        driver: Any = db.connection.driver_connection
        try:
            driver.cursor().executemany(self.sql, given)
        except self.errors as exc:
            raise DBAPIError.instance(self.sql, given, exc, self.errors) from exc

    def _given(self, values: Mapping[str, Any]) -> Any:
        named = {**self.constants, **values} if self.constants else values
        return named if self.order is None else tuple([named[name] for name in self.order])


class _AnyOf(ColumnElement[bool]):
    """That a column has one of the values of a list."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, column: ColumnElement[str], name: str) -> None:
        self.column = column
        self.name = name

    @override
    def self_group(self, against: Any = None) -> "_AnyOf":
        """Itself: as ``(… IN …) = 1``, which it would be beside an AND, SQLite uses no index for it."""
        return self


def is_any_of(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """That a column has one of the texts of the list of this name."""
    return _AnyOf(column, name)


def list_parameter(db: Connection, texts: Iterable[str]) -> str | list[str]:
    """A list of texts, as the parameter of ``is_any_of``."""
    found = list(texts)
    return msgspec.json.encode(found).decode() if db.dialect.name == "sqlite" else found


@compiles(_AnyOf, "sqlite")
def _any_of_sqlite(element: _AnyOf, compiler: Any, **given: Any) -> str:
    column = compiler.process(element.column, **given)
    return f"{column} IN (SELECT value FROM json_each({compiler.process(bindparam(element.name), **given)}))"


@compiles(_AnyOf, "postgresql")
def _any_of_postgresql(element: _AnyOf, compiler: Any, **given: Any) -> str:
    column = compiler.process(element.column, **given)
    texts = bindparam(element.name, type_=ARRAY(String))
    return f"{column} = ANY({compiler.process(texts, **given)})"


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

    def rows(self, db: Connection, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """All rows that it finds."""
        if _has_listeners(db):
            return db.execute(self._statement, values).all()
        found: Sequence[Sequence[Any]] = self._text(db).run(db, values).fetchall()
        return found

    def run_many(self, db: Connection, many: Sequence[Mapping[str, Any]]) -> None:
        """Have it change what it changes, once for each of these, in one go."""
        if not many:
            return  # with no values at all SQLAlchemy would insert a row of defaults
        if len(many) == 1:
            self.run(db, many[0])
        elif _has_listeners(db):
            db.execute(self._statement, many)
        else:
            self._text(db).run_many(db, many)

    def run(self, db: Connection, values: Mapping[str, Any]) -> None:
        """Have it change what it changes."""
        if _has_listeners(db):
            db.execute(self._statement, values)
        else:
            self._text(db).run(db, values)

    def _text(self, db: Connection) -> _DriverStatement:
        dialect = db.dialect
        if dialect.name not in self._texts:
            constant = visitors.replacement_traverse(self._statement, {}, _in_the_text)
            compiled = constant.compile(dialect=dialect)
            self._texts[dialect.name] = _DriverStatement(
                str(compiled),
                {name: bound.value for bound, name in compiled.bind_names.items() if not bound.required},
                compiled.positiontup,
                dialect.loaded_dbapi.Error,
            )
        return self._texts[dialect.name]


def _in_the_text(element: Any, **_: Any) -> Any:
    """A value that the statement always has, as a part of its text; None leaves an element as it is."""
    match element:
        case BindParameter(required=False, value=str(words)):
            escaped = words.replace("'", "''")
            return literal_column(f"'{escaped}'", element.type)
        case BindParameter(required=False, value=int(number)):
            return literal_column(str(number), element.type)
        case _:
            return None


def _has_listeners(db: Connection) -> bool:
    """Whether somebody wants to hear of statements, who would not hear of these."""
    heard = db.engine.dispatch
    return bool(heard.before_cursor_execute or heard.after_cursor_execute)
