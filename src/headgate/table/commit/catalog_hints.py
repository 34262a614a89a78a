"""What did the catalog tell when the table was opened, and what of it still counts?

What a table was a moment ago may serve its first reading, so that opening and reading are one call; not
if anything was written through the same catalog since, and not for longer than a moment. What the catalog
knows of checkpoints is a hint: a log that is not as expected is listed.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeGuard

from headgate.catalog.ports.commits import TableId, Tail
from headgate.catalog.ports.serving import ChecksumContent, LoadedTable, LogHints, ReaderCatalog
from headgate.deferred import deferred
from headgate.errors import HeadgateError
from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.log import file_names
from headgate.protocol.log import version_checksum as checksum_rules
from headgate.protocol.log.file_names import LogFile, LogFileKind
from headgate.protocol.log.replay import State
from headgate.protocol.log.version_checksum import FileTotals
from headgate.storage.store import Store
from headgate.table.committer import AcceptsLogHints, Committer

if TYPE_CHECKING:
    from headgate.table.upkeep.checkpoint_writer import WrittenCheckpoint
else:
    WrittenCheckpoint = deferred("headgate.table.upkeep.checkpoint_writer", "WrittenCheckpoint")

_LOG = logging.getLogger(__name__)
_FEW = 64
"""How many published commits are read one by one rather than looking for a newer checkpoint."""


class CatalogHints:
    """A table's catalog as its readers use it; safe to share between threads."""

    def __init__(
        self,
        serving: ReaderCatalog,
        table_id: TableId,
        *,
        loaded: LoadedTable | None = None,
        fresh_seconds: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._serving = serving
        self._table_id = table_id
        self._lock = threading.Lock()
        self._clock = clock
        self._tail = loaded.tail if loaded is not None else None
        self._until = clock() + fresh_seconds
        self._as_of = loaded.as_of if loaded is not None else 0
        self._known = loaded.hints if loaded is not None else LogHints()

    def take_opening_tail(self) -> Tail | None:
        """What the catalog told at the opening, once and only while that is no older than a moment."""
        with self._lock:
            found, self._tail = self._tail, None
        fresh = self._clock() <= self._until and self._serving.writes == self._as_of
        return found if fresh else None

    def expected(self, tail: Tail) -> Sequence[LogFile] | None:
        """The files that should make up the latest version; None if these are too many to go unseen."""
        checkpoint = self._known.checkpoint
        if checkpoint and checkpoint[0].version > tail.latest:  # the catalog's latest bounds everything (R3)
            checkpoint = ()
        start = checkpoint[0].version + 1 if checkpoint else 0
        following = range(start, tail.published + 1)
        if len(following) > _FEW:
            return None
        return (
            *checkpoint,
            *(
                LogFile(LogFileKind.PUBLISHED, Version(number), file_names.published_path(Version(number)))
                for number in following
            ),
        )

    def checksum(self, tail: Tail) -> ChecksumContent | None:
        """The newest checksum of which the catalog has told the content, if its version exists (R3)."""
        found = self._known.content
        return found if found is not None and found.version <= tail.latest else None

    def version_at(self, moment: EpochMillis) -> Version | None:
        """The version a moment means, by the catalog's word."""
        return self._serving.version_at(self._table_id, moment)

    def note(self, heard: LogHints) -> None:
        """Tell the catalog of a checkpoint or a checksum."""
        self._serving.note_log(self._table_id, heard)
        # What was computed here is not doubted here, whether or not the catalog keeps it.
        known = self._known
        self._known = LogHints(
            heard.checkpoint or known.checkpoint,
            known.checksum if heard.checksum is None else heard.checksum,
            heard.content or known.content,
        )

    def import_external_versions(self) -> Version:
        """Have the catalog look for versions that others published."""
        return self._serving.import_external_versions(self._table_id)


def note_checkpoint(
    store: Store, committer: Committer, written: WrittenCheckpoint, *, checksum: bool
) -> None:
    """Make a checkpoint and its checksum known to whoever decides the table's commits, if that one cares."""
    if not _hears_of_logs(committer):
        return
    try:
        size = store.head(written.path).size
        file = LogFile(LogFileKind.CHECKPOINT, written.version, written.path, size)
        sums = _checksum_content(written.state, written.totals) if checksum else None
        committer.note_log(LogHints((file,), written.version if checksum else None, sums))
    except HeadgateError as exc:  # a hint that nobody gets is a listing more, not a failure
        _LOG.info("the checkpoint of version %s was not made known: %s", written.version, exc)


def note_checksum(decider: object, state: State, totals: FileTotals) -> None:
    """Make a checksum known to whoever decides the table's commits, if that one cares."""
    if not _hears_of_logs(decider):
        return
    try:
        decider.note_log(LogHints((), state.version, _checksum_content(state, totals)))
    except HeadgateError as exc:  # a hint that nobody gets is a file more to read, not a failure
        _LOG.info("the checksum of version %s was not made known: %s", state.version, exc)


def _hears_of_logs(decider: object) -> TypeGuard[AcceptsLogHints]:
    # Of a class Python remembers it; of an object it looks at each method of the protocol anew.
    return issubclass(type(decider), AcceptsLogHints)


def _checksum_content(state: State, totals: FileTotals) -> ChecksumContent:
    return ChecksumContent(state.version, checksum_rules.render(checksum_rules.build_checksum(state, totals)))
