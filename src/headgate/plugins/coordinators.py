"""Commit owners for users: who decides the commits of tables that name an owner in their properties.

    headgate.owners.register("dynamodb", build)

``build(conf)`` gives the owner that the conf of a table means. A package can bring owners of its own: an
entry point of the group ``headgate.commit_owners``, named after the owner, is such a function; it is
imported only when a table names it, and what the program registers itself comes first.

``headgate`` is there from the start: it keeps what it decides in the database of a lake, given by
``{"lake": "/absolute/path"}``, or for several machines ``{"lake": "postgresql://user@host/database"}``.
With ``"commits": "published"`` it creates every commit in ``_delta_log`` at once, and stages nothing.
"""

import pkgutil
import threading
from collections.abc import Mapping
from importlib.metadata import entry_points

from headgate.catalog.coordinator.failures import error_of, failed, failure_of
from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerOwner
from headgate.catalog.coordinator.publishing_coordinator import PublishingOwner
from headgate.catalog.ports.coordinator import Builder, CommitOwner
from headgate.errors import InvalidRequest

__all__ = [
    "GROUP",
    "Builder",
    "CommitOwner",
    "error_of",
    "failed",
    "failure_of",
    "find",
    "in_memory",
    "register",
    "registered",
    "unregister",
]

GROUP = "headgate.commit_owners"
_LAKE, _BATCH, _COMMITS = "lake", "batch", "commits"
_STAGED, _PUBLISHED = "staged", "published"
_OPEN_LEDGER = "headgate.catalog.coordinator.database_ledger:open_ledger"
"""By name, because it imports a database engine, which nobody needs whose tables have no such owner."""


def in_memory(*, batch: int = 1) -> CommitOwner:
    """An owner that forgets everything when the process ends: for tests.

    Every version that is a multiple of ``batch`` is published with all before it.
    """
    return LedgerOwner(MemoryLedger(), batch)


def _of_lake(conf: Mapping[str, str]) -> CommitOwner:
    if _LAKE not in conf:
        raise InvalidRequest(
            f"the conf of the commit owner 'headgate' must say which {_LAKE}: its path, or postgresql://…"
        )
    batch, commits = conf.get(_BATCH, "1"), conf.get(_COMMITS, _STAGED)
    if not batch.isdecimal() or int(batch) < 1:
        raise InvalidRequest(f"{_BATCH} must be a whole number from 1, not {batch!r}")
    if commits not in (_STAGED, _PUBLISHED):
        raise InvalidRequest(f"{_COMMITS} must be {_STAGED!r} or {_PUBLISHED!r}, not {commits!r}")
    owner = LedgerOwner(pkgutil.resolve_name(_OPEN_LEDGER)(conf[_LAKE]), int(batch))
    return PublishingOwner(owner) if commits == _PUBLISHED else owner


_BUILT_IN: Mapping[str, Builder] = {"headgate": _of_lake}
_Key = tuple[str, frozenset[tuple[str, str]]]


class _Registry:
    """The builders of this process, and the owners they built; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._chosen: dict[str, Builder] = {}
        self._built: dict[_Key, CommitOwner] = {}

    def register(self, name: str, builder: Builder) -> None:
        if not callable(builder):
            raise InvalidRequest(
                f"the owner {name!r} must be built by a function of its conf, and a "
                f"{type(builder).__name__} is none"
            )
        with self._lock:
            if name in self._chosen or name in _BUILT_IN:
                raise InvalidRequest(f"there is a commit owner {name!r} already: unregister it first")
            self._chosen[name] = builder

    def unregister(self, name: str) -> None:
        with self._lock:
            if self._chosen.pop(name, None) is None:
                raise InvalidRequest(f"no commit owner {name!r} is registered")
            self._built = {key: owner for key, owner in self._built.items() if key[0] != name}

    def registered(self) -> frozenset[str]:
        installed = (offer.name for offer in entry_points(group=GROUP))
        with self._lock:
            return frozenset({*self._chosen, *_BUILT_IN, *installed})

    def find(self, name: str, conf: Mapping[str, str]) -> CommitOwner | None:
        key = name, frozenset(conf.items())
        with self._lock:
            if key not in self._built:
                builder = self._chosen.get(name) or _BUILT_IN.get(name) or _installed(name)
                if builder is None:
                    return None
                self._built[key] = builder(dict(conf))
            return self._built[key]


def _installed(name: str) -> Builder | None:
    offers = {offer.value: offer for offer in entry_points(group=GROUP, name=name)}
    if len(offers) > 1:
        raise InvalidRequest(
            f"more than one installed package offers the commit owner {name!r}: register the one to use"
        )
    builder: Builder | None = None
    for offer in offers.values():
        builder = offer.load()
    return builder


_PROCESS = _Registry()


def register(name: str, builder: Builder) -> None:
    """Let ``builder`` make the owner of tables that name it; a name has one builder, another is refused."""
    _PROCESS.register(name, builder)


def unregister(name: str) -> None:
    """Forget the builder that was registered under this name, and what it built."""
    _PROCESS.unregister(name)


def registered() -> frozenset[str]:
    """The names there are, those of installed packages included."""
    return _PROCESS.registered()


def find(name: str, conf: Mapping[str, str]) -> CommitOwner | None:
    """The owner of that name and conf, built once; None if nobody registered the name."""
    return _PROCESS.find(name, conf)
