"""How does a module name what only some of its calls need? It is loaded by the first call that does.

    if TYPE_CHECKING:
        from headgate.spark.dml import delete, update
        from headgate.spark.dml.merge.merge import Merge
    else:
        delete, update = deferred("headgate.spark.dml", "delete", "update")
        Merge = deferred("headgate.spark.dml.merge.merge", "Merge")

Type checkers and the check of layers see ordinary imports. So whoever opens a table to read it does not wait
for what merges, optimizes and maintains tables. ``tests/architecture/test_light_imports.py`` counts what is
loaded, and holds the two halves to each other.
"""

import importlib
from typing import Any, Union

from typing_extensions import override


class Deferred:
    """Stands for a module, a class or a function, which is loaded when it is used.

    A class that is deferred can be called, and be an annotation, and ``isinstance`` knows it. It can be
    neither a base class nor what ``except`` and ``case`` name.
    """

    def __init__(self, module: str, name: str) -> None:
        self.place = (module, name)
        self._loaded: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._found()(*args, **kwargs)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # typing looks for such of every annotation
            raise AttributeError(attribute)
        return getattr(self._found(), attribute)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, self._found())

    def __or__(self, other: Any) -> Any:
        return Union[self, other]  # noqa: UP007 — a value of typing, not an annotation

    def __ror__(self, other: Any) -> Any:
        return Union[other, self]  # noqa: UP007

    @override
    def __repr__(self) -> str:
        return ".".join(self.place)  # as a signature shows a class

    def _found(self) -> Any:
        if self._loaded is None:
            module, name = self.place
            home = importlib.import_module(module)
            self._loaded = getattr(home, name) if hasattr(home, name) else _submodule(module, name)
        return self._loaded


def deferred(module: str, *names: str) -> Any:
    """What ``from module import names`` gives, loaded at its first use; of several names a tuple."""
    found = tuple(Deferred(module, name) for name in names)
    return found if len(found) > 1 else found[0]


def _submodule(package: str, name: str) -> Any:
    return importlib.import_module(f"{package}.{name}")
