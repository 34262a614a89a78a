"""How does a command avoid loading Spark before it runs? What takes long to load is loaded at its first use.

    if TYPE_CHECKING:
        from headgate.cli import summaries
    else:
        summaries = deferred_module("headgate.cli.summaries")

Type checkers and the check of layers see an ordinary import. Help, wrong usage and completion use none of
such a module, so they answer at once. This is the one door by which the command line loads what is heavy.

While modules load the garbage collector is off: they are no garbage, and looking for some takes a tenth of
the time of a short command. ``benchmarks/import_time.py`` says how long they take.
"""

import gc
import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class _DeferredModule:
    name: str

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_without_gc(self.name), attribute)


def deferred_module(name: str) -> Any:
    """Stands for a module, which is loaded when something of it is asked for."""
    return _DeferredModule(name)


def import_without_gc(name: str) -> Any:
    """A module with all it imports, which the collector need not look at from then on."""
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        gc.enable()
