"""What would become of this commit? It passes all that stands before a ratification, and none is made.

    Rehearsals(proposals, terms, standing).rehearse(proposal)      # the error of a proposal, or None

It is the same gate in the same order, in a transaction that only reads, so an answer is as good as the
moment it was given: whoever commits in between may change it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.catalog.access.commit_policies import Proposer
from headgate.catalog.ports.commits import Proposal, TableId
from headgate.catalog.ratification import ratify
from headgate.catalog.ratification.proposal_reader import ProposalReader
from headgate.catalog.ratification.ratify import RatificationTerms, VersionTaken
from headgate.catalog.store import commit_rules, commit_store, grant_store, transfer_store
from headgate.errors import HeadgateError, InvalidRequest, TableNotFound, UserError


@dataclass(frozen=True, slots=True)
class Rehearsals:
    """``CommitRehearsals`` over the database of a reader of proposals, on behalf of one proposer."""

    proposals: ProposalReader
    terms: RatificationTerms
    standing: Proposer

    def rules(self, table_id: TableId) -> Mapping[str, str]:
        with self.proposals.database.reading() as db:
            grant_store.require_visible(db, self.standing.principal, table_id)
            return commit_rules.load_rules(db, table_id)

    def rehearse(self, proposal: Proposal) -> HeadgateError | None:
        try:
            candidate = self.proposals.read(proposal, self.standing)
        except TableNotFound:
            raise
        except UserError as exc:
            return exc
        with self.proposals.database.reading() as db:
            found = commit_store.find_head(db, proposal.table_id, proposal.txn_id)
            if found is None:
                raise transfer_store.not_live_error(db, proposal.table_id)
            gate = ratify.open_gate(db, proposal.table_id, found, [proposal.txn_id], self.terms.partitionings)
            now_ms = None if self.terms.now_ms is None else self.terms.now_ms()
            plan = ratify.plan_candidates(found.head, {}, [candidate], self.terms.limits, gate, now_ms)
        answer = plan.answers[0]
        if isinstance(answer, VersionTaken):
            return InvalidRequest(
                f"version {proposal.target} is taken: rehearse the commit as version {found.head.latest + 1}",
                asked=proposal.target, latest=found.head.latest,
            )  # fmt: skip
        return answer if isinstance(answer, HeadgateError) else None
