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
CONNECT = "from headgate import connect"
SHOW = """
import sys
from headgate.cli.main import app
sys.argv = ["headgate", "show", "s.events", "--rows", "10", "--lake", {lake!r}]
try:
    app()
except SystemExit as done:
    assert not done.code
"""


def _loaded(program: str) -> frozenset[str]:
    """The modules that a process has which ran this program and nothing else."""
    shown = f"import sys\nprint({SHOWN_BEHIND!r} + ' '.join(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", f"{program}\n{shown}"], capture_output=True, text=True, check=True
    )
    return frozenset(ran.stdout.splitlines()[-1].removeprefix(SHOWN_BEHIND).split())


@pytest.mark.parametrize(
    ("program", "most"), [(IMPORT, 60), (HELP, 250)], ids=["import headgate", "headgate --help"]
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


NOT_TO_READ = (
    "headgate.spark.dml",
    "headgate.spark.scan",
    "headgate.table.integrity",
    "headgate.table.multi",
)
"""Packages of which nothing is needed to open a table and read it without Spark."""


@pytest.mark.parametrize(("program", "most"), [(OPEN, 190), (CONNECT, 225)], ids=["at_path", "connect"])
def test_to_open_a_table_loads_little_of_our_own(program: str, most: int) -> None:
    loaded = _loaded(program)
    ours = sorted(name for name in loaded if name.partition(".")[0] == "headgate")

    assert not [name for name in ours if name.startswith(NOT_TO_READ)]
    assert not loaded & {"pandas", "sqlglot", "sqlalchemy"}
    assert len(ours) <= most, f"{len(ours)} modules: {ours}"


def test_to_show_the_first_rows_loads_neither_pandas_nor_what_writes(tmp_path: Path) -> None:
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("s")
        lake.create_table("s.events", "id BIGINT, kind STRING").append([{"id": 1, "kind": "click"}])

    loaded = _loaded(SHOW.format(lake=str(tmp_path / "lake")))

    ours = sorted(name for name in loaded if name.partition(".")[0] == "headgate")
    assert "headgate.arrow.read.scan" in ours
    assert not [name for name in ours if name.startswith(NOT_TO_READ)]
    assert not loaded & {"pandas", "sqlglot", "alembic"}
    assert len(ours) <= 340, f"{len(ours)} modules: {ours}"


def _sources_that_defer() -> list[Path]:
    source = Path(headgate.__file__).parent
    return sorted(
        path
        for path in source.rglob("*.py")
        if path.name != "deferred.py" and " = deferred(" in path.read_text()
    )


@pytest.mark.parametrize("path", _sources_that_defer(), ids=lambda path: path.stem)
def test_what_is_deferred_is_what_type_checkers_see(path: Path) -> None:
    tree = ast.parse(path.read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    late = dict(pair for node in block.orelse if isinstance(node, ast.Assign) for pair in _deferred(node))

    assert late and late.items() <= seen.items()
    for module, name in late.values():
        home = importlib.import_module(str(module))
        assert hasattr(home, name) or importlib.import_module(f"{module}.{name}")
    assert not (seen.keys() - late.keys()) & _evaluated(tree)
    assert not late.keys() & _needed_as_classes(tree)


def _deferred(node: ast.Assign) -> list[tuple[str, tuple[str, str]]]:
    """The names that a line defers, each with its home."""
    (target,), call = node.targets, node.value
    assert isinstance(call, ast.Call)
    module, *names = (str(ast.literal_eval(argument)) for argument in call.args)
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    return [
        (where.id, (module, name))
        for where, name in zip(targets, names, strict=True)
        if isinstance(where, ast.Name)
    ]


def _evaluated(tree: ast.Module) -> set[str]:
    """Names that Python looks up: all but those in the annotations of variables of functions."""
    inside = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    notes = [node for function in inside for node in ast.walk(function) if isinstance(node, ast.AnnAssign)]
    spared = {part for note in notes for part in ast.walk(note.annotation)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in spared}


def _needed_as_classes(tree: ast.Module) -> set[str]:
    """Names that stand where only a class can: bases, and what ``except`` and ``case`` name."""
    places: list[ast.expr] = []
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(bases=bases):
                places += bases
            case ast.ExceptHandler(type=kind) if kind is not None:
                places.append(kind)
            case ast.MatchClass(cls=kind):
                places.append(kind)
            case ast.Call(func=ast.Name(id="suppress"), args=kinds):
                places += kinds
    return {part.id for place in places for part in ast.walk(place) if isinstance(part, ast.Name)}


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
