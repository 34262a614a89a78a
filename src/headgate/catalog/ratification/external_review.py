"""A version that somebody published without the catalog: may it be one, and what if not?

It is reviewed like a proposal of somebody unknown, ``external``: the rules of the table, the policies, and
the privileges that ``external`` has. In a lake that knows nobody but its owner, or where the owner has the
log shared, that is all of them; elsewhere what was granted. What passes is written down as of unknown
origin, and told. What does not is no version, but is in the place of one: until somebody accepts it on
their own behalf, or moves it aside, nothing is committed to the table.
"""

from dataclasses import dataclass

from sqlalchemy import Connection

from headgate.catalog.access.commit_policies import Proposer
from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import EXTERNAL, OWNER, Principal, Privilege, Scope, Securable
from headgate.catalog.ports.commits import InlineCommit, Proposal, RatifiedCommit, TableId, fingerprint
from headgate.catalog.ports.events import EventKind, operation_name
from headgate.catalog.ports.recovery import StoredCommit
from headgate.catalog.ratification import ratify
from headgate.catalog.ratification.partitioning_cache import PartitioningCache
from headgate.catalog.ratification.ratify import Candidate
from headgate.catalog.store import (
    commit_store,
    event_store,
    grant_store,
    new_commits,
    table_not_found,
    table_state,
)
from headgate.catalog.store.commit_store import KnownTable
from headgate.catalog.store.event_store import NewEvent
from headgate.catalog.validation import timestamp_rules, validation
from headgate.catalog.validation.timestamp_rules import ProposedTimestamp
from headgate.clock import World
from headgate.errors import HeadgateError, InvalidRequest, NotAllowed, ObjectNotFound
from headgate.protocol.actions import Version
from headgate.protocol.log import codec, file_names
from headgate.protocol.log.file_names import SET_ASIDE
from headgate.storage.store import Store

EXTERNAL_VERSION_CODE = "HEADGATE_EXTERNAL_VERSION"


@dataclass(frozen=True, slots=True)
class CommitOrigin:
    """Where a published file is from, as far as the catalog can tell."""

    reviewed_as: Proposer
    """On whose behalf it is reviewed."""
    is_ours: bool = False
    """Whether the catalog created it itself, after a review."""

    @property
    def principal(self) -> Principal:
        """Whose commit it is."""
        return self.reviewed_as.principal if self.is_ours else EXTERNAL


def candidate_from_file(table_id: TableId, version: Version, content: bytes) -> Candidate | None:
    """A published file as if it had been proposed; None if it cannot be a commit of a managed table."""
    info = codec.decode_commit_info(version, content)
    if info is None or info.txn_id is None:
        return None
    proposal = Proposal(table_id, version, info.txn_id, InlineCommit(content))
    checked = validation.check_content(proposal, content)
    protocol = checked.commit.protocol
    if protocol is not None and not protocol.is_catalog_managed:
        return None
    return Candidate(proposal, content, checked)


@dataclass(frozen=True, slots=True)
class ExternalReview:
    """Writes down versions of unknown origin, or says why not."""

    database: Database
    world: World
    partitionings: PartitioningCache

    def write_down(self, found: Candidate, origin: CommitOrigin) -> bool:
        """Whether the version is known now; ``NotAllowed`` if it must not be a version of the table."""
        table_id, version = found.proposal.table_id, found.proposal.target
        with self.database.writing() as db:
            commit_store.lock_table(db, table_id)
            known = commit_store.find_head(db, table_id, found.proposal.txn_id)
            if known is None:
                raise table_not_found.no_table(table_id)
            if known.head.latest >= version:
                return True  # somebody else was about to learn it too
            if known.head.frozen or known.first_ratified_as is not None:
                return False
            refused = None if origin.is_ours else self._refusal(db, known, found, origin)
            if refused is None:
                self._write_down(db, known, found, origin)
        if refused is not None:
            self._tell_of_refusal(found, refused)
            raise _blocked_error(version, refused)
        return True

    def _refusal(
        self, db: Connection, known: KnownTable, found: Candidate, origin: CommitOrigin
    ) -> HeadgateError | None:
        proposal, stamp = found.proposal, found.checked.timestamp
        try:
            timestamp_rules.check_timestamp(
                ProposedTimestamp(stamp, known.head.latest_timestamp, self.world.now_ms())
            )
        except InvalidRequest as exc:
            return exc
        gate = ratify.open_gate(db, proposal.table_id, known, [proposal.txn_id], self.partitionings)
        return gate.refusal(proposal, found.checked, origin.reviewed_as, len(found.content))

    def _write_down(self, db: Connection, known: KnownTable, found: Candidate, origin: CommitOrigin) -> None:
        proposal, checked, head = found.proposal, found.checked, known.head
        table_id, version = proposal.table_id, proposal.target
        is_next = head.published == version - 1
        # Before all that precedes it is published, readers get it from here like the others.
        where = None if is_next else InlineCommit(found.content)
        record = StoredCommit(
            RatifiedCommit(version, proposal.txn_id, checked.timestamp, where),
            len(found.content),
            fingerprint(found.content),
            operation_name(checked.commit.info),
            None if origin.principal == OWNER else origin.principal,
        )
        latest_change = version if checked.changes_table else head.latest_change
        new_commits.insert_commits(db, table_id, [record], latest_change=latest_change)
        if checked.changes_table:
            table_state.save_table_state(db, table_id, checked.commit, before=head.latest_change)
        if is_next:
            commit_store.advance_published(db, table_id, head.published, version)
        if not origin.is_ours and not head.shares_log:  # where that is agreed, it is nothing to tell of
            self._tell_of_acceptance(db, found, origin)

    def _tell_of_acceptance(self, db: Connection, found: Candidate, origin: CommitOrigin) -> None:
        proposal, reviewer = found.proposal, origin.reviewed_as.principal
        message = f"version {proposal.target} was published without the catalog, and taken in as it is"
        details: dict[str, object] = {
            "code": EXTERNAL_VERSION_CODE,
            "message": message,
            "principal": str(EXTERNAL),
        }
        if reviewer != EXTERNAL:
            details["accepted_by"] = str(reviewer)
        told = NewEvent(
            EventKind.INCIDENT,
            proposal.table_id,
            version=proposal.target,
            txn_id=proposal.txn_id,
            details=details,
        )
        event_store.record_event(db, told, now_ms=self.world.now_ms())

    def _tell_of_refusal(self, found: Candidate, refused: HeadgateError) -> None:
        proposal = found.proposal
        details = {
            "code": EXTERNAL_VERSION_CODE,
            "message": _blocked_error(proposal.target, refused).message,
            "principal": str(EXTERNAL),
            "by": str(refused.fields.get("policy") or refused.fields.get("rule")),
        }  # fmt: skip
        told = NewEvent(EventKind.INCIDENT, proposal.table_id, txn_id=proposal.txn_id, details=details)
        incident = (
            f"{EXTERNAL_VERSION_CODE}/{proposal.table_id}/{proposal.target}/{fingerprint(found.content)}"
        )
        with self.database.writing() as db:
            event_store.record_incident(db, incident, told, now_ms=self.world.now_ms())

    def set_aside(self, table_id: TableId, files: Store, version: Version, principal: Principal) -> str:
        """Move a file away that is in the place of a version and is none; where it is then."""
        path = file_names.published_path(version)
        with self.database.reading() as db:
            check_may_decide(db, principal, table_id)
        try:
            content = files.read(path)
        except ObjectNotFound as exc:
            raise InvalidRequest(f"there is no {path}: nothing is in the way of version {version}") from exc
        with self.database.reading() as db:
            _check_is_no_version(db, table_id, version, content)
        place = f"{SET_ASIDE}{version:020d}.{self.world.uuid()}.json"
        files.put(place, content)
        files.delete(path)
        details = {
            "code": EXTERNAL_VERSION_CODE,
            "message": f"{path} was moved to {place}",
            "by": str(principal),
        }
        with self.database.writing() as db:
            told = NewEvent(EventKind.INCIDENT, table_id, details=details)
            event_store.record_event(db, told, now_ms=self.world.now_ms())
        return place


def check_may_decide(db: Connection, principal: Principal, table_id: TableId) -> None:
    """Refuse whoever may not decide about versions of others."""
    what = "decide about a version that was published without the catalog"
    grant_store.require_privilege(
        db, principal, Privilege.MANAGE_GRANTS, Securable(Scope.TABLE, table_id), what
    )


def _check_is_no_version(db: Connection, table_id: TableId, version: Version, content: bytes) -> None:
    """Refuse to move what readers read."""
    known = commit_store.find_head(db, table_id)
    if known is None:
        raise table_not_found.no_table(table_id)
    ratified = commit_store.commit_digests(db, table_id, Version(version - 1), version).get(version)
    if version <= known.head.published or ratified == fingerprint(content):
        raise InvalidRequest(
            f"{file_names.published_path(version)} is version {version} of the table, as it was ratified: it "
            "stays"
        )


def _blocked_error(version: Version, refused: HeadgateError) -> NotAllowed:
    return NotAllowed(
        f"{file_names.published_path(version)} was published without the catalog, nobody knows by whom, and "
        f"is refused: {refused.message}. Until somebody decides, nothing is committed to the table: look at "
        f"the file, and accept it with lake.accept_version(table, {version}) or have it moved away with "
        f"lake.set_aside_version(table, {version})",
        code=EXTERNAL_VERSION_CODE, version=version, reason=refused.message,
    )  # fmt: skip
