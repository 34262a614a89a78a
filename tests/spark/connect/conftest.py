"""Spark Connect and classic sessions share no process: ``tests/spark/test_connect.py`` starts another."""

import os

from tests.conftest import ON_CONNECT

collect_ignore_glob = [] if os.environ.get(ON_CONNECT) else ["test_*.py"]
