"""A process that reads a large checkpoint changes Arrow's allocator, but not one that was chosen."""

import os
import subprocess
import sys

import pyarrow as pa
import pytest

_PROGRAM = """
import pyarrow as pa
from headgate.table.read.arrow_memory import prefer_jemalloc
{before}
prefer_jemalloc()
print(pa.default_memory_pool().backend_name)
"""


def _pool(before: str = "", **environment: str) -> str:
    clean = {name: value for name, value in os.environ.items() if name != "ARROW_DEFAULT_MEMORY_POOL"}
    command = [sys.executable, "-c", _PROGRAM.format(before=before)]
    done = subprocess.run(command, env=clean | environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


pytestmark = pytest.mark.skipif(
    not {"mimalloc", "jemalloc"} <= set(pa.supported_memory_backends()), reason="this Arrow has no choice"
)


def test_what_is_freed_is_kept_for_the_next_read() -> None:
    told = "pa.jemalloc_set_decay_ms = print"

    assert _pool(told).split() == ["10000", "jemalloc"]
    assert _pool(told, ARROW_DEFAULT_MEMORY_POOL="jemalloc") == "jemalloc"


def test_the_allocator_is_changed_unless_somebody_chose_one() -> None:
    assert _pool() == "jemalloc"
    assert _pool(ARROW_DEFAULT_MEMORY_POOL="mimalloc") == "mimalloc"
    assert _pool("pa.set_memory_pool(pa.system_memory_pool())") == "system"
