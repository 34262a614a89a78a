"""Taking a table back from a coordinator that is lost: what is published stays, the rest is named.

The coordinator alone knew which staged files are versions. So the table goes on after its last published
version, in one commit that is created as a file, and every staged file of a later version stays where it
is: some of them were ratified, and who wrote them may have been told so.
"""

import logging
from dataclasses import dataclass

from headgate.errors import (
    CommitUnknown,
    ConcurrentWrite,
    InvalidRequest,
    NotAllowed,
    ObjectExists,
    ObjectNotFound,
    StorageUnavailable,
)
from headgate.protocol.actions import Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.features.coordinated_commits import CoordinatorReference
from headgate.protocol.log import file_names
from headgate.storage import conditional_put_probe
from headgate.storage.store import Store
from headgate.table import transaction
from headgate.table.authority import UNANSWERED_ERRORS
from headgate.table.commit.filesystem import FilesystemCommitter
from headgate.table.opened_table import OpenedTable
from headgate.table.read import snapshot
from headgate.table.transaction import Change, Operation, Transaction

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ForcedRelease:
    """What came of it: the table is an ordinary one from ``version`` on.

    ``staged`` are the files of later versions than the last published one, by their paths below the table.
    Those that the coordinator had ratified are lost to the table; nobody can tell any more which they are.
    """

    version: Version
    staged: tuple[str, ...]


def force_release(table: OpenedTable, owner: str) -> ForcedRelease:
    """Take the table from a coordinator of that name which does not answer, or has lost what it knew.

    Refused while the coordinator answers. ``ConcurrentWrite`` if a version is published meanwhile, by the
    coordinator it may be: nothing happened then.
    """
    base = snapshot.load_snapshot(table.store, FilesystemCommitter(table.store).frontier())
    named = coordinated_commits.coordinator_of(base.state.metadata)
    _check_coordinator_lost(table, named, owner)
    conditional_put_probe.require_conditional_puts(table.store, file_names.PROBE_FOLDER)
    staged = tuple(_staged_after(table.store, named, base.version))
    operation = Operation("FORCED RELEASE", {"coordinator": owner}, changes_data=False)
    released = coordinated_commits.without_coordinator(base.state.metadata, base.state.protocol)
    txn = transaction.begin(base.state, Change(operation, released), world=table.world)
    _create(table.store, txn)
    if staged:
        _LOG.warning(
            "the table at %r was taken from its coordinator %r with version %s; these staged files may have "
            "been ratified as later versions and are no part of it: %s",
            table.location, owner, txn.target, ", ".join(staged),
        )  # fmt: skip
    return ForcedRelease(txn.target, staged)


def _check_coordinator_lost(table: OpenedTable, named: CoordinatorReference | None, owner: str) -> None:
    if named is None:
        raise InvalidRequest("no coordinator decides the commits of this table, so there is none to leave")
    if named.name != owner:
        raise InvalidRequest(
            f"the coordinator of this table is {named.name!r}, and not {owner!r}: name the lost one",
            coordinator=named.name,
        )
    try:
        answers = table.unanswered() is None
    except UNANSWERED_ERRORS:
        answers = False
    if answers:
        raise NotAllowed(
            f"the coordinator {owner!r} answers for this table, so nothing must be lost: take the table "
            "back with table.uncoordinate()"
        )


def _staged_after(store: Store, named: CoordinatorReference | None, version: Version) -> list[str]:
    folder = named.naming.staged if named is not None else file_names.STAGED_FOLDER
    found = (meta.path for meta in store.list_from(folder))
    versions = {path: file_names.staged_version(path.removeprefix(folder)) for path in found}
    return sorted(path for path, staged in versions.items() if staged is not None and staged > version)


def _create(store: Store, txn: Transaction) -> None:
    path = file_names.published_path(txn.target)
    try:
        store.put_if_absent(path, txn.content)
    except (ObjectExists, StorageUnavailable) as exc:
        try:
            ours = store.read(path) == txn.content
        except (ObjectNotFound, StorageUnavailable) as unread:
            raise CommitUnknown(
                f"whether version {txn.target}, which takes the table from its coordinator, was created is "
                f"not known ({exc.message}): look at the table, and if it still has its coordinator repeat "
                "the call",
                txn_id=txn.txn_id, target=txn.target,
            ) from unread  # fmt: skip
        if not ours:
            raise ConcurrentWrite(
                f"the table was not taken from its coordinator: version {txn.target} was published "
                "meanwhile, so the coordinator may be alive; nothing happened, look again",
                winner=txn.target,
            ) from exc
