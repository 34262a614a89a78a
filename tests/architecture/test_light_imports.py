"""What is loaded before anything is used: who imports Headgate, or asks for help, does not wait for Spark."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import headgate
from headgate.cli import lazy_commands
from headgate.cli.command_row import LazyCommand, leaf_commands

HEAVY = ("alembic", "numpy", "obstore", "pandas", "psycopg", "pyarrow", "pyspark", "sqlalchemy", "sqlglot")
SHOWN_BEHIND = "loaded: "
NOTHING = "pass"
IMPORT = "import headgate"
HELP = """
import sys
from headgate.cli.main import app
sys.argv = ["headgate", "--help"]
try:
    app()
except SystemExit as done:
    assert not done.code
"""
OPEN = "from headgate import at_path"


def _loaded(program: str) -> frozenset[str]:
    """The modules that a process has which ran this program and nothing else."""
    shown = f"import sys\nprint({SHOWN_BEHIND!r} + ' '.join(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", f"{program}\n{shown}"], capture_output=True, text=True, check=True
    )
    return frozenset(ran.stdout.splitlines()[-1].removeprefix(SHOWN_BEHIND).split())


@pytest.mark.parametrize(
    ("program", "most"), [(IMPORT, 60), (HELP, 300)], ids=["import headgate", "headgate --help"]
)
def test_little_is_loaded_and_nothing_heavy(program: str, most: int) -> None:
    more = _loaded(program) - _loaded(NOTHING)

    assert not sorted(heavy for heavy in HEAVY if heavy in more)
    assert not sorted(name for name in more if name.startswith("headgate.catalog"))
    assert len(more) <= most, f"{len(more)} modules: {sorted(more)}"


def test_to_open_a_table_takes_neither_spark_connect_nor_the_command_line() -> None:
    loaded = _loaded(OPEN)

    assert "pyspark.sql" in loaded
    assert not loaded & {"pyspark.sql.connect.session", "grpc", "typer", "rich"}


def test_every_public_name_is_found_where_type_checkers_see_it() -> None:
    tree = ast.parse(Path(headgate.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        (alias.asname or alias.name): (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert sorted(headgate.__all__) == sorted(seen) == sorted({*headgate._HOMES, *headgate._MODULES})
    for name, (module, there) in seen.items():
        home = importlib.import_module(str(module))
        assert getattr(headgate, name) is getattr(home, there), name
    assert set(headgate.__all__) <= set(dir(headgate))


def test_an_unknown_name_is_unknown() -> None:
    with pytest.raises(AttributeError, match="module 'headgate' has no attribute 'conect'"):
        headgate.conect  # type: ignore[attr-defined]  # noqa: B018


LEAVES = tuple(leaf_commands(lazy_commands.COMMANDS))


@pytest.mark.parametrize(("words", "row"), LEAVES, ids=[words for words, _ in LEAVES])
def test_a_command_says_in_the_list_what_it_says_itself(words: str, row: LazyCommand) -> None:
    module, _, name = row.function.partition(":")
    function = getattr(importlib.import_module(module), name)
    said = function.info.help if isinstance(function, typer.Typer) else function.__doc__

    assert row.summary == said.splitlines()[0], words


def test_a_listed_command_is_a_command() -> None:
    app = typer.Typer()
    lazy_commands.list_in(app)

    assert [listed.name for listed in app.registered_commands] == [row.name for row in lazy_commands.COMMANDS]


SPARK_IS_THERE = frozenset({"demo", "sql", "top", "stream"})
"""Commands that are nothing without Spark, and load it with their options."""
OPTIONS = """
import importlib
from headgate.cli import lazy_commands
from headgate.cli.command_row import LazyCommand, leaf_commands
from headgate.cli.command_row import leaf_commands
for words, row in leaf_commands(lazy_commands.COMMANDS):
    if words not in {known!r}:
        importlib.import_module(row.function.partition(":")[0])
"""


def test_what_a_command_takes_is_known_without_a_catalog_or_spark() -> None:
    loaded = _loaded(OPTIONS.format(known=SPARK_IS_THERE))

    assert not sorted(heavy for heavy in HEAVY if heavy in loaded - _loaded(NOTHING))
    assert not sorted(
        name
        for name in loaded
        if name.startswith(("headgate.catalog.", "headgate.lake"))
        and not name.startswith("headgate.catalog.ports")
    )  # which are values, and no database
