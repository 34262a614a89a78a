"""The house in order: layers, sizes, style and types are tests, not good will."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headgate"
MODULES = sorted(SOURCE.rglob("*.py"))
BIN = Path(sys.executable).parent
LIMIT = 400


@pytest.mark.parametrize(
    "command",
    [
        ("lint-imports",),
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
    ],
    ids=["layers", "lint", "format", "types"],
)
def test_the_tools_agree(command: tuple[str, ...]) -> None:
    ran = subprocess.run(
        [BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_no_file_is_too_long(record_property: Callable[[str, object], None]) -> None:
    sizes = {path.relative_to(SOURCE).as_posix(): len(path.read_text().splitlines()) for path in MODULES}
    longest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
    record_property("longest files", longest)
    print("longest files:", ", ".join(f"{name} {lines}" for name, lines in longest))

    assert not [name for name, lines in sizes.items() if lines > LIMIT]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_says_what_it_is_for_and_is_not_a_drawer(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text()))

    assert docstring or path.parent.name == "versions"
    assert path.stem not in {"utils", "helpers", "common", "misc", "manager", "base"}


def test_ports_are_small() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and "Protocol" in [ast.unparse(base) for base in node.bases]:
                methods = [part.name for part in node.body if isinstance(part, ast.FunctionDef)]
                assert len(methods) <= 6, f"{node.name}: {methods}"


def test_nothing_is_left_to_do_in_a_comment() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX)\b")

    assert not [path for path in MODULES if marks.search(path.read_text())]


def test_text_of_a_table_becomes_an_expression_in_one_place() -> None:
    evaluated = re.compile(r"(F\.expr|selectExpr|\.sql)\([^\n]*(metadata|configuration)")
    found = [path.stem for path in MODULES if evaluated.search(path.read_text())]

    assert found == []
    assert "stored_expressions.check" in (SOURCE / "spark" / "rules" / "stored_sql.py").read_text()


def test_no_property_is_compared_with_true_by_hand() -> None:
    """``property_values.flag`` does, so that every flag ignores case and has one default."""
    by_hand = [
        f"{path.relative_to(SOURCE).as_posix()}:{node.lineno}"
        for path in MODULES
        if path != SOURCE / "protocol" / "property_values.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare) and _has_a_boolean_word([node.left, *node.comparators])
    ]

    assert by_hand == []


def _has_a_boolean_word(operands: list[ast.expr]) -> bool:
    return any(
        isinstance(operand, ast.Constant) and operand.value in ("true", "false") for operand in operands
    )
