"""A stranger finds the way: small folders, short functions, and names that say one thing in one place."""

import ast
import statistics
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headgate"
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_MODULES = 16
VAGUE = frozenset({"of", "told", "check", "find", "at", "over"})


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Every module with its path below the package."""
    for path in MODULES:
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text())


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return 0 if not body else (function.end_lineno or 0) - body[0].lineno + 1


def test_no_folder_has_more_modules_than_one_can_overlook() -> None:
    sizes = Counter(path.parent for path in MODULES if path.name != "__init__.py")

    crowded = {folder.relative_to(ROOT).as_posix(): n for folder, n in sizes.items() if n > MOST_MODULES}
    assert crowded == {}


def test_functions_are_short() -> None:
    sizes = sorted(
        body_lines(node)
        for _, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    print(f"{len(sizes)} functions, median {statistics.median(sizes)}, longest {sizes[-1]} lines")

    assert statistics.median(sizes) <= 6
    assert sizes[len(sizes) * 99 // 100] <= 30


def test_a_class_name_stands_in_one_module() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)

    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_a_function_is_called_by_more_than_a_preposition() -> None:
    vague = [
        f"{path}:{node.lineno} {node.name}"
        for path, tree in trees()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name in VAGUE
    ]

    assert vague == []


def test_the_layers_inside_every_package_are_checked() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layered = {
        module.rpartition(".")[0]
        for contract in contracts
        if contract["type"] == "layers"
        for layer in contract["layers"]
        for module in layer.split(" | ")
    }
    packages = {f"headgate.{path.parent.name}" for path in SOURCE.glob("*/__init__.py")}

    assert {"headgate"} | packages <= layered
