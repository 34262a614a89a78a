"""What a transaction remembers of its reads, and that no scan gets lost."""

import sys
import threading

from headgate.protocol.predicates.tree import Always, Compare, Op, resolve_column
from headgate.protocol.schema import json as schema_json
from headgate.protocol.transaction.attempt import BLIND, ReadSet
from headgate.table.commit.read_set import ReadRecorder
from tests.support.attempts import table

STATE = table()
COLUMN = resolve_column(schema_json.parse(STATE.metadata.schema_string), ("id",))


def is_one(number: int) -> Compare:
    assert COLUMN is not None
    return Compare(COLUMN, Op.EQ, number)


def test_nothing_read_is_blind() -> None:
    assert ReadRecorder().freeze() == BLIND
    assert BLIND.is_blind


def test_what_was_read_is_remembered_once() -> None:
    log = ReadRecorder()
    log.scanned(Always(), ["a", "b"])
    log.scanned(Always(), ["b", "c"])

    assert log.freeze() == ReadSet((Always(),), frozenset("abc"), whole_table=False)
    assert not log.freeze().is_blind


def test_looking_up_domains_is_remembered_and_is_not_reading_rows() -> None:
    log = ReadRecorder()
    assert not log.freeze().domains

    log.domains()

    assert log.freeze() == ReadSet(domains=True)
    assert log.freeze().is_blind


def test_an_untraced_read_counts_as_the_whole_table() -> None:
    log = ReadRecorder()
    log.scanned_everything()

    assert log.freeze().whole_table


def test_scans_at_the_same_time_lose_nothing() -> None:
    """P20"""
    log, threads, scans = ReadRecorder(), 8, 200
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    seen: list[ReadSet] = []

    def scan(number: int) -> None:
        for each in range(scans):
            log.scanned(is_one(number * scans + each), [f"{number}-{each}"])
            if each % 50 == 0:
                seen.append(log.freeze())

    try:
        running = [threading.Thread(target=scan, args=(number,)) for number in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    finally:
        sys.setswitchinterval(switch)

    found = log.freeze()
    assert len(found.predicates) == len(found.files) == threads * scans
    assert all(reads.files <= found.files for reads in seen)
