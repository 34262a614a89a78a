"""Who still needs what, and until when: leases on versions, and on work that one alone shall do.

A lease ends by itself if it is not renewed, so a reader that died holds nothing up for long. One that has
ended cannot be renewed: meanwhile what it protected may be gone. Before old versions are deleted it is
written down which, in one transaction with a look at the leases, and from then on nobody gets a lease on
them: of a reader and a clean-up that come at the same moment one is refused.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Index,
    Row,
    String,
    Table,
    delete,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from headgate.catalog.database import shared_clock
from headgate.catalog.database.engine import Database
from headgate.catalog.database.upsert import insert_or_update
from headgate.catalog.ports.access import OWNER, Principal, Privilege
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory_copy import LIVE
from headgate.catalog.ports.leases import HeldLease, Horizon, lease_lost_error
from headgate.catalog.store import commit_store, grant_store, table_not_found
from headgate.clock import World
from headgate.errors import InvalidRequest, NotAllowed, VersionNotFound
from headgate.protocol.actions import EpochMillis, Version

TOO_MANY_LEASES = "HEADGATE_TOO_MANY_LEASES"
MAX_TTL_MS = 24 * 60 * 60 * 1000
MAX_LEASES_PER_HOLDER = 1_000
MAX_LEASES_PER_PRINCIPAL = 10_000
CLOCK_MARGIN_MS = 24 * 60 * 60 * 1000
"""By how much the time that a file has may be before that of its commit: writers note when they remove one as
they begin, and clocks differ. What is needed counts as needed for that much longer."""

leases = Table(
    "leases",
    commit_store.metadata,
    Column("lease_id", String, primary_key=True),
    Column("subject", String, nullable=False),
    Column("holder", String, nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("exclusive", Boolean, nullable=False),
    Column("version", BigInteger),
    Column("moment_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    Column("principal", String),
    Index("leases_of_a_subject", "subject"),
    Index("leases_of_a_holder", "holder"),
)
fences = Table(
    "fences",
    commit_store.metadata,
    Column("subject", String, primary_key=True),
    Column("token", BigInteger, nullable=False),
    Column("first_version", BigInteger, nullable=False),
    Column("vacuumed_ms", BigInteger, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Leases:
    """The leases of one catalog; safe to share between threads and processes."""

    database: Database
    world: World
    most_of_one_holder: int = MAX_LEASES_PER_HOLDER
    most_of_one_principal: int = MAX_LEASES_PER_PRINCIPAL
    """However many holders it names; the lake's owner is as many as it likes (T10)."""
    principal: Principal = OWNER
    """On whose behalf leases are taken and looked at."""

    def on_version(
        self, table_id: TableId, version: Version | None, *, holder: str, ttl_ms: int
    ) -> HeldLease:
        """Have a version of a table kept readable; with None, files written from now on, while uncommitted.

        ``VersionNotFound`` if the version does not exist, or part of it may have been deleted.
        """
        _check_ttl(ttl_ms)
        with self.database.writing() as db:
            grant_store.require_visible(db, self.principal, table_id)
            fence = self._fence(db, table_id)
            now = self._now(db)
            self._check_quota(db, holder, now)
            moment = (
                _protected_from_ms(db, table_id, version, fence)
                if version is not None
                else now - CLOCK_MARGIN_MS
            )
            return self._give(
                db,
                HeldLease(self.world.uuid(), table_id, holder, fence.token, version, _expiry(now, ttl_ms)),
                moment,
            )

    def on_work(self, subject: str, *, holder: str, ttl_ms: int) -> HeldLease | None:
        """Be the only one who does something; None while somebody else is."""
        _check_ttl(ttl_ms)
        with self.database.writing() as db:
            table_id = TableId(subject.rpartition("/")[2])
            grant_store.require_table_privilege(
                db, self.principal, Privilege.MAINTAIN, table_id, f"do alone: {subject}"
            )
            fence = self._fence(db, subject)
            now = self._now(db)
            self._check_quota(db, holder, now)
            taken = _is_live(now).where(leases.c.subject == subject, leases.c.exclusive)
            if db.execute(taken).first() is not None:
                return None
            held = HeldLease(self.world.uuid(), subject, holder, fence.token, None, _expiry(now, ttl_ms))
            return self._give(db, held, now, exclusive=True)

    def renew(self, held: HeldLease, *, ttl_ms: int) -> HeldLease:
        """The same lease for longer; ``NotAllowed`` if it has ended, and what it protected may be gone."""
        _check_ttl(ttl_ms)
        with self.database.writing() as db:
            # Before the time is looked at: whoever gives up what this protects must not come in between.
            db.execute(select(fences.c.token).where(fences.c.subject == held.subject).with_for_update())
            now = self._now(db)
            until = _expiry(now, ttl_ms)
            kept = db.execute(
                update(leases)
                .where(leases.c.lease_id == held.lease_id, leases.c.expires_ms > now, self._is_own())
                .values(expires_ms=until)
            )
            if kept.rowcount != 1:
                raise lease_lost_error(held)
        return HeldLease(held.lease_id, held.subject, held.holder, held.token, held.version, until)

    def check(self, held: HeldLease) -> None:
        """``NotAllowed`` if the lease has ended."""
        with self.database.reading() as db:
            found = db.scalar(
                select(leases.c.lease_id).where(
                    leases.c.lease_id == held.lease_id,
                    leases.c.expires_ms > self._now(db),
                    self._is_own(),
                )
            )
        if found is None:
            raise lease_lost_error(held)

    def release(self, held: HeldLease) -> None:
        """End a lease; nothing happens if it has ended."""
        with self.database.writing() as db:
            db.execute(delete(leases).where(leases.c.lease_id == held.lease_id, self._is_own()))

    def horizon(self, table_id: TableId) -> Horizon:
        """What the live leases on a table need."""
        with self.database.reading() as db:
            grant_store.require_visible(db, self.principal, table_id)
            return _horizon(db, table_id, self._now(db))

    def give_up(
        self, table_id: TableId, *, before: Version | None = None, moment: EpochMillis | None = None
    ) -> Horizon:
        """Have nobody get a lease any more on what is about to be deleted, as far as nobody needs it.

        ``before``: versions before it, from the log; ``moment``: files that no version needed since then, as
        VACUUM deletes them. The answer says how far each may go: exactly so far it must go, or less.
        """
        with self.database.writing() as db:
            grant_store.require_table_privilege(
                db, self.principal, Privilege.MAINTAIN, table_id, "delete old files"
            )
            fence = self._fence(db, table_id)
            needed = _horizon(db, table_id, self._now(db))
            first = before if before is None or needed.version is None else min(before, needed.version)
            since = moment if moment is None or needed.timestamp is None else min(moment, needed.timestamp)
            db.execute(
                update(fences)
                .where(fences.c.subject == table_id)
                .values(
                    first_version=max(fence.first_version, first or 0),
                    vacuumed_ms=max(fence.vacuumed_ms, since or 0),
                )
            )
        return Horizon(first, since)

    def live(self, subject: str | None = None) -> tuple[HeldLease, ...]:
        """The leases that have not ended, on everything or on one subject."""
        with self.database.reading() as db:
            query = _is_live(self._now(db)).order_by(leases.c.subject, leases.c.token)
            if subject is not None:
                query = query.where(leases.c.subject == subject)
            found = tuple(_lease_from_row(row) for row in db.execute(query))
            if self.principal == OWNER:
                return found
            subjects = {TableId(held.subject.rpartition("/")[2]) for held in found}
            seen = grant_store.visible_tables(db, self.principal, subjects)
            return tuple(held for held in found if TableId(held.subject.rpartition("/")[2]) in seen)

    def vacuumed(self, table_id: TableId) -> EpochMillis:
        """The moment up to which files were given up last; 0 if none ever were."""
        with self.database.reading() as db:
            grant_store.require_visible(db, self.principal, table_id)
            found = db.scalar(select(fences.c.vacuumed_ms).where(fences.c.subject == table_id))
        return EpochMillis(found or 0)

    def objection(self, db: Connection, table_id: TableId) -> str | None:
        """Why a table must not be deleted yet: somebody is reading or writing it."""
        found = db.execute(_is_live(self._now(db)).where(leases.c.subject == table_id)).first()
        return None if found is None else f"{found.holder!r} has a lease on it"

    def sweep(self) -> int:
        """Forget leases that have ended, of one's own; how many."""
        with self.database.writing() as db:
            ended = delete(leases).where(leases.c.expires_ms <= self._now(db), self._is_own())
            return int(db.execute(ended).rowcount)

    def now_ms(self) -> int:
        """The time by which leases end."""
        with self.database.reading() as db:
            return self._now(db)

    def _now(self, db: Connection) -> int:
        """The time that all who share the database agree on, because the clocks of machines differ."""
        return self.world.now_ms() if db.dialect.name == "sqlite" else shared_clock.server_time_ms(db)

    def _fence(self, db: Connection, subject: str) -> Row[Any]:
        """The next token of a subject; whoever wants one waits until this transaction ends."""
        upsert = insert_or_update(db, fences).values(subject=subject, token=1, first_version=0, vacuumed_ms=0)
        return db.execute(
            upsert.on_conflict_do_update(
                index_elements=["subject"], set_={"token": fences.c.token + 1}
            ).returning(fences)
        ).one()

    def _is_own(self) -> ColumnElement[bool]:
        """Whether a lease is this principal's, or from before that was written down; the owner's are all."""
        if self.principal == OWNER:
            return true()
        return or_(leases.c.principal == self.principal, leases.c.principal.is_(None))

    def _check_quota(self, db: Connection, holder: str, now: int) -> None:
        live = select(func.count()).where(leases.c.expires_ms > now, leases.c.principal == self.principal)
        if (db.scalar(live.where(leases.c.holder == holder)) or 0) >= self.most_of_one_holder:
            raise _too_many_error(holder, self.most_of_one_holder)
        if self.principal != OWNER and (db.scalar(live) or 0) >= self.most_of_one_principal:
            raise _too_many_error(self.principal, self.most_of_one_principal)

    def _give(self, db: Connection, held: HeldLease, moment: int, *, exclusive: bool = False) -> HeldLease:
        db.execute(
            insert(leases),
            {
                "lease_id": held.lease_id,
                "subject": held.subject,
                "holder": held.holder,
                "token": held.token,
                "exclusive": exclusive,
                "version": held.version,
                "moment_ms": moment,
                "expires_ms": held.expires_ms,
                "principal": str(self.principal),
            },
        )
        return held


def _too_many_error(holder: str, limit: int) -> NotAllowed:
    return NotAllowed(
        f"{str(holder)!r} holds {limit} leases already, and nobody may hold more: close those that are not "
        "needed",
        code=TOO_MANY_LEASES, holder=str(holder),
    )  # fmt: skip


def _check_ttl(ttl_ms: int) -> None:
    if not 0 < ttl_ms <= MAX_TTL_MS:
        raise InvalidRequest(
            f"a lease is for at most a day at a time and can be renewed, not for "
            f"{timedelta(milliseconds=ttl_ms)}: ask for a shorter time"
        )


def _expiry(now: int, ttl_ms: int) -> EpochMillis:
    return EpochMillis(now + ttl_ms)


def _is_live(now: int) -> Any:
    return select(leases).where(leases.c.expires_ms > now)


def _horizon(db: Connection, table_id: TableId, now: int) -> Horizon:
    found = db.execute(
        select(func.min(leases.c.version), func.min(leases.c.moment_ms)).where(
            leases.c.subject == table_id, leases.c.expires_ms > now
        )
    ).one()
    version, moment = found
    return Horizon(
        None if version is None else Version(version), None if moment is None else EpochMillis(moment)
    )


def _protected_from_ms(db: Connection, table_id: TableId, version: Version, fence: Row[Any]) -> int:
    """When a version was committed, if it can be kept."""
    latest = db.scalar(
        select(commit_store.tables.c.latest).where(
            commit_store.tables.c.table_id == table_id, commit_store.tables.c.state == LIVE
        )
    )
    if latest is None:
        raise table_not_found.no_table(table_id)
    if version > latest or version < 0:
        raise VersionNotFound(f"version {version} does not exist: the latest is {latest}", version=version)
    stamps = {
        row.version: row.in_commit_timestamp
        for row in db.execute(
            select(commit_store.commits.c.version, commit_store.commits.c.in_commit_timestamp).where(
                commit_store.commits.c.table_id == table_id,
                commit_store.commits.c.version.in_((version, version + 1)),
            )
        )
    }
    # A version needs the files that were removed by the next one or later.
    overtaken = None if version == latest else stamps.get(version + 1, 0) - CLOCK_MARGIN_MS
    if version < fence.first_version or (overtaken is not None and overtaken < fence.vacuumed_ms):
        raise VersionNotFound(
            f"version {version} was cleaned up, or part of it, or is being: ask for a later one",
            version=version,
        )
    return max(0, int(stamps.get(version, 0)) - CLOCK_MARGIN_MS)


def _lease_from_row(row: Row[Any]) -> HeldLease:
    version = None if row.version is None else Version(row.version)
    return HeldLease(row.lease_id, row.subject, row.holder, row.token, version, EpochMillis(row.expires_ms))
