"""The time of a store, by a file that was just written there."""

import pytest

from headgate.errors import StorageUnavailable
from headgate.storage import store_time
from headgate.storage.store import ObjectMeta
from tests.support.faulty_store import DictStore


class Contended(DictStore):
    """A store where others delete the object so many times before anybody looks at it."""

    def __init__(self, times: int) -> None:
        super().__init__(1_000)
        self.times = times

    def head(self, path: str) -> ObjectMeta:
        self.times -= 1
        if self.times >= 0:
            self.delete(path)
        return super().head(path)


def test_the_time_is_that_of_the_store_and_nothing_is_left() -> None:
    store = Contended(2)

    assert store_time.now_ms(store, "clock") == 1_002
    assert list(store.list_from("")) == []


def test_a_store_that_never_tells_is_told_so() -> None:
    with pytest.raises(StorageUnavailable):
        store_time.now_ms(Contended(100), "clock")
