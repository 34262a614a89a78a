"""Plays the long versions of these tests: what each database is to show at the same time, then Spark's.

``HEADGATE_CHAOS_ROUNDS=200 python -m tests.chaos --without-spark`` plays the kill rounds alone. All other
arguments are pytest's.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_NOTHING_TO_RUN = 5  # pytest's exit code for it
_FEWEST = "4"
"""Rounds, where the environment says nothing."""


def main(arguments: Sequence[str]) -> int:
    """Run all; 0 if everything passed."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("-k", dest="chosen", default="", metavar="EXPRESSION", help="as pytest has it")
    parser.add_argument("--without-spark", action="store_true")
    options, rest = parser.parse_known_args(arguments)
    began = time.monotonic()
    with tempfile.TemporaryFile() as later:
        # PostgreSQL works in processes of its own: beside each other they keep two cores busy.
        beside = _start(["-m", "not spark", "-k", _both(options.chosen, "postgresql"), *rest], later)
        codes = [
            _start(["-m", "not spark", "-k", _both(options.chosen, "not postgresql"), *rest]).wait(),
            beside.wait(),
        ]
        later.seek(0)
        sys.stdout.write(later.read().decode())
    if not options.without_spark:
        codes.append(_start(["-m", "spark", "-k", options.chosen, *rest]).wait())
    print(f"{time.monotonic() - began:,.0f} seconds in all")
    return max(0 if code == _NOTHING_TO_RUN else 1 if code else 0 for code in codes)


def _both(chosen: str, database: str) -> str:
    return f"({chosen}) and {database}" if chosen else database


def _start(arguments: list[str], output: IO[bytes] | None = None) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "pytest", str(_HERE), "--timeout", "0", "-p", "no:cacheprovider"]
    environment = {"HEADGATE_CHAOS_ROUNDS": _FEWEST, **os.environ}
    return subprocess.Popen([*command, *arguments], cwd=_ROOT, env=environment, stdout=output)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
