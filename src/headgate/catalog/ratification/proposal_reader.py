"""What does a proposal say? Its content is read and checked before any table is held for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headgate.catalog.access import commit_policies
from headgate.catalog.access.commit_policies import Proposer
from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import OWNER, Principal, Privilege
from headgate.catalog.ports.commits import InlineCommit, Proposal, StagedCommit
from headgate.catalog.ratification.ratify import Candidate
from headgate.catalog.store import commit_store, grant_store, table_not_found, transfer_store
from headgate.deferred import deferred
from headgate.storage.store import Store

if TYPE_CHECKING:
    from headgate.catalog.validation import staged_commits, validation
else:
    staged_commits, validation = deferred("headgate.catalog.validation", "staged_commits", "validation")


@dataclass(frozen=True, slots=True)
class ProposalReader:
    """Makes candidates of proposals."""

    database: Database
    files: Callable[[str], Store]
    """The store of a table, by its location as the database has it."""

    def read(self, proposal: Proposal, standing: Proposer, *, location: str | None = None) -> Candidate:
        """The proposal with its content, checked; ``location`` is where a table is that is not live yet."""
        validation.check_staged_name(proposal)
        if location is None and standing.principal != OWNER:
            self._check_may_write(proposal, standing.principal)
        content = self._content(proposal, standing.principal, location)
        return Candidate(proposal, content, validation.check_content(proposal, content), standing)

    def _check_may_write(self, proposal: Proposal, principal: Principal) -> None:
        """Refuse somebody who may not write to the table at all, before anything of theirs is read.

        Whoever may not even know of the table does not hear of it here either. Whoever repeats what was
        ratified is told so, whatever may be allowed since.
        """
        table_id = proposal.table_id
        with self.database.reading() as db:
            known = commit_store.find_head(db, table_id, proposal.txn_id)
            first = None if known is None else known.first_ratified_as
            held = grant_store.table_privileges(db, principal, table_id)
            is_own = first is not None and grant_store.proposer_of(db, table_id, first) == principal
            if Privilege.READ not in held and not is_own:
                raise table_not_found.no_table(table_id)
            if known is None:
                raise transfer_store.not_live_error(db, table_id)
            if first is None and not held - {Privilege.READ}:
                raise commit_policies.cannot_write_error(principal)

    def _content(self, proposal: Proposal, principal: Principal, location: str | None) -> bytes:
        match proposal.content:
            case InlineCommit(content):
                return content
            case StagedCommit(file_name):
                if location is None:
                    with self.database.reading() as db:
                        grant_store.require_visible(db, principal, proposal.table_id)
                        location = transfer_store.require_live_table(db, proposal.table_id).location
                return staged_commits.read_staged_commit(self.files(location), file_name)
