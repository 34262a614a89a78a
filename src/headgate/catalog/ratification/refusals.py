"""A refused proposal leaves the table as it was, but whoever follows the lake shall hear of it."""

import logging

from headgate.catalog.activity.subscriptions import EventLog
from headgate.catalog.ports.access import Principal
from headgate.catalog.ports.commits import Proposal
from headgate.catalog.ports.events import EventKind
from headgate.catalog.store.event_store import NewEvent
from headgate.errors import CommitRefused, HeadgateError

_LOG = logging.getLogger(__name__)


def record_refusal(events: EventLog, proposal: Proposal, error: HeadgateError, principal: Principal) -> None:
    """Tell of a refusal by a rule or a policy; what else can go wrong with a proposal is no event."""
    by = error.fields.get("policy") if isinstance(error, CommitRefused) else error.fields.get("rule")
    if by is None:
        return
    details = {
        "by": str(by),
        "principal": str(principal),
        "code": error.code,
        "message": error.message,
        "line": error.fields.get("line"),
        "action": error.fields.get("action"),
    }
    try:
        events.tell(NewEvent(EventKind.REFUSAL, proposal.table_id, txn_id=proposal.txn_id, details=details))
    except HeadgateError as exc:  # the refusal stands whether or not it could be told
        _LOG.warning("a refused proposal could not be recorded: %s", exc)
