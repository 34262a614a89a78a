"""A stranger finds the way: small folders, short functions, and names that say one thing in one place."""

import ast
import statistics
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headgate"
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_MODULES = 16
LAYERED_FROM = 10
WITHOUT_LAYERS = (SOURCE / "catalog" / "migrations" / "versions",)
"""Schemas of the database, each after another, which import none of each other."""
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


def test_a_contract_about_imports_stands_once() -> None:
    ids = Counter(contract["id"] for contract in import_contracts())

    assert {name: n for name, n in ids.items() if n > 1} == {}


def test_no_module_of_a_layered_package_can_be_forgotten() -> None:
    """``exhaustive`` has the check of layers refuse a module that stands in no layer."""
    assert [contract["id"] for contract in layer_contracts() if not contract.get("exhaustive")] == []


def test_the_layers_inside_every_package_are_checked() -> None:
    """Those of the packages right below ``headgate``, and of each that has ten modules or more."""
    layered = {container for contract in layer_contracts() for container in contract["containers"]}
    sizes = Counter(path.parent for path in MODULES if path.name != "__init__.py")
    large = {folder for folder, n in sizes.items() if n >= LAYERED_FROM and folder not in WITHOUT_LAYERS}
    packages = {SOURCE, *large, *(path.parent for path in SOURCE.glob("*/__init__.py"))}

    assert {".".join(folder.relative_to(SOURCE.parent).parts) for folder in packages} <= layered


@pytest.mark.parametrize("contract_id", ["behind-ports", "no-database"])
def test_what_is_forbidden_outside_of_the_catalog_is_forbidden_to_all(contract_id: str) -> None:
    (contract,) = (each for each in import_contracts() if each["id"] == contract_id)
    outside = {f"headgate.{path.stem}" for path in SOURCE.iterdir() if not path.name.startswith("__")}

    assert outside - {"headgate.catalog"} <= set(contract["source_modules"])


def import_contracts() -> list[dict[str, Any]]:  # what TOML has
    """The contracts about imports, as ``pyproject.toml`` has them."""
    read = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts: list[dict[str, Any]] = read["tool"]["importlinter"]["contracts"]
    return contracts


def layer_contracts() -> list[dict[str, Any]]:
    return [contract for contract in import_contracts() if contract["type"] == "layers"]
