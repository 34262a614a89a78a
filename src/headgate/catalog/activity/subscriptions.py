"""How is followed what happens in a catalog? By reading on from a cursor: ``EventFeed``, over rows."""

from dataclasses import replace

from sqlalchemy import ColumnElement, Connection

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import LAKE, OWNER, Principal, Privilege
from headgate.catalog.ports.events import Event, EventWindow
from headgate.catalog.store import event_store, grant_store
from headgate.catalog.store.event_store import NewEvent
from headgate.clock import World
from headgate.errors import InvalidRequest, NotAllowed

MAX_FOLLOWERS_PER_PRINCIPAL = 100
_LONGEST_NAME = 255
_LISTED_IN_A_MOMENT = 2_000


class EventLog:
    """The events of one catalog; safe to share between threads."""

    def __init__(self, database: Database, world: World, principal: Principal = OWNER) -> None:
        self._database = database
        self._world = world
        self._principal = principal

    def tell(self, *happened: NewEvent) -> None:
        """Tell of what happened outside of any transaction, such as a refusal."""
        with self._database.writing() as db:
            for item in happened:
                event_store.record_event(db, item, now_ms=self._world.now_ms())

    def record_incident(self, incident: str, happened: NewEvent) -> bool:
        """Tell of an incident unless that was done before; whether it was told now."""
        with self._database.writing() as db:
            return event_store.record_incident(db, incident, happened, now_ms=self._world.now_ms())

    def after(self, cursor: int, *, limit: int = 1_000) -> tuple[Event, ...]:
        """What happened after ``cursor``, in order, the oldest first; 0 is before everything.

        ``InvalidRequest`` if some of it is forgotten already.
        """
        _require_some(limit)
        with self._database.reading() as db:
            found = self._visible(db, cursor, limit)
            if len(found) == limit or not event_store.has_pending(db):
                return found
        self.list_pending()
        with self._database.reading() as db:
            return self._visible(db, cursor, limit)

    def _visible(self, db: Connection, cursor: int, limit: int) -> tuple[Event, ...]:
        return event_store.events_after(db, cursor, limit, of_tables=self._visible_tables())

    def _visible_tables(self) -> ColumnElement[bool] | None:
        """Those that the principal may see, which the database picks: others may be many (T10)."""
        return None if self._principal == OWNER else grant_store.may_be_seen(self._principal)

    def newest(self) -> int:
        """The cursor of what happened last."""
        self.list_pending()
        with self._database.reading() as db:
            return event_store.newest(db)

    def window(self, before: int | None = None, *, limit: int = 100) -> EventWindow:
        """What happened in ``limit`` places before one, or lately, without waiting until all have a place."""
        _require_some(limit)
        is_behind = before is None and self._list_batch(_LISTED_IN_A_MOMENT)
        with self._database.reading() as db:
            found = event_store.event_window(db, before, limit, of_tables=self._visible_tables())
        return replace(found, is_behind=is_behind)

    def list_pending(self) -> None:
        """Give every event so far its place in the order; nothing is written if all have one."""
        while self._list_batch(event_store.LISTED_AT_ONCE):
            pass

    def _list_batch(self, most: int) -> bool:
        """Give some of the events that have no place theirs; whether there may be more of them."""
        with self._database.reading() as db:
            if not event_store.has_pending(db):
                return False
        with self._database.writing() as db:
            return event_store.assign_cursors(db, now_ms=self._world.now_ms(), most=most)

    def forget(self, age_ms: int) -> int:
        """Delete events that were listed longer ago than this; how many. Cursors before them are refused."""
        count = 0
        while gone := self._forget_some(age_ms):
            count += gone
        return count

    def _forget_some(self, age_ms: int) -> int:
        with self._database.writing() as db:
            grant_store.require_privilege(db, self._principal, Privilege.MAINTAIN, LAKE, "forget events")
            return event_store.delete_oldest(db, before_ms=self._world.now_ms() - age_ms)

    def load_cursor(self, name: str) -> int | None:
        """How far the follower of that name has come."""
        with self._database.reading() as db:
            return event_store.load_cursor(db, self._own(name))

    def save_cursor(self, name: str, cursor: int) -> None:
        """Remember how far a follower has come."""
        with self._database.writing() as db:
            self._check_quota(db, name)
            event_store.save_cursor(db, self._own(name), cursor, now_ms=self._world.now_ms())

    def _check_quota(self, db: Connection, name: str) -> None:
        """Keep others than the owner from filling the database with followers (T10)."""
        if self._principal == OWNER:
            return
        if len(name) > _LONGEST_NAME:
            raise InvalidRequest(f"the name of a follower has at most {_LONGEST_NAME} characters")
        mine = self._own("")
        if event_store.load_cursor(db, mine + name) is None and (
            event_store.count_cursors(db, mine) >= MAX_FOLLOWERS_PER_PRINCIPAL
        ):
            raise NotAllowed(
                f"{self._principal} has {MAX_FOLLOWERS_PER_PRINCIPAL} followers, and nobody has more: "
                "go on under the name of one of them",
                code="HEADGATE_TOO_MANY_FOLLOWERS",
            )

    def _own(self, name: str) -> str:
        """A follower's name as nobody else's: the owner's are as they are."""
        return name if self._principal == OWNER else f"{self._principal}\n{name}"


def _require_some(limit: int) -> None:
    if limit < 1:
        raise InvalidRequest(f"limit={limit} asks for nothing: give at least 1")
