"""Columns made without telling the JVM where in the program: what nobody asks of ours, and costs most.

For every column that is made PySpark tells the JVM the line of code, for messages of errors; about
ten calls, where one makes the column. Columns of users have told theirs by the time we get them. What
other threads make meanwhile tells nothing either; only messages lack it.

A MERGE of five columns takes 1,184 calls of the JVM within ``with untold:``, and 2,739 without. The flag is
PySpark's own and private, ``pyspark.errors.utils._enable_debugging_cache``; this is the only place that
touches it.

``benchmarks/dml.py``, its MERGE, justifies it.
"""

from contextlib import ContextDecorator
from threading import Lock
from typing import Any

from pyspark.errors import utils

_FLAG = "_enable_debugging_cache"  # PySpark's own; where it has none, everything stays as it is


class _WithoutCallSites(ContextDecorator):
    def __init__(self) -> None:
        self._lock, self._within = Lock(), 0
        self._before: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._within += 1
            if self._within == 1 and hasattr(utils, _FLAG):
                self._before = getattr(utils, _FLAG)
                setattr(utils, _FLAG, False)

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._within -= 1
            if self._within == 0 and hasattr(utils, _FLAG):
                setattr(utils, _FLAG, self._before)


without_call_sites = _WithoutCallSites()
"""A context, or a decorator, in which columns are made so."""
