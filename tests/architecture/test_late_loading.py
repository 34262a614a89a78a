"""What is loaded late is seen in few places: a table of faces, and doors that are named here."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import headgate
from headgate.calls.faces import FACES, load_face

SOURCE = Path(headgate.__file__).parent
DOORS = {
    "__init__.py": "the public names, each from its home (PEP 562)",
    "calls/faces.py": "what stands above its caller",
    "cli/deferred.py": "what a command waits for when it runs",
    "deferred.py": "what some calls need, which type checkers see as imports",
    "plugins/catalogs.py": "what opens a catalog, as packages offer it too",
    "plugins/coordinators.py": "the ledgers of our own owner, which import a database engine",
    "plugins/coordinator_addresses.py": "what reads an address as SQLAlchemy does",
    "progress/reporting.py": "bars, which need rich and the reporter that shows them",
}
LOADERS = frozenset({"EntryPoint", "__import__", "import_module", "resolve_name"})
DEFERRALS = frozenset({"deferred", "deferred_module"})


@pytest.mark.parametrize("face", FACES)
def test_a_face_is_there_and_asked_for(face: str) -> None:
    assert callable(load_face(face))
    assert [path for path, asked in _faces_asked_for() if asked == face]


def test_who_asks_for_a_face_names_one_of_the_table() -> None:
    assert {asked for _, asked in _faces_asked_for()} == set(FACES)


def test_no_module_but_a_door_loads_another_of_ours_by_its_name() -> None:
    loading = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for text in [path.read_text()]
        if any(loader in text for loader in LOADERS) and _loads_one_of_ours(ast.parse(text))
    }

    generic = {"cli/deferred.py", "deferred.py"}  # whose callers say the names
    assert loading == DOORS.keys() - generic


def _faces_asked_for() -> Iterator[tuple[Path, str]]:
    """Every call that loads a face, by the module that has it and the face."""
    for path in SOURCE.rglob("*.py"):
        if "load_face" not in path.read_text():
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Name(id="load_face"), args=[ast.Constant(value=str(face))]):
                    yield path, face


def _loads_one_of_ours(tree: ast.AST) -> bool:
    return bool(_names(tree) & LOADERS) and any(_is_module_of_ours(text) for text in _texts(tree))


def _names(tree: ast.AST) -> set[str]:
    """What a module calls or passes on, by the last part of its name."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }


def _texts(tree: ast.AST) -> Iterator[str]:
    """Every constant text of a module, without those that it has deferred."""
    spared = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DEFERRALS
        for argument in node.args
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in spared:
            yield node.value


def _is_module_of_ours(text: str) -> bool:
    module = text.partition(":")[0]
    if not module.startswith("headgate.") or not all(part.isidentifier() for part in module.split(".")):
        return False
    try:
        importlib.import_module(module)
    except ModuleNotFoundError:
        return False
    return True
