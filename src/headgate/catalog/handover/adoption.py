"""How does a table come into the catalog?

The catalog promises to own it (``claim``). Then version n + 1 of its log, created as a file by whoever asked,
names the table's id in this catalog. That creation is the one moment at which the table changes hands:
whatever happens afterwards, the log says what is true, and ``settle`` makes the catalog agree, for anybody,
at any time.

A promise that runs out keeps nobody from the table or its name. But it is forgotten only when the log has
gone on without it, so that even a file which comes late finds a catalog that knows of it.
"""

from dataclasses import replace

from sqlalchemy import Connection

from headgate.catalog.handover.context import CLAIM_TTL_MS, HandoverContext, published_commit
from headgate.catalog.ports.access import OWNER, Principal
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, TableName, normalize_name
from headgate.catalog.ports.directory_copy import DROPPED
from headgate.catalog.ports.events import EventKind
from headgate.catalog.ports.handover import AdoptionStatus, Transfer, TransferPhase
from headgate.catalog.store import (
    commit_store,
    event_store,
    grant_store,
    name_store,
    new_commits,
    table_state,
    transfer_store,
)
from headgate.catalog.store.event_store import NewEvent
from headgate.errors import NotAllowed, SchemaNotFound, TableExists
from headgate.protocol.actions import Commit, TxnId, Version
from headgate.protocol.log import codec
from headgate.protocol.metadata.alter_properties import TABLE_ID
from headgate.storage import locations


class Adoptions:
    """Tables on their way into one catalog; safe to share between threads and processes."""

    def __init__(self, handover: HandoverContext) -> None:
        self._handover = handover
        self._database = handover.database

    def claim(self, name: TableName, place: str, base: Version, proposer: str) -> Transfer:
        """Promise to own the table at ``place``, in the one spelling, should version ``base + 1`` say so.

        Refused for a place that overlaps with that of another table, and while somebody else has the
        promise. Whoever has it gets the same again, with more time.
        """
        self._handover.require_proposer(proposer)
        location = locations.stored_location(place, self._handover.warehouse)
        new = self._new(normalize_name(name), location, base, proposer)
        self._check_may_claim(new)
        self._settle_near(location)
        with self._database.writing() as db:
            commit_store.lock_names(db)
            same = self._same(db, new)
            if same is not None:
                transfer_store.set_phase(db, same.table_id, TransferPhase.CLAIMED, new.expires_ms)
                return replace(same, expires_ms=new.expires_ms)
            transfer_store.insert_transfer(db, new)
        return new

    def check(self, name: TableName, place: str, proposer: str) -> None:
        """Refuse what ``claim`` would refuse, while there is no table yet; nothing is promised."""
        self._handover.require_proposer(proposer)
        location = locations.stored_location(place, self._handover.warehouse)
        new = self._new(normalize_name(name), location, Version(-1), proposer)
        self._check_may_claim(new)
        self._settle_near(location)
        with self._database.reading() as db:
            self._same(db, new)

    def find(self, name: TableName, place: str, table_id: str | None, proposer: str) -> TableEntry | None:
        """The table at ``place`` whose log names ``table_id``, if it is or becomes one of this catalog.

        One that came in under no name, because its own was given away by then, gets this one, if the
        ``proposer`` may give it.
        """
        self._handover.require_proposer(proposer)
        name = normalize_name(name)
        if table_id is not None:
            try:
                self.settle(TableId(table_id))
            except TableExists:
                self._check_new_name(TableId(table_id), name, proposer)
                self.settle(TableId(table_id), name=name)
        found = self._at(place, table_id)
        if found is not None and found.name != name:
            raise TableExists(
                f"the table at {place!r} is {found.name} of this lake already: open it by that name",
                name=str(found.name),
            )
        return found

    def _at(self, place: str, table_id: str | None) -> TableEntry | None:
        """The live table at ``place``; the log of an adopted one names its id."""
        with self._database.reading() as db:
            if table_id is None:
                found = transfer_store.find_row_at(
                    db, locations.stored_location(place, self._handover.warehouse)
                )
            else:
                found = name_store.find_row(db, TableId(table_id))
            if found is None or locations.canonical(self._handover.place(found.location)) != place:
                return None
            if not self._handover.sees_table(db, TableId(found.table_id)):
                return None
            name = TableName(found.schema_name, found.table_name)
            if found.state == DROPPED:
                raise TableExists(
                    f"the table at {place!r} is {name} of this lake, which was dropped: bring it back with "
                    f"lake.undrop({str(name)!r}, table_id={found.table_id!r})",
                    name=str(name),
                )
            entry = transfer_store.find_live_table(db, TableId(found.table_id))
        return None if entry is None else self._handover.resolved(entry)

    def find_adopted(self, claim: Transfer) -> TableEntry | None:
        """The table that was claimed, if it came in."""
        with self._database.reading() as db:
            found = transfer_store.find_live_table(db, claim.table_id)
            if found is None or not self._handover.sees_table(db, claim.table_id):
                return None
        return self._handover.resolved(found)

    def under_way(self) -> tuple[Transfer, ...]:
        """Every table that is on its way in, or out, as far as the caller may know of it."""
        with self._database.reading() as db:
            under_way = transfer_store.transfers_under_way(db)
            return tuple(found for found in under_way if self._handover.sees_transfer(db, found))

    def settle_name(self, name: TableName) -> None:
        """Make the catalog agree with the log about tables that are to come by that name.

        Whoever has the name by now is not to wait for those elsewhere, nor to hear what is wrong with their
        logs.
        """
        name = normalize_name(name)
        with self._database.reading() as db:
            taken = name_store.find_table(db, name)
            waiting = [
                found
                for found in transfer_store.transfers_under_way(db, name)
                if found.phase is TransferPhase.CLAIMED
                and (taken is None or taken.location == found.location)
                and self._handover.sees_transfer(db, found)
            ]
        for found in waiting:
            self.settle(found.table_id)

    def settle(self, table_id: TableId, *, name: TableName | None = None) -> AdoptionStatus:
        """Make the catalog agree with what the log says of a claim.

        A table that has come gets ``name`` in place of the one that it was claimed for. Whoever may not know
        of the table hears what is said of one that does not exist.
        """
        with self._database.reading() as db:
            claim = transfer_store.find_transfer(db, table_id)
            if claim is None or claim.phase is not TransferPhase.CLAIMED:
                here = transfer_store.find_live_table(db, table_id)
                is_seen = here is not None and self._handover.sees_table(db, table_id)
                return AdoptionStatus.ADOPTED if is_seen else AdoptionStatus.OPEN
            if not self._handover.sees_transfer(db, claim):
                return AdoptionStatus.OPEN
        return self._settle_claim(claim, name)

    def _settle_claim(self, claim: Transfer, name: TableName | None = None) -> AdoptionStatus:
        content = self._handover.read_deciding_version(claim)
        if content is None:
            return self._abandon(claim) if self._handover.has_log_moved_past(claim) else AdoptionStatus.OPEN
        commit = codec.decode(claim.target, content)
        if commit.metadata is None or commit.metadata.configuration.get(TABLE_ID) != claim.table_id:
            return self._abandon(claim)
        return self._enter(claim, name or claim.name, commit, content)

    def _new(self, name: TableName, location: str, base: Version, proposer: str) -> Transfer:
        world = self._handover.world
        table_id, txn_id = TableId(world.uuid()), TxnId(world.uuid())
        expires = self._handover.expiry(CLAIM_TTL_MS)
        return Transfer(table_id, TransferPhase.CLAIMED, name, location, base, txn_id, proposer, expires)

    def _same(self, db: Connection, new: Transfer) -> Transfer | None:
        """The claim that ``new`` repeats, if it does, after checking that it may be made."""
        self._check_schema(db, new.name.schema)
        self._check_place(db, new.location)
        claims = transfer_store.open_claims(db)
        same = next((found for found in claims if _is_same_claim(found, new)), None)
        for found in claims:
            if found is not same:
                self._check_rival(found, new)
        if name_store.is_name_taken(db, new.name):
            raise TableExists(
                f"there is already a table {new.name}: choose another name or drop it first",
                name=str(new.name),
            )
        if same is None:
            self._handover.review(db, new)
        return same

    def _enter(self, claim: Transfer, name: TableName, commit: Commit, content: bytes) -> AdoptionStatus:
        now, table_id = self._handover.world.now_ms(), claim.table_id
        with self._database.writing() as db:
            commit_store.lock_names(db)
            if transfer_store.find_transfer(db, table_id) is None:
                return AdoptionStatus.ADOPTED  # somebody else was faster
            if name_store.is_name_taken(db, name):
                raise TableExists(
                    f"the table at {self._handover.place(claim.location)!r} has come to this catalog, but "
                    f"the name {name} was given away meanwhile: adopt it again by another name",
                    name=str(name),
                )
            written = published_commit(commit, content)
            transfer_store.insert_adopted_table(db, claim, name, now)
            grant_store.set_table_owner(db, table_id, Principal(claim.proposer))
            new_commits.insert_commits(db, table_id, [written], latest_change=claim.target)
            commit_store.advance_published(db, table_id, claim.base, claim.target)
            table_state.save_table_state(db, table_id, commit, before=claim.base)
            transfer_store.delete_transfer(db, table_id)
            happened = NewEvent(EventKind.ADOPT, table_id, str(name), claim.target, written.commit.txn_id)
            event_store.record_event(db, happened, now_ms=now)
        return AdoptionStatus.ADOPTED

    def _abandon(self, claim: Transfer) -> AdoptionStatus:
        with self._database.writing() as db:
            commit_store.lock_names(db)
            transfer_store.delete_transfer(db, claim.table_id)
        return AdoptionStatus.ABANDONED

    def _settle_near(self, location: str) -> None:
        with self._database.reading() as db:
            near = [
                found
                for found in transfer_store.open_claims(db)
                if locations.overlap(found.location, location)
            ]
        for found in near:
            self._settle_claim(found)

    def _check_may_claim(self, new: Transfer) -> None:
        """Refuse whoever may not adopt a table by that name, before anything is looked at for it."""
        if self._handover.principal == OWNER:
            return
        with self._database.reading() as db:
            if not any(_is_same_claim(found, new) for found in transfer_store.open_claims(db)):
                self._check_schema(db, new.name.schema)
                self._handover.review(db, new)

    def _check_new_name(self, table_id: TableId, name: TableName, proposer: str) -> None:
        """Refuse a name for a table that lost its own, as it would be refused to whoever adopts one by it."""
        with self._database.reading() as db:
            claim = transfer_store.find_transfer(db, table_id)
            if claim is None or claim.name == name:
                return  # somebody else was faster, or it is the one that is taken
            self._check_schema(db, name.schema)
            for rival in transfer_store.open_claims(db):
                if rival.name == name:
                    self._check_rival(rival, replace(claim, name=name))
            self._handover.review(db, replace(claim, name=name, proposer=proposer))

    def _check_schema(self, db: Connection, schema: str) -> None:
        known = name_store.schema_exists(db, schema)
        if not known or not grant_store.sees_schema(db, self._handover.principal, schema):
            raise SchemaNotFound(
                f"there is no schema {schema!r}: make it with lake.create_schema({schema!r})", name=schema
            )

    def _check_place(self, db: Connection, location: str) -> None:
        if near := transfer_store.overlapping_locations(db, location):
            place, other = self._handover.place(location), self._shown_place(db, near[0])
            raise TableExists(
                f"{place!r} overlaps with {other}, the place of another table of this lake, which may have "
                "been dropped and not purged: two tables must not share files",
                code="HEADGATE_LOCATION_OVERLAP", name=other,
            )  # fmt: skip

    def _shown_place(self, db: Connection, location: str) -> str:
        """A place as it is told to whoever may know of the table there, or may not."""
        row = transfer_store.find_row_at(db, location)
        if row is None or not self._handover.sees_table(db, TableId(row.table_id)):
            return "one"
        return repr(self._handover.place(location))

    def _check_rival(self, rival: Transfer, new: Transfer) -> None:
        near = rival.name == new.name or locations.overlap(rival.location, new.location)
        if not near or self._handover.is_expired(rival):
            return
        seconds = (rival.expires_ms - self._handover.world.now_ms()) // 1000
        raise NotAllowed(
            f"{rival.proposer!r} is adopting {self._handover.place(rival.location)!r} as {rival.name}: wait "
            f"until that is done, or {seconds} seconds if it never will be",
            code="HEADGATE_ALREADY_CLAIMED", proposer=rival.proposer,
        )  # fmt: skip


def _is_same_claim(found: Transfer, new: Transfer) -> bool:
    return (found.proposer, found.location, found.base, found.name) == (
        new.proposer,
        new.location,
        new.base,
        new.name,
    )
