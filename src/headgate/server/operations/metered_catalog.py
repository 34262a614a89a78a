"""How many commits were ratified, lost, refused? A catalog that counts, and does what another does.

    metered = meter("main", catalog, metrics)
    metered.propose(proposal)      # the other's answer, and a count of headgate_proposals_total

All that is not a proposal is the other's own method.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from headgate.catalog.ports.catalog import LakeCatalog, Policies
from headgate.catalog.ports.commits import Lost, Proposal, Ratified, TableId, Unknown
from headgate.catalog.ports.groups import GroupLost, GroupProposal, GroupRatified
from headgate.errors import CatalogError, CommitUnknown, ConflictError, UserError
from headgate.protocol.actions import Version
from headgate.server.operations import lost_races
from headgate.server.operations.lost_races import LostRace
from headgate.server.operations.metrics import ServerMetrics

Answer = TypeVar("Answer")

OUTCOMES: tuple[tuple[type, str], ...] = (
    (Ratified, "ratified"),
    (GroupRatified, "ratified"),
    (Lost, "conflict"),
    (GroupLost, "conflict"),
    (ConflictError, "conflict"),
    (Unknown, "unknown"),
    (CommitUnknown, "unknown"),
    (UserError, "refused"),
    (CatalogError, "refused"),
    (object, "failed"),
)
"""What an answer, or an error, is counted as: by the first class that it is of."""


def meter(lake: str, catalog: LakeCatalog, metrics: ServerMetrics) -> LakeCatalog:
    """The same catalog, whose proposals are counted."""
    return cast("LakeCatalog", _MeteredCatalog(lake, catalog, metrics))


class _MeteredCatalog:
    def __init__(self, lake: str, catalog: LakeCatalog, metrics: ServerMetrics) -> None:
        self._lake = lake
        self._catalog = catalog
        self._metrics = metrics

    def __getattr__(self, name: str) -> Any:
        return getattr(self._catalog, name)

    def acting_as(self, principal: str, *, policies: Policies | None = None) -> LakeCatalog:
        """The same for another principal, counted too."""
        return meter(self._lake, self._catalog.acting_as(principal, policies=policies), self._metrics)

    def propose(self, proposal: Proposal) -> object:
        """Propose, and count what became of it."""
        answer = self._counted(lambda: self._catalog.propose(proposal))
        if isinstance(answer, Lost):
            self._lost(proposal, proposal.target, [winner.version for winner in answer.winners])
        return answer

    def propose_group(self, group: GroupProposal) -> object:
        """Propose a group, and count what became of it, once."""
        answer = self._counted(lambda: self._catalog.propose_group(group))
        if isinstance(answer, GroupLost):
            proposals = {proposal.table_id: proposal for proposal in group.proposals}
            for table_id, winners in answer.winners.items():
                versions = [winner.version for winner in winners]
                self._lost(proposals.get(table_id, table_id), versions[0], versions, is_group=True)
        return answer

    def _lost(
        self,
        lost: Proposal | TableId,
        target: Version,
        versions: Sequence[Version],
        *,
        is_group: bool = False,
    ) -> None:
        """Remember a race; of a table that was only read there is no proposal."""
        table_id, proposal = (
            (lost.table_id, lost_races.lost_proposal(lost)) if isinstance(lost, Proposal) else (lost, None)
        )
        winners, at_ms = lost_races.first_winners(versions), time.time_ns() // 1_000_000
        who = str(self._catalog.principal)
        race = LostRace(self._lake, table_id, who, target, winners, at_ms, is_group, proposal)
        self._metrics.lost_races.add(race)

    def _counted(self, propose: Callable[[], Answer]) -> Answer:
        began = time.perf_counter()
        ended: object = None
        try:
            ended = answer = propose()
        except BaseException as exc:
            ended = exc
            raise
        finally:
            outcome = next(word for kind, word in OUTCOMES if isinstance(ended, kind))
            self._metrics.proposals.labels(self._lake, outcome).inc()
            self._metrics.proposal_seconds.labels(self._lake).observe(time.perf_counter() - began)
        return answer
