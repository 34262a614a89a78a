"""What a minimal catalog offers besides commits and names, in dicts: events, leases, permissions, books."""

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NoReturn

from headgate.catalog.ports.access import (
    FULL_SCOPE,
    CreatedToken,
    CredentialKind,
    ForeignKey,
    Grant,
    Group,
    Privilege,
    StoredToken,
    TokenScope,
    invalid_token_error,
)
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.directory_copy import CopiedTable
from headgate.catalog.ports.events import Event, EventKind, EventWindow
from headgate.catalog.ports.integrity import CatalogRecords
from headgate.catalog.ports.leases import HeldLease, Horizon, lease_lost_error
from headgate.catalog.ports.maintenance import ALWAYS_PERMITTED, Maintenance, Permission, not_permitted_error
from headgate.clock import World
from headgate.errors import InvalidRequest, NotAllowed, VersionNotFound
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.protocol.features.rearrangement import Thresholds


class Events:
    """The port ``EventFeed``."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._forgotten = 0
        self._followers: dict[str, int] = {}

    def tell(
        self, kind: EventKind, table_id: TableId, name: object, version: Version, txn_id: TxnId | None = None
    ) -> None:
        with self._lock:
            cursor = self._forgotten + len(self._events) + 1
            now = EpochMillis(self._world.now_ms())
            self._events.append(Event(cursor, kind, str(name), table_id, version, txn_id, None, now, {}))

    def after(self, cursor: int, *, limit: int = 1_000) -> tuple[Event, ...]:
        if limit < 1:
            raise InvalidRequest(f"limit={limit} asks for nothing")
        with self._lock:
            if 0 < cursor < self._forgotten:
                raise InvalidRequest(f"the events after {cursor} are forgotten")
            return tuple(event for event in self._events if event.cursor > cursor)[:limit]

    def window(self, before: int | None = None, *, limit: int = 100) -> EventWindow:
        with self._lock:
            newest = self._forgotten + len(self._events)
            end = newest + 1 if before is None else max(1, min(before, newest + 1))
            start = max(0, end - 1 - limit)
            found = tuple(event for event in self._events if start < event.cursor < end)
            return EventWindow(found, end, newest, start < self._forgotten)

    def newest(self) -> int:
        with self._lock:
            return self._forgotten + len(self._events)

    def list_pending(self) -> None:
        """All have their place from the start."""

    def forget(self, age_ms: int) -> int:
        with self._lock:
            before = self._world.now_ms() - age_ms
            old = [event for event in self._events if event.timestamp < before]
            self._events = self._events[len(old) :]
            self._forgotten += len(old)
            return len(old)

    def load_cursor(self, name: str) -> int | None:
        return self._followers.get(name)

    def save_cursor(self, name: str, cursor: int) -> None:
        with self._lock:
            self._followers[name] = max(cursor, self._followers.get(name, 0))


class Leases:
    """The port ``TableLeases``; ``stamps`` says when a version was committed, and refuses what is none."""

    def __init__(self, world: World, stamps: Callable[[TableId, Version], EpochMillis]) -> None:
        self._world = world
        self._stamps = stamps
        self._lock = threading.Lock()
        self._tokens = count(1)
        self._held: dict[str, tuple[HeldLease, int]] = {}
        self._given_up: dict[TableId, tuple[Version, EpochMillis]] = {}

    def on_version(
        self, table_id: TableId, version: Version | None, *, holder: str, ttl_ms: int
    ) -> HeldLease:
        moment = self._world.now_ms() if version is None else self._stamps(table_id, version)
        with self._lock:
            first, _ = self._given_up.get(table_id, (Version(0), EpochMillis(0)))
            if version is not None and version < first:
                raise VersionNotFound(f"version {version} was cleaned up", version=version)
            return self._give(table_id, version, holder, ttl_ms, moment)

    def on_work(self, subject: str, *, holder: str, ttl_ms: int) -> HeldLease | None:
        with self._lock:
            if any(held.subject == subject for held in self._live()):
                return None
            return self._give(subject, None, holder, ttl_ms, self._world.now_ms())

    def _give(
        self, subject: str, version: Version | None, holder: str, ttl_ms: int, moment: int
    ) -> HeldLease:
        expires = EpochMillis(self._world.now_ms() + ttl_ms)
        held = HeldLease(self._world.uuid(), subject, holder, next(self._tokens), version, expires)
        self._held[held.lease_id] = (held, moment)
        return held

    def renew(self, held: HeldLease, *, ttl_ms: int) -> HeldLease:
        with self._lock:
            self._check(held)
            renewed = replace(held, expires_ms=EpochMillis(self._world.now_ms() + ttl_ms))
            self._held[held.lease_id] = (renewed, self._held[held.lease_id][1])
            return renewed

    def check(self, held: HeldLease) -> None:
        with self._lock:
            self._check(held)

    def _check(self, held: HeldLease) -> None:
        if held.lease_id not in {live.lease_id for live in self._live()}:
            raise lease_lost_error(held)

    def release(self, held: HeldLease) -> None:
        with self._lock:
            self._held.pop(held.lease_id, None)

    def _live(self) -> list[HeldLease]:
        now = self._world.now_ms()
        return [held for held, _ in self._held.values() if held.expires_ms > now]

    def horizon(self, table_id: TableId) -> Horizon:
        with self._lock:
            live = [self._held[held.lease_id] for held in self._live() if held.subject == table_id]
        versions = [held.version for held, _ in live if held.version is not None]
        moments = [EpochMillis(moment) for _, moment in live]
        return Horizon(min(versions, default=None), min(moments, default=None))

    def give_up(
        self, table_id: TableId, *, before: Version | None = None, moment: EpochMillis | None = None
    ) -> Horizon:
        needed = self.horizon(table_id)
        first = before if before is None or needed.version is None else min(before, needed.version)
        since = moment if moment is None or needed.timestamp is None else min(moment, needed.timestamp)
        with self._lock:
            known = self._given_up.get(table_id, (Version(0), EpochMillis(0)))
            self._given_up[table_id] = (
                Version(max(known[0], first or 0)),
                EpochMillis(max(known[1], since or 0)),
            )
        return Horizon(first, since)

    def vacuumed(self, table_id: TableId) -> EpochMillis:
        return self._given_up.get(table_id, (Version(0), EpochMillis(0)))[1]

    def now_ms(self) -> int:
        return self._world.now_ms()

    def live(self, subject: str | None = None) -> tuple[HeldLease, ...]:
        with self._lock:
            return tuple(held for held in self._live() if subject in (None, held.subject))

    def sweep(self) -> int:
        with self._lock:
            live = {held.lease_id for held in self._live()}
            ended = self._held.keys() - live
            self._held = {lease_id: kept for lease_id, kept in self._held.items() if lease_id in live}
            return len(ended)


@dataclass(frozen=True)
class Permissions:
    """The port ``MaintenancePermissions``, where everybody is the owner of everything."""

    permitted: dict[TableId, dict[Maintenance, Thresholds | None]] = field(default_factory=dict)
    is_asked: bool = True

    def for_background_work(self) -> "Permissions":
        return replace(self, is_asked=False)

    def check(self, table_id: TableId, kind: Maintenance, operation: str) -> Permission:
        if kind in ALWAYS_PERMITTED:
            return Permission.ALWAYS
        if kind in self.permitted.get(table_id, {}):
            return Permission.CATALOG
        if not self.is_asked:
            raise not_permitted_error(kind, operation)
        return Permission.OWNER

    def permitted_kinds(self, table_id: TableId) -> frozenset[Maintenance]:
        return ALWAYS_PERMITTED | self.permitted.get(table_id, {}).keys()

    def thresholds(self, table_id: TableId) -> Thresholds | None:
        return self.permitted.get(table_id, {}).get(Maintenance.DATA_REORGANISATION)

    def permit(self, table_id: TableId, kind: Maintenance, thresholds: Thresholds | None = None) -> bool:
        if thresholds is not None and kind is not Maintenance.DATA_REORGANISATION:
            raise InvalidRequest(f"{kind.value} has no thresholds")
        known = self.permitted.setdefault(table_id, {})
        if kind in ALWAYS_PERMITTED or (kind in known and known[kind] == thresholds):
            return False
        known[kind] = thresholds
        return True

    def forbid(self, table_id: TableId, kind: Maintenance) -> bool:
        if kind in ALWAYS_PERMITTED:
            raise InvalidRequest(f"{kind.value} cannot be forbidden")
        known = self.permitted.get(table_id, {})
        return known.pop(kind, self) is not self


class OwnersOnly:
    """The port ``AccessControl`` of a catalog that knows nobody but its owner, and has no rules."""

    def grant(self, privilege: Privilege | str, on: str | None, to: str) -> None:
        refuse("grants nothing to anybody")

    def revoke(self, privilege: Privilege | str, on: str | None, from_: str) -> bool:
        return False

    def grants(self) -> tuple[Grant, ...]:
        return ()

    def limit_unpublished(self, principal: str, limit: int | None) -> None:
        refuse("limits nobody")

    def add_member(self, group: str, principal: str) -> bool:
        refuse("knows no groups")
        return False

    def remove_member(self, group: str, principal: str) -> bool:
        return False

    def groups(self) -> tuple[Group, ...]:
        return ()

    def set_rule(self, rule: str, value: str | int | None, on: str | None) -> None:
        refuse("has no rules of commits")

    def allow_files(self, table: str, location: str) -> None:
        """Every table may name any file."""

    def allow_clone_of(self, table_id: TableId, source: TableName) -> None:
        """Every table may name any file."""

    def allow_clone_locations(self, table_id: TableId, places: Collection[str]) -> None:
        """Every table may name any file."""

    def add_foreign_key(
        self, child: str, columns: Sequence[str], parent: str, parent_columns: Sequence[str]
    ) -> None:
        refuse("has no foreign keys")

    def drop_foreign_key(self, child: str, columns: Sequence[str], parent: str) -> bool:
        return False

    def foreign_keys(self, table: str) -> tuple[ForeignKey, ...]:
        return ()


class NoTokens:
    """The port ``AccessTokens`` of a catalog that gives out none."""

    def create(
        self,
        principal: str,
        *,
        ttl_ms: int,
        scope: TokenScope = FULL_SCOPE,
        label: str = "",
        kind: CredentialKind = CredentialKind.TOKEN,
    ) -> CreatedToken:
        raise InvalidRequest("this catalog gives out no tokens")

    def exchange(self, client_id: str, secret: str, *, ttl_ms: int) -> CreatedToken:
        raise invalid_token_error()

    def authenticate(self, secret: str) -> StoredToken:
        raise invalid_token_error()

    def tokens(self) -> tuple[StoredToken, ...]:
        return ()

    def revoke(self, token_id: str) -> bool:
        return False


class NoCopies:
    """The port ``DirectoryCopying`` of a catalog that has no database to lose."""

    def write_if_due(self) -> None: ...

    def write_if_changed(self) -> None: ...

    def write_now(self, *, forgotten: Iterable[TableId] = (), recovered: bool = False) -> None: ...

    def find_lost_tables(self) -> tuple[bool, tuple[CopiedTable, ...]]:
        return False, ()

    def is_new(self) -> bool:
        return False


@dataclass(frozen=True)
class KeptBooks:
    """The port ``TableBooks``."""

    books: CatalogRecords
    mark: Callable[[TableId, Version], None]

    def read(self) -> CatalogRecords:
        return self.books

    def mark_published(self, version: Version) -> None:
        self.mark(self.books.table_id, version)

    def forget_description(self) -> None:
        """There is none."""


def refuse(what: str) -> NoReturn:
    """The error for what a minimal catalog does not offer."""
    raise NotAllowed(f"this catalog {what}")
