"""How does a lake offer what stands above it, such as SQL? By a name that is looked up when it is called.

A face imports the lake, so the lake cannot import it; and who never speaks SQL never waits for a parser:

    run = load_face("headgate.sql.run", "run")
"""

import importlib
from typing import Any


def load_face(module: str, name: str) -> Any:  # what a face is, its caller knows
    """What a module of a higher layer offers by this name."""
    return getattr(importlib.import_module(module), name)
