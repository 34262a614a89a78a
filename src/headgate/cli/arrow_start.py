"""How does a command that shows rows not wait for pandas? Arrow is told that there is none, before it looks.

pyarrow imports pandas, if it is installed, with the first array that it makes: only to tell whether what it
is given is a Series. No command gives it one, and pandas takes as long to load as a small lake to read.
Whoever asks Arrow for a DataFrame later still gets one, and so does what has Arrow find out the type of a
value: name the types of scalars on the way of a read.
"""

import sys
from typing import Any

import pyarrow as pa

_PANDAS = "pandas"


class _NoPandas:
    """Finds modules, as Python asks for it: all but pandas are left to others."""

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        if name == _PANDAS:
            raise ModuleNotFoundError("no command needs it", name=name)


def start_without_pandas() -> None:
    """Have Arrow make its first array while pandas cannot be imported; after that it does not look again."""
    if _PANDAS in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([], pa.int64())
    finally:
        sys.meta_path.remove(finder)
