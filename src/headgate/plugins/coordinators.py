"""Commit coordinators for users: who decides the commits of tables that name one in their properties.

    headgate.coordinators.register("dynamodb", build)

``build(conf)`` gives the coordinator that the conf of a table means. A package can bring coordinators of
its own: an entry point of the group ``headgate.commit_owners``, named after the coordinator, is such a
function; it is imported only when a table names it, and what the program registers itself comes first.

``headgate`` is there from the start: it keeps what it decides in the database of a lake, given by
``{"lake": "/absolute/path"}``, or for several machines by ``{"lake": "https://host/lake"}``, a server that
every machine asks with its own ``HEADGATE_TOKEN``, or ``{"lake": "postgresql://user@host/database"}``; each
machine names such servers in ``HEADGATE_COMMIT_OWNERS``. The lake is made for whoever gives a table to it;
for whoever opens a table that names it, it has to be there.
With ``"commits": "published"`` it creates every commit in ``_delta_log`` at once, and stages nothing.
"""

import pkgutil
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import EntryPoint

from headgate.catalog.coordinator.failures import (
    commit_failure,
    commit_failure_from_status,
    error_from_status,
)
from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.coordinator.publishing_coordinator import PublishingCoordinator
from headgate.catalog.ports.coordinator import CommitCoordinator, CoordinatorBuilder
from headgate.catalog.ports.ledger import Ledger
from headgate.catalog.targets import is_http
from headgate.errors import InvalidRequest
from headgate.plugins.coordinator_addresses import require_known_server
from headgate.plugins.registry import PluginKind, Registry, load_at_first_call

__all__ = [
    "GROUP",
    "Builder",
    "CommitCoordinator",
    "CommitOwner",
    "CoordinatorBuilder",
    "commit_failure",
    "commit_failure_from_status",
    "error_from_status",
    "error_of",
    "failed",
    "failure_of",
    "find",
    "find_coordinator",
    "in_memory",
    "over_ledger",
    "register",
    "registered",
    "unregister",
]

GROUP = "headgate.commit_owners"
_LAKE, _BATCH, _COMMITS = "lake", "batch", "commits"
_STAGED, _PUBLISHED = "staged", "published"
_OPEN_LEDGER = "headgate.catalog.coordinator.database_ledger:open_ledger"
_OPEN_SERVED_LEDGER = "headgate.catalog.rest.opening:open_coordinator_ledger"
"""By name, because they import what nobody needs whose tables have no such coordinator."""


def in_memory(*, batch: int = 1) -> CommitCoordinator:
    """A coordinator that forgets everything when the process ends: for tests.

    Every version that is a multiple of ``batch`` is published with all before it.
    """
    return LedgerCoordinator(MemoryLedger(), batch)


def over_ledger(ledger: Ledger, *, batch: int = 1) -> CommitCoordinator:
    """A coordinator that keeps what it decides in this ledger; those over equal ledgers are equal.

    Every version that is a multiple of ``batch`` is published with all before it.
    """
    return LedgerCoordinator(ledger, batch)


def _lake_coordinator(conf: Mapping[str, str], *, create: bool = True) -> CommitCoordinator:
    if _LAKE not in conf:
        raise InvalidRequest(
            f"the conf of the coordinator 'headgate' must say which {_LAKE}: its path, https://… or "
            "postgresql://…"
        )
    batch, commits = conf.get(_BATCH, "1"), conf.get(_COMMITS, _STAGED)
    if not batch.isdecimal() or int(batch) < 1:
        raise InvalidRequest(f"{_BATCH} must be a whole number from 1, not {batch!r}")
    if commits not in (_STAGED, _PUBLISHED):
        raise InvalidRequest(f"{_COMMITS} must be {_STAGED!r} or {_PUBLISHED!r}, not {commits!r}")
    require_known_server(conf[_LAKE])
    coordinator = LedgerCoordinator(_open_ledger(conf[_LAKE], create=create), int(batch))
    return PublishingCoordinator(coordinator) if commits == _PUBLISHED else coordinator


def _open_ledger(place: str, *, create: bool) -> Ledger:
    ledger: Ledger
    if is_http(place):
        ledger = pkgutil.resolve_name(_OPEN_SERVED_LEDGER)(place)
    else:
        ledger = pkgutil.resolve_name(_OPEN_LEDGER)(place, create=create)
    return ledger


def _check(name: str, builder: CoordinatorBuilder) -> None:
    if not callable(builder):
        raise InvalidRequest(
            f"the coordinator {name!r} must be built by a function of its conf, and a "
            f"{type(builder).__name__} is none"
        )


def _from_offers(name: str, offers: Sequence[EntryPoint]) -> CoordinatorBuilder:
    """A builder that imports the package when a table names it."""
    return load_at_first_call(
        offers, f"more than one installed package offers the coordinator {name!r}: register the one to use"
    )


KIND: PluginKind[CoordinatorBuilder] = PluginKind(
    GROUP,
    check=_check,
    from_offers=_from_offers,
    taken="there is a coordinator {name!r} already: unregister it first",
    absent="no coordinator {name!r} is registered",
    built_in={"headgate": _lake_coordinator},
)
_CREATING_NOTHING: Mapping[str, CoordinatorBuilder] = {"headgate": partial(_lake_coordinator, create=False)}
"""In place of the builders that may make something, for a conf that a table has."""
_Key = tuple[str, frozenset[tuple[str, str]]]


class Coordinators:
    """The builders of this process, and the coordinators they built; safe to share between threads."""

    def __init__(self) -> None:
        self.builders: Registry[CoordinatorBuilder] = Registry(KIND)
        self._lock = threading.RLock()  # what is built may be built upon another one
        self._built: dict[_Key, CommitCoordinator] = {}

    def unregister(self, name: str) -> None:
        """Forget a builder and what it built, together."""
        with self._lock:
            self.builders.unregister(name)
            self._built = {key: coordinator for key, coordinator in self._built.items() if key[0] != name}

    def find(self, name: str, conf: Mapping[str, str], *, create: bool = True) -> CommitCoordinator | None:
        """What the builder of this name makes of a conf, once for each conf."""
        key = name, frozenset(conf.items())
        with self._lock:
            if key not in self._built:
                builder = (None if create else _CREATING_NOTHING.get(name)) or self.builders.find(name)
                if builder is None:
                    return None
                self._built[key] = builder(dict(conf))
            return self._built[key]


_COORDINATORS = Coordinators()


def register(name: str, builder: CoordinatorBuilder) -> None:
    """Let ``builder`` make the coordinator of tables that name it; a second builder of a name is refused."""
    _COORDINATORS.builders.register(name, builder)


def unregister(name: str) -> None:
    """Forget the builder that was registered under this name, and what it built."""
    _COORDINATORS.unregister(name)


def registered() -> frozenset[str]:
    """The names there are, those of installed packages included."""
    return frozenset(_COORDINATORS.builders.registered())


def find_coordinator(name: str, conf: Mapping[str, str]) -> CommitCoordinator | None:
    """The coordinator of that name and conf, built once; None if nobody registered the name.

    A user asks for it: its lake is made if there is none.
    """
    return _COORDINATORS.find(name, conf)


def find_existing(name: str, conf: Mapping[str, str]) -> CommitCoordinator | None:
    """The same for a name and conf that a table has: whoever wrote its log wrote them, so nothing is made."""
    return _COORDINATORS.find(name, conf, create=False)


CommitOwner, Builder = CommitCoordinator, CoordinatorBuilder
"""By the word of the seeds."""
failed, failure_of, error_of = commit_failure, commit_failure_from_status, error_from_status
"""As they were called before."""
find = find_coordinator
"""As users call it: ``headgate.coordinators.find``."""
