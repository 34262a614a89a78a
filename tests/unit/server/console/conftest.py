"""One lake and one server for all tests of the console; what a test writes it takes back."""

from collections.abc import Callable, Iterator

import pytest

from tests.support.console_client import ConsoleClient, signed_in
from tests.support.console_lakes import ConsoleServer, build_hostile_lake, build_small_lake, console_server

Visitor = Callable[[str], ConsoleClient]


@pytest.fixture(scope="session")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleServer]:
    folder = tmp_path_factory.mktemp("console")
    build_small_lake(folder / "main")
    build_hostile_lake(folder / "hostile")
    with console_server({"main": folder / "main", "hostile": folder / "hostile"}) as server:
        yield server


@pytest.fixture(scope="session")
def visitor(console: ConsoleServer) -> Visitor:
    """Who signs in by a name gets a client of their own."""
    return lambda name: signed_in(console.url, console.tokens[name])
