"""Run the benchmarks: ``python -m benchmarks [--quick] [name …]``.

A benchmark is a module of this package with ``run(place, *, quick)``, which yields results.
"""

import argparse
import importlib
import pkgutil
import tempfile
from pathlib import Path

import benchmarks

_ARTIFACTS = Path("artifacts")


def discover() -> dict[str, object]:
    """The benchmarks by name, the name of the module."""
    found = (info.name for info in pkgutil.iter_modules(benchmarks.__path__) if info.name != "__main__")
    modules = {name: importlib.import_module(f"benchmarks.{name}") for name in found}
    return {name: module for name, module in modules.items() if hasattr(module, "run")}


def main() -> None:
    """Run what was asked for, or everything, and print a line each."""
    known = discover()
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of: {', '.join(known)}")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that they run")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(known):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there is {', '.join(known)}")
    # On the disk of the project: a temporary folder may be in memory, where syncing costs nothing.
    _ARTIFACTS.mkdir(exist_ok=True)
    for name in asked.names or known:
        with tempfile.TemporaryDirectory(
            prefix="bench-", dir=_ARTIFACTS, ignore_cleanup_errors=True
        ) as place:
            for result in known[name].run(Path(place).absolute(), quick=asked.quick):
                print(result, flush=True)


if __name__ == "__main__":
    main()
