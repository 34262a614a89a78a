"""Policies of one's own: what a program, or an installed package, does not let into its tables.

    class NoFridays:
        def review(self, review):
            return review.refuse("it is Friday") if date.today().weekday() == 4 else None

    headgate.policies.register("no-fridays", NoFridays())

A package can bring policies of its own: an entry point of the group ``headgate.commit_policies`` that gives
a ``CommitPolicy``. They are asked after the built-in ones, in the order of their names.
"""

import threading
from collections.abc import Mapping
from importlib.metadata import entry_points
from types import MappingProxyType

from headgate.catalog.ports.policies import CommitPolicy, Facts, Refusal, Review
from headgate.errors import CommitRefused, InvalidRequest

__all__ = [
    "GROUP",
    "CommitPolicy",
    "CommitRefused",
    "Facts",
    "Refusal",
    "Review",
    "register",
    "registered",
    "unregister",
]

GROUP = "headgate.commit_policies"


class _Broken:
    """Stands in for an installed policy that cannot be had, and refuses: nobody knows what it would do."""

    def __init__(self, name: str, why: str) -> None:
        self._name = name
        self._why = why

    def review(self, review: Review) -> Refusal | None:
        return review.refuse(f"the installed policy {self._name!r} cannot be used: {self._why}")


class _Registry:
    """The policies of this process; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._chosen: dict[str, CommitPolicy] = {}
        self._installed: dict[str, CommitPolicy] | None = None

    def register(self, name: str, policy: CommitPolicy) -> None:
        if not name or not callable(getattr(policy, "review", None)):
            raise InvalidRequest(
                f"a policy has a name, and a method review(review): a {type(policy).__name__} has none"
            )
        with self._lock:
            present = self._chosen.setdefault(name, policy)
        if present is not policy:
            raise InvalidRequest(f"there is a policy {name!r} already: unregister it first")

    def unregister(self, name: str) -> None:
        with self._lock:
            if self._chosen.pop(name, None) is None:
                raise InvalidRequest(f"no policy {name!r} is registered")

    def registered(self) -> Mapping[str, CommitPolicy]:
        with self._lock:
            if self._installed is None:
                self._installed = _installed()
            if not self._installed and not self._chosen:
                return _NONE
            return MappingProxyType(dict(sorted({**self._installed, **self._chosen}.items())))


def _installed() -> dict[str, CommitPolicy]:
    found: dict[str, CommitPolicy] = {}
    for offer in entry_points(group=GROUP):
        if offer.name in found:
            found[offer.name] = _Broken(offer.name, "more than one installed package offers it")
            continue
        try:
            found[offer.name] = offer.load()
        except Exception as exc:  # whatever its import raises
            found[offer.name] = _Broken(offer.name, f"{type(exc).__name__}: {exc}")
    return found


_NONE: Mapping[str, CommitPolicy] = MappingProxyType({})
_PROCESS = _Registry()


def register(name: str, policy: CommitPolicy) -> None:
    """Let ``policy`` review every commit that is proposed from now on; a name has one policy."""
    _PROCESS.register(name, policy)


def unregister(name: str) -> None:
    """Forget the policy that was registered under this name."""
    _PROCESS.unregister(name)


def registered() -> Mapping[str, CommitPolicy]:
    """The policies as they are now, those of installed packages included."""
    return _PROCESS.registered()
