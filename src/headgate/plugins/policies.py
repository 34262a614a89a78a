"""Policies of one's own: what a program, or an installed package, does not let into its tables.

    class NoFridays:
        def review(self, review):
            return review.refuse("it is Friday") if date.today().weekday() == 4 else None

    headgate.policies.register("no-fridays", NoFridays())

A package can bring policies of its own: an entry point of the group ``headgate.commit_policies`` that gives
a ``CommitPolicy``. They are asked after the built-in ones, in the order of their names.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint

from headgate.catalog.ports.policies import CommitPolicy, Facts, Refusal, Review
from headgate.errors import CommitRefused, InvalidRequest
from headgate.plugins.registry import PluginKind, Registry

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


class _UnloadablePolicy:
    """Stands in for an installed policy that cannot be had, and refuses: nobody knows what it would do."""

    def __init__(self, name: str, why: str) -> None:
        self._name = name
        self._why = why

    def review(self, review: Review) -> Refusal | None:
        return review.refuse(f"the installed policy {self._name!r} cannot be used: {self._why}")


def _check(name: str, policy: CommitPolicy) -> None:
    if not name or not callable(getattr(policy, "review", None)):
        raise InvalidRequest(
            f"a policy has a name, and a method review(review): a {type(policy).__name__} has none"
        )


def _from_offers(name: str, offers: Sequence[EntryPoint]) -> CommitPolicy:
    if len(offers) > 1:
        return _UnloadablePolicy(name, "more than one installed package offers it")
    try:
        policy: CommitPolicy = offers[0].load()
    except Exception as exc:  # whatever its import raises
        return _UnloadablePolicy(name, f"{type(exc).__name__}: {exc}")
    return policy


KIND: PluginKind[CommitPolicy] = PluginKind(
    GROUP,
    check=_check,
    from_offers=_from_offers,
    taken="there is a policy {name!r} already: unregister it first",
    absent="no policy {name!r} is registered",
)
_POLICIES: Registry[CommitPolicy] = Registry(KIND)


def register(name: str, policy: CommitPolicy) -> None:
    """Let ``policy`` review every commit that is proposed from now on; a name has one policy."""
    _POLICIES.register(name, policy)


def unregister(name: str) -> None:
    """Forget the policy that was registered under this name."""
    _POLICIES.unregister(name)


def registered() -> Mapping[str, CommitPolicy]:
    """The policies as they are now, those of installed packages included."""
    return _POLICIES.registered()
