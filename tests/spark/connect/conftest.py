"""Spark Connect and classic sessions share no process: ``tests/spark/test_connect.py`` starts another.

What takes longest runs with ``make cluster``.
"""

import os

from tests.conftest import ON_CLUSTER, ON_CONNECT

_LONG = ["test_killed_*.py", "test_operations_*.py", "test_streaming_*.py"]
collect_ignore_glob = (
    ["test_*.py"] if not os.environ.get(ON_CONNECT) else [] if os.environ.get(ON_CLUSTER) else _LONG
)
