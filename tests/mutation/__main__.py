"""The run: ``python -m tests.mutation [module …]``; fails if survivors.md does not explain a survivor."""

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence

from tests.mutation.modules import TESTS
from tests.mutation.run import ROOT, Fate, judge, mutants_of
from tests.mutation.survivors import explained


def main() -> int:
    """Judge every mutant of the modules asked for, and print what became of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", help="such as protocol.conflicts; all of them by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many processes at once")
    parser.add_argument("--limit", type=float, default=60, help="the longest a mutant may take, in seconds")
    asked = parser.parse_args()
    if unknown := sorted(set(asked.modules) - set(TESTS)):
        parser.error(f"no tests are named for {', '.join(unknown)}: choose from {', '.join(TESTS)}")
    known, unexplained = explained(), 0
    print(f"{'module':28}{'mutants':>9}{'killed':>9}{'timeout':>9}{'explained':>11}{'survived':>10}{'s':>7}")
    for module in asked.modules or TESTS:
        if not _pass(TESTS[module]):
            parser.exit(1, f"the tests of {module} fail without any change, so they would tell nothing\n")
        began = time.monotonic()
        found = mutants_of(module)
        doubtful = [mutant for mutant in found if (module, mutant.text, mutant.change) not in known]
        verdicts = list(judge(doubtful, TESTS, jobs=asked.jobs, limit=asked.limit))
        fates = Counter(verdict.fate for verdict in verdicts)
        left = [verdict.mutant for verdict in verdicts if verdict.fate is Fate.SURVIVED]
        unexplained += len(left)
        print(
            f"{module:28}{len(found):9}{fates[Fate.KILLED]:9}{fates[Fate.TIMEOUT]:9}"
            f"{len(found) - len(doubtful):11}{len(left):10}{time.monotonic() - began:7.0f}",
            flush=True,
        )
        for mutant in sorted(left, key=lambda mutant: mutant.line):
            print(f"  {mutant.line}: {mutant.text}\n      {mutant.change}", flush=True)
    print("every survivor is explained" if not unexplained else f"{unexplained} survivors are not explained")
    return 1 if unexplained else 0


def _pass(tests: Sequence[str]) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
