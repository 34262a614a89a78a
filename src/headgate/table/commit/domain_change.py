"""A commit that only changes metadata domains."""

from collections.abc import Iterable

import msgspec

from headgate.errors import InvalidRequest
from headgate.protocol.actions import DomainMetadata
from headgate.protocol.domains import rules
from headgate.protocol.domains.rules import DomainEdit
from headgate.protocol.log.replay import State
from headgate.table.transaction import Change, Operation


def plan_domain_change(state: State, edits: Iterable[DomainEdit]) -> Change:
    """What to commit after ``state`` so that these changes are made."""
    actions = rules.domain_actions(state.protocol, state.domains, edits)
    if not actions:
        raise InvalidRequest("name a metadata domain to set or to remove: there is nothing to commit")
    written = [action for action in actions if isinstance(action, DomainMetadata)]
    parameters = {
        "set": _names(action for action in written if not action.removed),
        "removed": _names(action for action in written if action.removed),
    }
    return Change(Operation("DOMAIN METADATA", parameters), actions)


def _names(written: Iterable[DomainMetadata]) -> str:
    return msgspec.json.encode([action.domain for action in written]).decode()
