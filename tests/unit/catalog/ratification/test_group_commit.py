"""Who waits together is worked on together, in order, and nobody is left waiting."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from headgate.catalog.ratification.group_commit import GroupCommit
from tests.support.waiting import PATIENCE_SECONDS

LIMIT = 4


class Gate:
    """Work that answers an item with itself, and stops in each group until it is let on."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.threads: list[int] = []
        self.entered = threading.Semaphore(0)
        self.open = threading.Semaphore(0)
        self.fail: BaseException | None = None

    def __call__(self, items: Sequence[str]) -> Sequence[str]:
        self.groups.append(list(items))
        self.threads.append(threading.get_ident())
        self.entered.release()
        assert self.open.acquire(timeout=PATIENCE_SECONDS)
        if self.fail is not None:
            error, self.fail = self.fail, None
            raise error
        return list(items)


class Crowd:
    """Threads that submit, one after the other."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.grouping = GroupCommit[str, str](self.gate, limit=LIMIT, interrupted="unknown")
        self.pool = ThreadPoolExecutor(16)

    def submit(self, item: str, lane: str = "lane") -> "Future[str]":
        """Send an item, and return when it stands in its queue."""
        before = self.waiting(lane)
        answer = self.pool.submit(self.grouping.submit, lane, item)
        wait_until(lambda: self.waiting(lane) > before or item in [i for g in self.gate.groups for i in g])
        return answer

    def waiting(self, lane: str = "lane") -> int:
        return len(self.grouping._lanes.get(lane, ()))

    def entered(self) -> None:
        assert self.gate.entered.acquire(timeout=PATIENCE_SECONDS)


@pytest.fixture
def crowd() -> Crowd:
    return Crowd()


def test_one_alone_is_worked_on_at_once_in_its_own_thread(crowd: Crowd) -> None:
    crowd.gate.open.release()

    assert crowd.grouping.submit("lane", "a") == "a"

    assert crowd.gate.threads == [threading.get_ident()]
    assert crowd.grouping._lanes == {}


def test_who_comes_meanwhile_goes_together_in_order_of_arrival(crowd: Crowd) -> None:
    answers = [crowd.submit(item) for item in "abcdefg"]
    for _ in range(3):
        crowd.gate.open.release()

    assert [answer.result(PATIENCE_SECONDS) for answer in answers] == list("abcdefg")
    assert crowd.gate.groups == [["a"], ["b", "c", "d", "e"], ["f", "g"]]
    assert crowd.grouping._lanes == {}


def test_lanes_do_not_wait_for_each_other(crowd: Crowd) -> None:
    first = crowd.submit("a", "one")
    second = crowd.submit("b", "another")
    for _ in range(2):
        crowd.entered()

    crowd.gate.open.release(2)

    assert (first.result(PATIENCE_SECONDS), second.result(PATIENCE_SECONDS)) == ("a", "b")


def test_when_a_leader_is_interrupted_its_group_is_told_and_the_next_goes_on(crowd: Crowd) -> None:
    first = crowd.submit("a")
    others = [crowd.submit(item) for item in "bcdef"]
    crowd.gate.open.release()
    assert first.result(PATIENCE_SECONDS) == "a"
    crowd.entered()
    crowd.entered()
    crowd.gate.fail = KeyboardInterrupt()
    crowd.gate.open.release(2)

    with pytest.raises(KeyboardInterrupt):
        others[0].result(PATIENCE_SECONDS)
    assert [other.result(PATIENCE_SECONDS) for other in others[1:]] == ["unknown"] * 3 + ["f"]


@pytest.mark.parametrize("promoted", [False, True], ids=["in the queue", "called to lead"])
def test_who_is_interrupted_while_waiting_leaves_the_queue(
    crowd: Crowd, promoted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = crowd.submit("a")
    wait = threading.Event.wait
    interrupted, go = threading.Event(), threading.Event()

    def interrupt(event: threading.Event, timeout: float | None = None) -> bool:
        if threading.current_thread().name != "unlucky" or event is go:
            return wait(event, timeout)
        wait(go if not promoted else event)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Event, "wait", interrupt)
    unlucky = threading.Thread(target=_expecting(interrupted, crowd), name="unlucky")
    unlucky.start()
    wait_until(lambda: crowd.waiting() == 1)
    last = crowd.submit("c")
    if not promoted:
        go.set()
        assert wait(interrupted, PATIENCE_SECONDS)
    crowd.gate.open.release(2)

    assert first.result(PATIENCE_SECONDS) == "a"
    assert last.result(PATIENCE_SECONDS) == "c"
    assert wait(interrupted, PATIENCE_SECONDS)
    assert crowd.gate.groups == [["a"], ["c"]]


def _expecting(interrupted: threading.Event, crowd: Crowd) -> Callable[[], None]:
    def run() -> None:
        with pytest.raises(KeyboardInterrupt):
            crowd.grouping.submit("lane", "b")
        interrupted.set()

    return run


def wait_until(true: Callable[[], bool]) -> None:
    patience = threading.Event()
    for _ in range(int(PATIENCE_SECONDS) * 1000):
        if true():
            return
        patience.wait(0.001)
    raise AssertionError("this never came true")
