"""Which kinds of privileges, events and maintenance begin with the letters typed so far?"""

import os
from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING

from headgate.cli.completion.variable import COMPLETE_VARIABLE
from headgate.cli.deferred import deferred_module

if TYPE_CHECKING:
    from headgate.catalog.ports import events, maintenance
    from headgate.catalog.ports.access import privileges
else:
    events = deferred_module("headgate.catalog.ports.events")
    maintenance = deferred_module("headgate.catalog.ports.maintenance")
    privileges = deferred_module("headgate.catalog.ports.access.privileges")

_BASH = "complete_bash"


def complete_privilege(incomplete: str) -> list[str]:
    """The privileges that begin so, in capitals or not, as commands take them."""
    found = _matching(privileges.Privilege, incomplete.upper())
    return [each.lower() for each in found] if incomplete.islower() else found


def complete_event_kind(incomplete: str) -> list[str]:
    """The kinds of events that begin so."""
    return _matching(events.EventKind, incomplete)


def complete_maintenance(incomplete: str) -> list[str]:
    """The kinds of maintenance that begin so, and take a permission."""
    kinds = (kind for kind in maintenance.Maintenance if kind in maintenance.NEEDS_PERMISSION)
    return _matching(kinds, incomplete)


def _matching(kinds: Iterable[Enum], incomplete: str) -> list[str]:
    return [_as_typed(kind.value) for kind in kinds if kind.value.startswith(incomplete)]


def _as_typed(word: str) -> str:
    """One word for a shell that takes what it is given letter by letter; others quote it themselves."""
    return word.replace(" ", "\\ ") if os.environ.get(COMPLETE_VARIABLE) == _BASH else word
