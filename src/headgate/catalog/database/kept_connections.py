"""Where does a transaction get its connection? On SQLite it is one that was kept, with nothing to undo on it.

A pool of SQLAlchemy's makes a new ``Connection`` for each transaction, and resets the driver's when it comes
back, which is as much work as a small transaction itself. On SQLite a connection has no state but its
transaction, which has ended: so the whole of it is kept. One on which anything failed is not.

On PostgreSQL every transaction asks for a connection of the pool, which limits how many there are and looks
whether the server still answers.

``benchmarks/group_commits.py`` justifies it, where three transactions are one of the user's.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.pool import QueuePool

MOST_KEPT = 32


class EngineConnections:
    """The connections of one engine; safe to share between threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._most = MOST_KEPT if engine.dialect.name == "sqlite" else 0
        self._idle: deque[Connection] = deque()

    @contextmanager
    def lent(self, options: Mapping[str, Any]) -> Iterator[Connection]:
        """A connection for one transaction, which the borrower ends."""
        if not self._most:
            with self._engine.connect() as connection:
                yield connection.execution_options(**options)
            return
        connection = self._taken()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        if len(self._idle) < self._most:
            self._idle.append(connection)
        else:
            connection.close()

    def in_use(self) -> float:
        """How many are in use at the moment."""
        pool = self._engine.pool
        return float(pool.checkedout() - len(self._idle)) if isinstance(pool, QueuePool) else 0.0

    def close(self) -> None:
        """Give all back that are not in use; those that are, when they come back."""
        self._most = 0
        while self._idle:
            self._taken().close()
        self._engine.dispose()

    def _taken(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._engine.connect()
