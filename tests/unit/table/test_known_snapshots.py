"""Which of the snapshots that were seen is the newest, for who appends and for who reads."""

from headgate.protocol.actions import Metadata, Protocol, Version
from headgate.protocol.log.replay import State
from headgate.table.known_snapshots import KnownSnapshots
from headgate.table.read.live_files import UNREAD, LiveFiles
from headgate.table.read.snapshot import Snapshot
from tests.support import commits


def at(version: int, files: LiveFiles) -> Snapshot:
    protocol, metadata = Protocol(min_reader_version=1, min_writer_version=2), commits.metadata()
    assert isinstance(metadata, Metadata)
    return Snapshot(State(Version(version), protocol, metadata, None), files)


def test_who_reads_does_not_get_one_whose_log_is_unread() -> None:
    known = KnownSnapshots()
    known.advance(at(3, UNREAD))

    assert known.loaded is None
    assert known.newest is not None and known.newest.version == 3


def test_the_newest_counts_whatever_it_is_made_from() -> None:
    known = KnownSnapshots()
    known.advance(at(3, LiveFiles()))
    known.advance(at(5, UNREAD))
    known.advance(at(4, LiveFiles()))

    assert known.newest is not None and known.newest.version == 5
    assert known.loaded is not None and known.loaded.version == 4


def test_an_older_one_is_no_news() -> None:
    known = KnownSnapshots()
    known.advance(at(5, LiveFiles()))
    known.advance(at(4, UNREAD))
    known.advance(at(3, LiveFiles()))

    assert known.newest is known.loaded
    assert known.loaded is not None and known.loaded.version == 5


def test_one_that_was_read_takes_the_place_of_the_same_unread() -> None:
    known = KnownSnapshots()
    known.advance(at(5, UNREAD))
    known.advance(at(5, LiveFiles()))

    assert known.newest is known.loaded


def test_forgotten_is_all_of_it() -> None:
    known = KnownSnapshots()
    known.advance(at(5, LiveFiles()))
    known.advance(at(6, UNREAD))
    known.forget()

    assert known.newest is None and known.loaded is None
