"""What is deferred is loaded when it is used, and passes for what it stands for until then."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from headgate.deferred import Deferred, deferred

LATE = "module_loaded_late"


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package that is not loaded, with a module, a class and a function."""
    package = tmp_path / LATE
    package.mkdir()
    (package / "__init__.py").write_text(
        "class Order:\n    def __init__(self, number):\n        self.number = number\n"
    )
    (package / "parts.py").write_text("def double(number):\n    return 2 * number\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == LATE]:
        monkeypatch.delitem(sys.modules, name)
    return LATE


def test_nothing_is_loaded_before_it_is_used(late: str) -> None:
    order, parts = deferred(late, "Order", "parts")
    assert late not in sys.modules

    assert parts.double(4) == 8
    assert order(7).number == 7


def test_a_deferred_class_knows_its_instances(late: str) -> None:
    order = deferred(late, "Order")

    assert isinstance(order(7), order)
    assert not isinstance("7", order)


def test_a_deferred_class_is_an_annotation_without_being_loaded(late: str) -> None:
    order: Any = deferred(late, "Order")

    def sell(sold: order | None, more: Sequence[order], number: int | order) -> order: ...

    assert set(get_type_hints(sell)) == {"sold", "more", "number", "return"}
    assert repr(order) == f"{late}.Order"
    assert late not in sys.modules


def test_an_unknown_name_is_an_import_error(late: str) -> None:
    with pytest.raises(ImportError, match="Ordre"):
        deferred(late, "Ordre")()


def test_threads_that_use_it_first_all_get_it_whole() -> None:
    """In a process of its own, where the module takes a while to load."""
    program = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from headgate.deferred import deferred\n"
        "parts = deferred('sqlglot.dialects', 'databricks')\n"
        "with ThreadPoolExecutor(8) as threads:\n"
        "    found = list(threads.map(lambda _: parts.Databricks.__name__, range(8)))\n"
        "assert found == ['Databricks'] * 8\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_is_loaded_stays_known(late: str) -> None:
    parts = deferred(late, "parts")
    assert isinstance(parts, Deferred)
    parts.double(1)
    del sys.modules[f"{late}.parts"]

    assert parts.double(4) == 8
