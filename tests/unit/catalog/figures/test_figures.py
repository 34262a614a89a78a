"""What the ports of a catalog tell of how a lake is doing, without a catalog."""

from headgate.catalog.figures.activity_counts import MINUTES, count_activity
from headgate.catalog.figures.event_sentences import event_sentence
from headgate.catalog.figures.table_lines import table_line
from headgate.catalog.ports.commits import InlineCommit, RatifiedCommit, TableId, Tail
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.events import Event, EventKind
from headgate.catalog.ports.serving import LoadedTable, LogHints
from headgate.protocol.actions import EpochMillis, TxnId, Version

NOW = 1_800_000_000_000


def event(kind: EventKind = EventKind.COMMIT, *, ago_ms: int = 0, **details: object) -> Event:
    return Event(
        1, kind, "s.t", TableId("id"), Version(1), TxnId("x"), "WRITE", EpochMillis(NOW - ago_ms), details
    )  # fmt: skip


def loaded(*versions: int, published: int) -> LoadedTable:
    commits = tuple(
        RatifiedCommit(Version(version), TxnId(str(version)), EpochMillis(NOW + version), InlineCommit(b""))
        for version in versions
    )
    entry = TableEntry(TableId("id"), TableName("s", "t"), "/t", EpochMillis(NOW))
    tail = Tail(Version(max(versions)), Version(published), commits, latest_timestamp=EpochMillis(NOW + 9))
    return LoadedTable(entry, tail, LogHints())


def test_commits_are_counted_by_the_minute_and_others_by_their_kind() -> None:
    found = count_activity(
        [event(ago_ms=59_000), event(ago_ms=300_000), event(ago_ms=10**9), event(EventKind.REFUSAL)], NOW
    )

    assert (found.in_last_minute, found.commits, found.refusals, found.incidents) == (1, 2, 1, 0)
    assert len(found.commits_by_minute) == MINUTES


def test_a_table_waits_since_its_oldest_commit_that_is_not_published() -> None:
    line = table_line(loaded(4, 5, 6, published=4))

    assert (line.unpublished, line.waiting_since_ms, line.changed_ms) == (2, NOW + 5, NOW + 9)


def test_a_table_that_is_published_waits_for_nothing() -> None:
    line = table_line(loaded(4, published=4))

    assert (line.unpublished, line.waiting_since_ms, line.size) == (0, None, None)


def test_every_kind_of_event_has_a_sentence() -> None:
    assert all(event_sentence(event(kind)) for kind in EventKind)
    assert event_sentence(event(EventKind.REFUSAL, message="too large")) == "too large"
