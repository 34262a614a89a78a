"""How does an engine that knows nothing of Headgate use the demo's tables? Through ``headgate serve``.

DuckDB does, if it is installed with its extensions for Unity Catalog; else the chapter asks the same API by
plain HTTP, and says how to see DuckDB do it.
"""

import importlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import urllib3

from headgate.cli.demo.scene import Scene
from headgate.errors import CatalogUnavailable

_NAME = "demo"
_SERVE = ("-c", "from headgate.cli.main import app; app()", "serve")
_EXTENSIONS = ("httpfs", "delta", "unity_catalog")
_LOAD = f"/api/2.1/unity-catalog/delta/v1/catalogs/{_NAME}/schemas/bronze/tables/orders"


@dataclass(frozen=True, slots=True)
class DemoServer:
    """A server of the demo's lake, and the owner's token there."""

    address: str
    token: str


def show_other_engine(scene: Scene, folder: Path) -> None:
    """A server is started, and another engine reads and writes the table that Spark wrote."""
    say = scene.say
    say.chapter("A server: an engine that knows nothing of Headgate, at the same table")
    with _served(folder) as server:
        say.say(f"headgate serve {folder} --name {_NAME} listens at {server.address}")
        if has_duckdb():
            _show_duckdb(scene, _duckdb(server))
        else:
            _show_plain_http(scene, server)


def has_duckdb() -> bool:
    """Whether DuckDB is here with what it needs to speak to a catalog."""
    modules = ("duckdb", "duckdb_extensions", *(f"duckdb_extension_{name}" for name in _EXTENSIONS))
    return all(find_spec(name) is not None for name in modules)


def _show_duckdb(scene: Scene, run: Callable[[str], list[tuple[Any, ...]]]) -> None:
    say, table = scene.say, scene.bronze
    before, version = scene.count(table), table.version()
    with say.work("DuckDB counts the orders, and sends one of them once more"):
        [(counted,)] = run("SELECT count(*) FROM lake.bronze.orders")
        run("INSERT INTO lake.bronze.orders SELECT * FROM lake.bronze.orders LIMIT 1")
    say.claim(f"DuckDB saw the {counted:,} rows that Spark sees", expected=before, found=counted)
    say.claim(
        f"its order is version {table.version()} of {table.name}, and Spark reads it",
        expected=(before + 1, version + 1), found=(scene.count(table), table.version()),
    )  # fmt: skip


def _duckdb(server: DemoServer) -> Callable[[str], list[tuple[Any, ...]]]:
    """Runs one statement in DuckDB, which is no dependency; each in a connection of its own."""
    duckdb, extensions_of_duckdb = map(importlib.import_module, ("duckdb", "duckdb_extensions"))

    def run(statement: str) -> list[tuple[Any, ...]]:
        with tempfile.TemporaryDirectory() as extensions:
            settings = {"allow_unsigned_extensions": "true", "extension_directory": extensions}
            with duckdb.connect(config=settings) as connection:
                for name in _EXTENSIONS:
                    extensions_of_duckdb.import_extension(name, con=connection)
                    connection.load_extension(name)
                connection.execute(
                    f"CREATE SECRET (TYPE unity_catalog, TOKEN '{server.token}', "
                    f"ENDPOINT '{server.address}', AWS_REGION 'us-east-1')"
                )
                connection.execute(f"ATTACH '{_NAME}' AS lake (TYPE unity_catalog, DEFAULT_SCHEMA 'bronze')")
                found: list[tuple[Any, ...]] = connection.execute(statement).fetchall()
                return found

    return run


def _show_plain_http(scene: Scene, server: DemoServer) -> None:
    say, table = scene.say, scene.bronze
    answer = urllib3.request(
        "GET", server.address + _LOAD, headers={"Authorization": f"Bearer {server.token}"}
    )
    latest = json.loads(answer.data)["latest-table-version"]
    say.claim(
        f"the Delta API of the server says that {table.name} is at version {latest}",
        expected=table.version(), found=latest,
    )  # fmt: skip
    say.say("To see DuckDB do the same: docs/how-to/other-engines.md")


@contextmanager
def _served(folder: Path) -> Iterator[DemoServer]:
    """``headgate serve`` in a process of its own, stopped afterwards."""
    command = [sys.executable, *_SERVE, str(folder), "--name", _NAME, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield DemoServer(_address(process), (folder / "admin-token").read_text().strip())
        finally:
            process.terminate()


def _address(process: "subprocess.Popen[str]") -> str:
    """Where the server says that it listens: ``serving demo at http://127.0.0.1:8080; stop with Ctrl-C``."""
    line = process.stdout.readline() if process.stdout else ""
    _, _, said = line.partition(" at ")
    if not said:
        raise CatalogUnavailable("the server did not start: run headgate serve by itself to see why")
    return said.partition(";")[0]
