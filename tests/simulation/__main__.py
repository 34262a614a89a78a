"""The long run: ``python -m tests.simulation --seeds 10000 [--start 0]``; ``--mutants`` renews their page."""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tests.simulation import mutants
from tests.simulation.faults import EVERY_FAULT
from tests.simulation.run import Failed, run

_CHUNK = 50
_TABLE = Path(__file__).with_name("mutants.md")


def main() -> int:
    """Play the seeds on every core; 1 if one of them broke an invariant."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000, help="how many seeds to play")
    parser.add_argument("--start", type=int, default=0, help="the first of them")
    parser.add_argument(
        "--mutants", action="store_true", help="find each mutant's first seed, write mutants.md"
    )
    asked = parser.parse_args()
    if asked.mutants:
        _TABLE.write_text(mutants.render(asked.seeds))
        return 0
    began, failures = time.monotonic(), 0
    ends: Counter[str] = Counter()
    starts = range(asked.start, asked.start + asked.seeds, _CHUNK)
    stop = asked.start + asked.seeds
    with ProcessPoolExecutor(os.cpu_count(), initializer=mutants.quiet) as pool:
        for found, message in pool.map(partial(_chunk, stop=stop), starts):
            ends.update(found)
            if message is not None:
                failures += 1
                print(message)
    seconds = time.monotonic() - began
    told = ", ".join(f"{count} {name}" for name, count in sorted(ends.items()))
    print(f"{asked.seeds} seeds in {seconds:.1f} s, {asked.seeds / seconds:.0f} seeds/s: {told}")
    print("every invariant held" if not failures else f"{failures} chunks of seeds broke an invariant")
    return 1 if failures else 0


def _chunk(start: int, *, stop: int) -> tuple[Counter[str], str | None]:
    ends: Counter[str] = Counter()
    for seed in range(start, min(start + _CHUNK, stop)):
        try:
            ends.update(end.name.lower() for end in run(seed, EVERY_FAULT).ends.elements())
        except Failed as exc:
            return ends, str(exc)
    return ends, None


if __name__ == "__main__":
    mutants.quiet()
    sys.exit(main())
