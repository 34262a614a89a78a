"""Signals within a process: who waits for a table is told of it, and forgets nothing that came in between."""

import gc
import threading

from headgate.table.commit_signals import COMMIT_SIGNALS, CommitSignals
from headgate.table.opened_table import OpenedTable
from tests.support import tables


def test_who_waits_for_a_table_is_told_of_it_alone() -> None:
    signals = CommitSignals()
    mine, other = signals.mark("mine"), signals.mark("other")

    signals.tell(["mine", "nobody's"])

    assert (mine.count, other.count) == (1, 0)
    assert signals.mark("mine") is mine
    signals.tell_all()
    assert (mine.count, other.count) == (2, 1)


def test_a_signal_ends_a_wait_and_one_that_came_before_it_too() -> None:
    signals = CommitSignals()
    mark, told = signals.mark("t"), signals.told
    waiting = threading.Thread(target=signals.wait, args=(told, 300.0))
    waiting.start()

    signals.tell(["t"])
    waiting.join()

    assert mark.count == 1
    signals.wait(told, 300.0)


def test_of_a_table_that_nobody_waits_for_nothing_is_kept() -> None:
    signals = CommitSignals()
    mark = signals.mark("t")
    assert mark.count == 0
    del mark
    gc.collect()

    signals.tell(["t"])

    assert signals.told == 0


def test_a_commit_through_any_handle_of_a_table_is_told_of(tmp_path: str) -> None:
    location = str(tmp_path)
    tables.create_filesystem(tables.open_filesystem(location).store)
    reader, writer = tables.open_filesystem(location), tables.open_filesystem(location)
    mark = COMMIT_SIGNALS.mark(reader.snapshot().state.metadata.id)

    _append(writer)

    assert mark.count == 1


def _append(table: OpenedTable) -> None:
    table.commit(tables.append_change(tables.named_file("a")), base=table.snapshot())
