"""The search for circles would notice: each anomaly has a history that shows it, and is named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from tests.linear.cycles import Logs, Transaction, check
from tests.linear.history import FOREVER, Told

X, Y = 0, 1


def _txn(
    name: str,
    begin: int,
    end: int,
    reads: Mapping[int, int],
    writes: Sequence[int],
    told: Told = Told.DONE,
) -> Transaction:
    return Transaction(name, begin, end, told, reads, frozenset(writes))


LOGS: Logs = {X: ["start", "a", "b"], Y: ["start", "a", "c"]}
GOOD: tuple[Transaction, ...] = (
    _txn("a", 10, 20, {X: 0, Y: 0}, [X, Y]),
    _txn("b", 15, 40, {X: 1}, [X]),
    _txn("c", 50, FOREVER, {X: 2, Y: 1}, [Y], Told.UNKNOWN),
    _txn("d", 50, 60, {X: 2}, [X], Told.LOST),
    _txn("looks", 15, 25, {X: 1, Y: 1}, []),
    _txn("looks again", 60, 70, {X: 2, Y: 2}, []),
)


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A history that no serial order explains."""

    rule: str
    transactions: Sequence[Transaction]
    logs: Logs = field(default_factory=lambda: LOGS)


ANOMALIES: tuple[Anomaly, ...] = (
    Anomaly("torn", GOOD, {X: ["start", "a", "b"], Y: ["start", "c"]}),
    Anomaly("acknowledged", [*GOOD, _txn("e", 80, 90, {}, [X])]),
    Anomaly("refused", GOOD, {X: ["start", "a", "b", "d"], Y: LOGS[Y]}),
    Anomaly("proposed", GOOD, {X: ["start", "a", "b", "nobody"], Y: LOGS[Y]}),
    Anomaly("contents", [*GOOD, _txn("far", 80, 90, {X: 3}, [])]),
    Anomaly("fractured-read", [*GOOD, _txn("half", 12, 25, {X: 1, Y: 0}, [])]),
    Anomaly("stale", [*GOOD, _txn("late", 45, 46, {X: 1}, [])]),
    Anomaly("stale", [*GOOD, _txn("early", 1, 2, {X: 1}, [])]),
    Anomaly("write-skew", [_txn("a", 10, 20, {X: 0, Y: 0}, [X]), _txn("b", 10, 20, {X: 0, Y: 0}, [Y])],
            {X: ["start", "a"], Y: ["start", "b"]}),
    Anomaly("write-skew", [_txn("a", 10, 20, {X: 0}, [Y]), _txn("b", 10, 20, {Y: 0}, [X])],
            {X: ["start", "b"], Y: ["start", "a"]}),
    Anomaly("lost-update", [_txn("a", 10, 20, {X: 0}, [X]), _txn("b", 10, 20, {X: 0}, [X])],
            {X: ["start", "a", "b"]}),
    Anomaly("circular", [_txn("a", 10, 20, {Y: 1}, [X]), _txn("b", 10, 20, {X: 1}, [Y])],
            {X: ["start", "a"], Y: ["start", "b"]}),
    Anomaly("circular", [_txn("a", 10, 20, {}, [X, Y]), _txn("b", 10, 20, {}, [X, Y])],
            {X: ["start", "a", "b"], Y: ["start", "b", "a"]}),
)  # fmt: skip


def test_a_good_history_has_a_serial_order() -> None:
    assert list(check(GOOD, LOGS)) == []


@pytest.mark.parametrize("anomaly", ANOMALIES, ids=lambda anomaly: anomaly.rule)
def test_an_anomaly_is_named(anomaly: Anomaly) -> None:
    found = list(check(anomaly.transactions, anomaly.logs))

    assert anomaly.rule in {violation.rule for violation in found}, found


def test_a_long_history_takes_little_time() -> None:
    """One reader of ten thousand groups saw half of a group."""
    count = 10_000
    writers = [_txn(f"w{at}", 10 * at, 10 * at + 5, {X: at, Y: at}, [X, Y]) for at in range(count)]
    log = ["start", *(writer.name for writer in writers)]
    half = _txn("half", 0, 10 * count, {X: 777, Y: 776}, [])

    assert list(check(writers, {X: log, Y: log})) == []
    (found,) = check([*writers, half], {X: log, Y: log})
    assert found.rule == "fractured-read"
