"""Many reads of one store: their order, their errors, and how many at once."""

import threading
import time
from collections.abc import Iterator

import pytest

from headgate.errors import ObjectNotFound
from headgate.storage import parallel_reads
from tests.support.distant import DistantStore
from tests.support.faulty_store import DictStore

PATHS = [f"{number:03d}" for number in range(40)]


def filled(*, at_once: int = 8) -> DistantStore:
    store = DistantStore(DictStore(), at_once=at_once)
    for path in PATHS:
        store.put(path, path.encode() * 100)
    return store


def read(store: DistantStore, paths: list[str]) -> Iterator[bytes]:
    return parallel_reads.map_in_order(store, store.read, paths, size=len)


def test_answers_come_in_the_order_of_the_questions_whoever_is_first() -> None:
    store = filled()
    slow = {path: 0.004 if number % 3 == 0 else 0.0 for number, path in enumerate(PATHS)}

    def work(path: str) -> bytes:
        time.sleep(slow[path])
        return store.read(path)

    assert list(parallel_reads.map_in_order(store, work, PATHS)) == [path.encode() * 100 for path in PATHS]


def test_never_more_are_under_way_than_the_store_says() -> None:
    store = filled(at_once=8)

    assert len(list(read(store, PATHS))) == 40

    assert 2 < store.peak <= 8


def test_large_answers_are_not_piled_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_reads, "AHEAD_BYTES", 1_000)
    store = filled(at_once=8)
    answers = read(store, PATHS)
    for _ in range(8):  # until the answers that were asked for before their size was known have come
        next(answers)
    store.peak = 0

    assert len(list(answers)) == 32

    assert store.peak <= 1_000 // 300


def test_the_first_error_in_order_is_the_one_raised_after_the_answers_before_it() -> None:
    store = filled()
    store.delete("009")
    store.delete("004")
    answers = read(store, PATHS)

    assert [next(answers) for _ in range(4)] == [path.encode() * 100 for path in PATHS[:4]]
    with pytest.raises(ObjectNotFound, match="004"):
        next(answers)


def test_nothing_is_left_running_when_the_reader_stops_early() -> None:
    store = filled()
    answers = read(store, PATHS)
    next(answers)

    answers.close()  # type: ignore[attr-defined]  # a generator

    asked = store.reads
    assert store.under_way == 0
    assert asked < len(PATHS)


def test_a_store_at_hand_is_read_by_the_caller_itself() -> None:
    threads = set()
    store = DictStore()

    def work(number: int) -> int:
        threads.add(threading.get_ident())
        return number

    assert list(parallel_reads.map_in_order(store, work, range(20))) == list(range(20))
    assert threads == {threading.get_ident()}
