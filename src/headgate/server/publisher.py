"""Who publishes what clients leave unpublished? The server, in the order of versions, soon after each commit.

It follows the events of a lake, so a commit that was ratified through any process is seen; when it starts it
looks at every table once, for what was left by others. Clients that publish themselves have a head start.

    publisher = Publisher(lake, seconds=1.0)
    publisher.start()
    …
    publisher.close()      # a last round, without a head start
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.events import EventKind
from headgate.errors import HeadgateError, InvalidRequest, TableNotFound
from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.log import log_retention
from headgate.server.lakes import ServedLake
from headgate.table.commit.post_commit import LogUpkeep
from headgate.table.opened_table import OpenedTable

_LOG = logging.getLogger(__name__)
_PAGE = 1_000
_MOST_OPEN = 512
_LONGEST_PAUSE = 60.0


@dataclass(frozen=True, slots=True)
class UnpublishedTable:
    """A table with ratified versions that are not in its log."""

    name: str
    since_ms: EpochMillis
    """When the oldest of them was ratified."""
    count: int
    tries: int = 0
    not_before: float = 0.0


@dataclass(frozen=True, slots=True)
class _OpenTable:
    table: OpenedTable
    keeper: LogUpkeep


class Publisher:
    """Publishes the commits of one lake, on a thread of its own."""

    def __init__(
        self, lake: ServedLake, *, seconds: float, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._lake = lake
        self._seconds = seconds
        self._monotonic = monotonic
        self._cursor: int | None = None
        self._stop = threading.Event()
        self._round = threading.Lock()
        self._unpublished: dict[TableId, UnpublishedTable] = {}
        self._open: OrderedDict[TableId, _OpenTable] = OrderedDict()
        self._thread = threading.Thread(
            target=self._run, name=f"headgate-server-publisher-{lake.name}", daemon=True
        )

    def start(self) -> None:
        """Begin, on the thread."""
        self._thread.start()

    def close(self) -> None:
        """Publish what there is, and stop."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        self.run_once(head_start=False)

    def unpublished(self) -> float:
        """How many ratified commits were waiting when it last looked."""
        return float(sum(table.count for table in list(self._unpublished.values())))

    def lag_seconds(self) -> float:
        """For how long the oldest of them has waited."""
        oldest = min((table.since_ms for table in list(self._unpublished.values())), default=None)
        return 0.0 if oldest is None else max(0.0, (self._lake.world.now_ms() - oldest) / 1000)

    def run_once(self, *, head_start: bool = True) -> None:
        """Look for what is not published, and publish what had its head start; nothing is raised."""
        with self._round:
            try:
                self._look()
            except HeadgateError as exc:
                _LOG.warning(
                    "the publisher of %s cannot ask its catalog, and will again: %s", self._lake.name, exc
                )
                return
            now = self._monotonic()
            for table_id, table in list(self._unpublished.items()):
                if not head_start or table.not_before <= now:
                    self._publish(table_id, table)

    def _run(self) -> None:
        while not self._stop.is_set():
            self.run_once()
            self._stop.wait(self._seconds)

    def _look(self) -> None:
        if self._cursor is None:
            self._look_at_all()
            return
        try:
            self._follow(self._cursor)
        except InvalidRequest:  # some events are forgotten already
            self._look_at_all()

    def _look_at_all(self) -> None:
        newest = self._lake.catalog.events.newest()  # what is committed from here on comes as an event
        for entry in self._lake.catalog.tables():
            self._note(entry.table_id, str(entry.name), head_start=0.0)
            if self._stop.is_set():
                return
        self._cursor = newest

    def _follow(self, cursor: int) -> None:
        while found := self._lake.catalog.events.after(cursor, limit=_PAGE):
            committed = {
                event.table_id: event.table or "" for event in found if event.kind is EventKind.COMMIT
            }
            for table_id, name in committed.items():
                if table_id is not None:
                    self._note(table_id, name, head_start=self._seconds)
            self._cursor = cursor = found[-1].cursor

    def _note(self, table_id: TableId, name: str, *, head_start: float) -> None:
        """Take note of a table, if it has something that is not published."""
        try:
            tail = self._lake.catalog.tail(table_id)
        except TableNotFound:
            return
        if tail.published >= tail.latest:
            self._unpublished.pop(table_id, None)
            return
        since = tail.commits[0].in_commit_timestamp if tail.commits else self._lake.world.now_ms()
        new = UnpublishedTable(name, EpochMillis(since), 0, not_before=self._monotonic() + head_start)
        known = self._unpublished.get(table_id, new)
        count = tail.latest - tail.published
        self._unpublished[table_id] = replace(known, since_ms=EpochMillis(since), count=count)

    def _publish(self, table_id: TableId, table: UnpublishedTable) -> None:
        try:
            self._bring_up_to_date(table_id, table)
        except TableNotFound:
            self._forget(table_id)
        except HeadgateError as exc:
            self._come_again(table_id, table, str(exc))
        except Exception as exc:  # one table's trouble must not keep the others waiting
            _LOG.exception("publishing %s of %s failed", table.name, self._lake.name)
            self._come_again(table_id, table, repr(exc))

    def _bring_up_to_date(self, table_id: TableId, table: UnpublishedTable) -> None:
        tail = self._lake.catalog.tail(table_id)
        if tail.published < tail.latest:
            opened = self._opened(table_id, table.name)
            interval = log_retention.checkpoint_interval(opened.table.describe().metadata)
            due = tail.latest // interval > tail.published // interval
            opened.keeper.keep(Version(tail.latest), interval=interval, urgent=True, due=due)
            tail = self._lake.catalog.tail(table_id)
        if tail.published >= tail.latest:
            self._unpublished.pop(table_id, None)
            return
        self._come_again(table_id, replace(table, count=tail.latest - tail.published), "some of it is left")

    def _come_again(self, table_id: TableId, table: UnpublishedTable, why: str) -> None:
        pause = min(self._seconds * 2**table.tries, _LONGEST_PAUSE)
        _LOG.warning(
            "%s of %s is not published up to its latest version yet, which readers get from the catalog: %s",
            table.name,
            self._lake.name,
            why,
        )
        self._unpublished[table_id] = replace(
            table, tries=min(table.tries + 1, 16), not_before=self._monotonic() + pause
        )

    def _opened(self, table_id: TableId, name: str) -> _OpenTable:
        known = self._open.pop(table_id, None)
        if known is None:
            committer, table = self._lake.tables_for(self._lake.catalog.principal).open(
                self._entry(table_id, name)
            )
            keeper = LogUpkeep(table.store, committer, self._lake.settings, world=self._lake.world)
            known = _OpenTable(table, keeper)
        self._open[table_id] = known
        while len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)
        return known

    def _entry(self, table_id: TableId, name: str) -> TableEntry:
        """The table as the directory knows it, also if it has another name by now."""
        schema, _, table = name.partition(".")
        try:
            entry = self._lake.catalog.resolve(TableName(schema, table))
        except (TableNotFound, InvalidRequest):
            entry = None
        if entry is not None and entry.table_id == table_id:
            return entry
        found = next((each for each in self._lake.catalog.tables() if each.table_id == table_id), None)
        if found is None:
            raise TableNotFound(f"the table {name} is gone", name=name)
        return found

    def _forget(self, table_id: TableId) -> None:
        self._unpublished.pop(table_id, None)
        self._open.pop(table_id, None)
