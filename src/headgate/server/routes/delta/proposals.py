"""Which transaction is a staged file? The one its commitInfo names, else the one its own name stands for.

So the same file is the same transaction whenever, and however often, it is proposed.
"""

from dataclasses import dataclass

from headgate.catalog.ports.access import OWNER
from headgate.catalog.ports.commits import (
    InlineCommit,
    Proposal,
    RatifiedCommit,
    StagedCommit,
    txn_id_from_file_name,
)
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.serving import CommitRecord
from headgate.catalog.wire.delta_api import AddCommit, CommitBody
from headgate.errors import AccessDenied, CorruptLog, InvalidRequest, ObjectNotFound
from headgate.protocol.actions import Commit, EpochMillis, Version
from headgate.protocol.log import codec, file_names
from headgate.server.routes.delta import visible_table
from headgate.server.routes.delta.session import DeltaSession
from headgate.storage import nofollow
from headgate.storage.local import LocalStore
from headgate.storage.locate import locate
from headgate.storage.store import Store

_MOST_BYTES = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ReadProposal:
    """A proposal, what its content does, and how it is listed once it is ratified."""

    proposal: Proposal
    commit: Commit
    body: CommitBody


def read_proposal(entry: TableEntry, added: AddCommit) -> ReadProposal:
    """The commit that is asked for; ``InvalidRequest`` if it is not there, or is none."""
    body = added.commit
    version = Version(body.version)
    if body.content is not None:
        content = body.content.encode()
        commit = _decode(version, content)
        if commit.info is None or not commit.info.txn_id:
            raise InvalidRequest("an inline commit begins with a commitInfo that has a txnId")
        place: InlineCommit | StagedCommit = InlineCommit(content)
        proposal = Proposal(entry.table_id, version, commit.info.txn_id, place, added.any_version)
        return ReadProposal(proposal, commit, body)
    staged = staged_commit(added)
    commit = _decode(version, read_log_file(locate(entry.location), staged.path, "the staged commit"))
    txn_id = (commit.info.txn_id if commit.info else None) or txn_id_from_file_name(staged.file_name)
    stamp = (commit.info.in_commit_timestamp if commit.info else None) or EpochMillis(body.timestamp)
    ratified = RatifiedCommit(version, txn_id, stamp, staged)
    listed = visible_table.staged_commit_body(entry.location, ratified, staged)
    return ReadProposal(Proposal(entry.table_id, version, txn_id, staged), commit, listed)


def staged_commit(added: AddCommit) -> StagedCommit:
    """The staged file of a commit, if its name is that of one of the version."""
    name = added.commit.file_name or ""
    if file_names.staged_version(name) != added.commit.version:
        raise InvalidRequest(
            f"{name!r} is not the name of a staged commit of version {added.commit.version}: it must be "
            "<20-digit version>.<uuid>.json",
            file_name=name,
        )
    return StagedCommit(name)


def find_ratified(session: DeltaSession, entry: TableEntry, added: AddCommit) -> CommitRecord | None:
    """The version that this very file was ratified as, for whoever proposed it, however long ago."""
    if added.commit.file_name is None:
        return None
    name = staged_commit(added).file_name
    if name not in session.catalog.publications.ratified_names(entry.table_id, (name,)):
        return None
    before = Version(added.commit.version + 1)
    record = next(iter(session.catalog.commits(entry.table_id, before=before, limit=1)), None)
    principal = session.caller.principal
    if record is None or principal not in (OWNER, record.principal):
        return None  # not for this principal to hear of (T8)
    return record


def proposal_of(session: DeltaSession, entry: TableEntry, added: AddCommit) -> Proposal:
    """The proposal of a file that may have been ratified and cleaned up long ago."""
    if record := find_ratified(session, entry, added):
        return Proposal(entry.table_id, Version(added.commit.version), record.txn_id, staged_commit(added))
    return read_proposal(entry, added).proposal


def read_log_file(files: Store, path: str, what: str) -> bytes:
    """What a client wrote, read without following a link to what is not the table's (T3)."""
    try:
        if isinstance(files, LocalStore):
            return nofollow.read_nofollow(files.root, path, most=_MOST_BYTES)
        return files.read(path)
    except ObjectNotFound as exc:
        raise InvalidRequest(f"{what} {path} does not exist: write it first, and then send this") from exc
    except AccessDenied as exc:
        raise InvalidRequest(f"{what} {path} cannot be read: {exc.message}") from exc


def _decode(version: Version, content: bytes) -> Commit:
    try:
        return codec.decode_without_files(version, content)
    except CorruptLog as exc:
        raise InvalidRequest(f"the proposed commit cannot be read: {exc.message}") from exc
