"""Which catalog a lake has, nobody above it can tell: they see ports, and no database engine."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tables import create_filesystem, open_filesystem

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headgate"
MODULES = sorted(SOURCE.rglob("*.py"))
ENGINES = {"sqlalchemy", "alembic"}
OUTSIDE = sorted(path.name for path in SOURCE.iterdir() if path.name not in {"catalog", "__pycache__"})
"""Every package and module but the catalog itself."""
WITHOUT_DATABASE = (
    "headgate.catalog.figures",
    "headgate.catalog.ports",
    "headgate.catalog.published_files",
    "headgate.catalog.table_stores",
    "headgate.catalog.targets",
    "headgate.catalog.wire",
)
OWNERS_WITHOUT_DATABASE = "headgate.catalog.coordinator."
"""Coordinators that keep their ledger elsewhere, which ``plugins/coordinators.py`` offers."""

_LOADED = """
import sys
{program}
print(sorted(name for name in sys.modules if name.partition(".")[0] in {engines}))
"""


def imported(path: Path) -> set[str]:
    """Every module that a module imports, as deep as the import says."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def is_in(path: Path, *places: str) -> bool:
    return any(path.is_relative_to(SOURCE / place) for place in places)


def test_only_the_catalog_imports_a_database_engine() -> None:
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in MODULES
        if ENGINES & {name.partition(".")[0] for name in imported(path)}
    }

    assert found
    assert {name for name in found if not name.startswith("catalog/")} == set()
    assert {name for name in found if name.startswith("catalog/ports/")} == set()


def test_the_ports_import_no_implementation() -> None:
    """Nor does anything that they import: else who imports a port would load it all the same."""
    for path in MODULES:
        if is_in(path, "catalog/ports"):
            within = {name for name in imported(path) if name.startswith("headgate.catalog.")}
            assert {name for name in within if not name.startswith("headgate.catalog.ports")} == set()


def test_who_stands_outside_of_the_catalog_imports_ports_only() -> None:
    for path in MODULES:
        if not is_in(path, *OUTSIDE):
            continue
        names = {name for name in imported(path) if name.startswith("headgate.catalog.")}
        others = {name for name in names if not name.startswith(WITHOUT_DATABASE)}
        if path == SOURCE / "plugins" / "coordinators.py":
            others = {name for name in others if not name.startswith(OWNERS_WITHOUT_DATABASE)}
        assert others == set(), path


def test_importing_headgate_loads_no_database_engine() -> None:
    assert loaded("import headgate") == "[]"


def test_the_command_line_loads_none_before_it_opens_a_lake() -> None:
    assert loaded("import headgate.cli.main") == "[]"


def test_a_table_by_its_path_loads_none(tmp_path: Path) -> None:
    create_filesystem(open_filesystem(str(tmp_path)).store)

    program = f"import headgate; headgate.at_path({str(tmp_path)!r}).log.snapshot().files"

    assert loaded(program) == "[]"


@pytest.mark.spark
def test_nor_does_reading_its_rows(tmp_path: Path) -> None:
    create_filesystem(open_filesystem(str(tmp_path)).store)

    program = f"""
from pyspark.sql import SparkSession
import headgate
session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
assert headgate.at_path({str(tmp_path)!r}).read(spark=session).count() == 0
"""

    assert loaded(program) == "[]"


def loaded(program: str) -> str:
    """The modules of a database engine that a new process has loaded after a program."""
    code = _LOADED.format(program=program, engines=sorted(ENGINES))
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()[-1]
