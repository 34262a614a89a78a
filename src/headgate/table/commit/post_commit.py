"""What a table's log needs after a commit: publishing, a checkpoint now and then, a checksum.

None of it can fail the commit, which has happened; what is left undone is done after a later one.
"""

import logging
import time
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from headgate.clock import World
from headgate.deferred import deferred
from headgate.errors import HeadgateError, ObjectNotFound, Retry
from headgate.protocol.actions import Commit, Version
from headgate.protocol.log import codec, replay, version_checksum
from headgate.protocol.log.replay import State
from headgate.protocol.log.version_checksum import NO_FILES, FileTotals
from headgate.settings import Settings
from headgate.storage.store import Store
from headgate.table.commit import catalog_hints
from headgate.table.committer import Committer, Frontier
from headgate.table.read import checksum_files, log_reader

if TYPE_CHECKING:
    from headgate.table.upkeep import checkpoint_writer
else:
    checkpoint_writer = deferred("headgate.table.upkeep", "checkpoint_writer")

_LOG = logging.getLogger(__name__)
_REST = 20
_PATIENCE_SECONDS = 1.0
RETRY_SECONDS = 2.0
_FEW, _MANY = 64, 256
"""How many commits are read to find the totals of a version: from nothing, and from known ones."""


class LogUpkeep:
    """Keeps one table's log; for one thread at a time."""

    def __init__(self, store: Store, committer: Committer, settings: Settings, *, world: World) -> None:
        self._store = store
        self._committer = committer
        self._settings = settings
        self._world = world
        self._known: tuple[State, FileTotals] | None = None
        self._rested = 0.0
        self._waited = False

    def keep(self, version: Version, *, interval: int, urgent: bool, due: bool) -> float | None:
        """Do what ``version``, committed by this process, makes necessary.

        What waits for a quiet moment is left to whoever commits later versions, unless it is
        ``urgent``. With ``due`` a checkpoint is to be made of every ``interval`` versions. While
        others are in the middle of committing, or checkpoints would take more than a twentieth of
        the time, or if the store or the catalog did not answer, the answer is in how many seconds to come
        again.
        """
        try:
            frontier = self._committer.frontier(known=version)
        except HeadgateError as exc:
            _LOG.warning("version %s is committed and safe; it will be published later: %s", version, exc)
            return RETRY_SECONDS if exc.retry is Retry.SAME else None
        if frontier.latest > version and not urgent and not (due and self._waited):
            self._waited = due
            return _PATIENCE_SECONDS if due else None
        self._waited = False
        if frontier.unpublished and self.publish(frontier):
            return RETRY_SECONDS
        return self._describe(version, frontier, interval=interval, due=due)

    def end_checkpoint_rest(self) -> None:
        """Make the next checkpoint when it is due, however soon that is."""
        self._rested = 0.0
        self._waited = True

    def publish(self, told: Frontier | None = None) -> bool:
        """Publish, and nothing else: in the middle of many commits. Whether it should be tried again soon."""
        try:
            self._committer.publish(told)
        except HeadgateError as exc:
            _LOG.warning(
                "a ratified commit could not be published yet; it is safe and will be tried again: %s", exc
            )
            return exc.retry is Retry.SAME
        return False

    def _describe(self, version: Version, frontier: Frontier, *, interval: int, due: bool) -> float | None:
        left = None
        try:
            if due and self._settings.checkpoints:
                left = self._checkpoint(version, interval)
            if self._settings.checksums and (self._known is None or self._known[0].version < version):
                self._checksum(version, frontier)
        except Exception as exc:  # whatever it is, it must not look as if the commit had failed
            _LOG.warning(
                "version %s is committed, but its checkpoint or checksum could not be written; nothing "
                "depends on it, and a later commit will try again: %s",
                version, exc, exc_info=not isinstance(exc, HeadgateError),
            )  # fmt: skip
        return left

    def _checkpoint(self, version: Version, interval: int) -> float | None:
        began = time.monotonic()
        if began < self._rested:
            return self._rested - began
        last = log_reader.last_checkpoint_version(self._store)
        if last is not None and version - last < interval:  # another process was faster
            return None
        written = checkpoint_writer.write_checkpoint(self._store, self._committer, world=self._world)
        ended = time.monotonic()
        self._rested = ended + _REST * (ended - began)
        if written is not None and self._settings.checksums:
            self._known = written.state, written.totals
            checksum_files.write_checksum(self._store, *self._known)
        if written is not None:
            catalog_hints.note_checkpoint(
                self._store, self._committer, written, checksum=self._settings.checksums
            )
        return None

    def _checksum(self, version: Version, frontier: Frontier) -> None:
        """Go on from the last known totals; where there are none, wait for the next checkpoint."""
        known = self._known or self._recorded(Version(version - 1), frontier)
        start = 0 if known is None else known[0].version + 1
        self._known = None
        if version - start >= (_FEW if known is None else _MANY):
            return
        commits = self._commits(range(start, version + 1), frontier)
        if known is None:
            try:
                first = next(commits)
            except ObjectNotFound:  # the log was cleaned up
                return
            known, commits = (replay.initial_state(first), NO_FILES), chain((first,), commits)
        self._known = version_checksum.advance_totals(*known, commits)
        if self._known is not None:
            checksum_files.write_checksum(self._store, *self._known)
            catalog_hints.note_checksum(self._committer, *self._known)

    def _recorded(self, version: Version, frontier: Frontier) -> tuple[State, FileTotals] | None:
        found = checksum_files.find_checksum(self._store, version, frontier) if version >= 0 else None
        state = version_checksum.state_from_checksum(version, found) if found is not None else None
        return (
            None if found is None or state is None else (state, version_checksum.totals_from_checksum(found))
        )

    def _commits(self, versions: range, frontier: Frontier) -> Iterator[Commit]:
        for version in map(Version, versions):
            yield codec.decode(
                version, log_reader.commit_content(self._store, version, frontier.unpublished.get(version))
            )
