"""``make linear``: long histories with faults, on both databases and behind HTTP; counts are printed."""

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.linear.run import Plan, Result, run

_DATABASES = ("sqlite", "postgresql", "http-sqlite", "http-postgresql")
_KINDS = 3
"""Of histories: of single commits, of groups of them, and of a coordinator."""
_OPERATIONS_OF_A_ROUND = 20_000
_SHOWN = 10


def main() -> int:
    """Round after round until there are enough operations; 1 if any history is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.linear")
    parser.add_argument("--operations", type=int, default=200_000)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--seed", default=str(random.randrange(10**9)))
    asked = parser.parse_args()
    print(f"seed {asked.seed}, {asked.processes} processes, {asked.tables} tables a round")
    done = number = wrong = 0
    while done < asked.operations:
        plan = Plan(
            _DATABASES[number % len(_DATABASES)],
            f"{asked.seed}-{number}",
            min(_OPERATIONS_OF_A_ROUND, -(-asked.operations // (2 * len(_DATABASES)))),
            asked.processes,
            asked.tables,
            kills=20,
            groups=number // len(_DATABASES) % _KINDS == 1,
            owned=number // len(_DATABASES) % _KINDS == _KINDS - 1,
        )
        began = time.monotonic()
        folder = Path(tempfile.mkdtemp(prefix="headgate-linear-", dir=_memory()))
        try:
            result = run(plan, folder)
        finally:
            shutil.rmtree(folder)
        number, done = number + 1, done + result.operations
        wrong += _show(plan, result, time.monotonic() - began)
    print(f"{done:,} operations in {number} histories: {wrong} violations (seed {asked.seed})")
    return int(wrong > 0)


def _show(plan: Plan, result: Result, seconds: float) -> int:
    what = "of an owner" if plan.owned else "groups" if plan.groups else "operations"
    print(
        f"{plan.database:10}  {result.operations:,} {what}, {result.versions:,} versions, {result.kills} "
        f"kills, {result.unanswered:,} without an answer, {seconds:.0f} s: "
        f"{len(result.violations)} violations, {len(result.damaged)} findings"
    )
    print("            " + ", ".join(f"{kind} {count:,}" for kind, count in sorted(result.kinds.items())))
    if result.faults:
        print(
            "            " + ", ".join(f"{fault} {count:,}" for fault, count in sorted(result.faults.items()))
        )
    for line in (*result.violations[:_SHOWN], *result.damaged[:_SHOWN]):
        print(f"  {line}")
    sys.stdout.flush()
    return len(result.violations) + len(result.damaged)


def _memory() -> Path | None:
    memory = Path("/dev/shm")
    return memory if memory.is_dir() else None


if __name__ == "__main__":
    sys.exit(main())
