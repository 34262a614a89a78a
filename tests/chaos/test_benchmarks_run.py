"""The benchmarks still run, at tiny sizes; what they measure is not looked at."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import discover

_ROOT = Path(__file__).parents[2]
# These take longer than all others together: run them by hand.
_STARTS_SPARK = {"dml", "lineitem", "many_files", "scan", "sql_overhead", "stream_source", "writes"}
_LINE = re.compile(
    r"\S.*  headgate .+/s.*  "
    r"(deltalake|single commits|a new catalog|pyspark.sql|in process|bare inserts) .+/s.*  [\d,.]+×"
)


@pytest.mark.parametrize("name", sorted(set(discover()) - _STARTS_SPARK))
def test_a_benchmark_without_spark_prints_its_line(name: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", name],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    lines = [line for line in run.stdout.splitlines() if not line.startswith(" ")]
    assert run.returncode == 0, run.stderr
    assert "Traceback" not in run.stderr, run.stderr
    assert lines
    assert all(_LINE.fullmatch(line) for line in lines), lines
