"""Columns are made without telling the JVM where, and PySpark's own flag is what it was afterwards."""

import threading
from collections.abc import Iterator

import pytest
from pyspark.errors import utils

from headgate.spark.jvm.call_sites import without_call_sites
from tests.support.waiting import PATIENCE_SECONDS


@pytest.fixture(autouse=True)
def flag() -> Iterator[None]:
    before = utils._enable_debugging_cache
    utils._enable_debugging_cache = True
    yield
    utils._enable_debugging_cache = before


def test_nothing_is_told_within_and_everything_after() -> None:
    with without_call_sites:
        assert not utils.is_debugging_enabled()
        with without_call_sites:
            assert not utils.is_debugging_enabled()
        assert not utils.is_debugging_enabled()

    assert utils.is_debugging_enabled()


def test_an_error_ends_it_too() -> None:
    @without_call_sites
    def failing() -> None:
        assert not utils.is_debugging_enabled()
        raise KeyError

    with pytest.raises(KeyError):
        failing()

    assert utils.is_debugging_enabled()


def test_the_last_of_several_threads_ends_it() -> None:
    entered, left = threading.Event(), threading.Event()

    def other() -> None:
        with without_call_sites:
            entered.set()
            left.wait(PATIENCE_SECONDS)

    thread = threading.Thread(target=other)
    with without_call_sites:
        thread.start()
        assert entered.wait(PATIENCE_SECONDS)
    assert not utils.is_debugging_enabled()
    left.set()
    thread.join()

    assert utils.is_debugging_enabled()


def test_a_pyspark_without_the_flag_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(utils, "_enable_debugging_cache")

    with without_call_sites:
        assert not hasattr(utils, "_enable_debugging_cache")

    assert not hasattr(utils, "_enable_debugging_cache")
