"""Metadata domains for users: who merges one when two commits race, and typed configurations.

    headgate.domains.register("acme.watermark", headgate.domains.max_of("offset"))

A package can bring handlers of its own: an entry point of the group ``headgate.domain_handlers``,
named after the domain. It is imported only when there is something to merge, and what the program
registers itself comes first.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint
from typing import Protocol

import msgspec
from typing_extensions import override

from headgate.errors import DomainConflict, InvalidRequest
from headgate.plugins.registry import PluginKind, Registry
from headgate.protocol.actions import DomainMetadata
from headgate.protocol.domains import rules
from headgate.protocol.domains.handlers import last_writer_wins, max_of, merge_disjoint_keys, union
from headgate.protocol.domains.rules import PREFIX_WILDCARD, Handler, Handlers

__all__ = [
    "GROUP",
    "DomainConflict",
    "DomainMetadata",
    "Handler",
    "Handlers",
    "StringMap",
    "last_writer_wins",
    "max_of",
    "merge_disjoint_keys",
    "register",
    "registered",
    "union",
    "unregister",
]

GROUP = "headgate.domain_handlers"


class _InstalledHandler:
    """The handler an installed package offers, imported when it is first needed."""

    def __init__(self, offers: Sequence[EntryPoint]) -> None:
        self._offers = offers

    def __call__(
        self, base: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata
    ) -> DomainMetadata:
        if len({offer.value for offer in self._offers}) > 1:
            raise DomainConflict("more than one installed package offers a handler, register the one to use")
        merged: DomainMetadata = self._offers[0].load()(base, winner, mine)
        return merged

    @override
    def __repr__(self) -> str:
        return " and ".join(sorted({offer.value for offer in self._offers}))


def _check(domain: str, handler: Handler) -> None:
    rules.check_domain_name(domain)
    if "*" in domain and (not domain.endswith(PREFIX_WILDCARD) or domain.index("*") < len(domain) - 1):
        raise InvalidRequest(
            f"{domain!r} is neither the name of a metadata domain nor a prefix: write a prefix as acme.*"
        )
    if not callable(handler):
        raise InvalidRequest(
            f"the handler of {domain!r} must be callable as handler(base, winner, mine), "
            f"and a {type(handler).__name__} is not"
        )


KIND: PluginKind[Handler] = PluginKind(
    GROUP,
    check=_check,
    from_offers=lambda _domain, offers: _InstalledHandler(offers),
    taken="the metadata domain {name!r} has a handler already: unregister it first",
    absent="no handler is registered for the metadata domain {name!r}",
)
_HANDLERS: Registry[Handler] = Registry(KIND)


def register(domain: str, handler: Handler) -> None:
    """Let ``handler`` merge this domain when two commits race; ``acme.*`` means all below ``acme.``.

    Every race lost from now on uses it. A domain has one handler: another one is refused.
    """
    _HANDLERS.register(domain, handler)


def unregister(domain: str) -> None:
    """Forget the handler that was registered under this name."""
    _HANDLERS.unregister(domain)


def registered() -> Handlers:
    """The handlers as they are now, those of installed packages included."""
    return _HANDLERS.registered()


class HasDomains(Protocol):
    """A table, as far as a typed configuration needs one."""

    def domain(self, name: str) -> str | None:
        """The domain's configuration, None if there is none."""
        ...

    def set_domain(self, name: str, configuration: str, *, since: int | None = None) -> int:
        """Commit a new configuration; the version that has it."""
        ...


class StringMap:
    """A domain whose configuration is a map of strings, kept as a JSON object."""

    def __init__(self, name: str) -> None:
        rules.check_domain_name(name)
        self.name = name

    def get(self, table: HasDomains) -> Mapping[str, str]:
        """The domain's map; empty if the table does not have the domain."""
        configuration = table.domain(self.name)
        return {} if configuration is None else self.decode(configuration)

    def set(self, table: HasDomains, values: Mapping[str, str], *, since: int | None = None) -> int:
        """Commit a new map; the version that has it. ``since`` as in ``Table.set_domain``."""
        return table.set_domain(self.name, self.encode(values), since=since)

    def encode(self, values: Mapping[str, str]) -> str:
        """The configuration that stands for a map; the same for equal maps."""
        for key, value in values.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise InvalidRequest(
                    f"{self.name!r} maps strings to strings, and {key!r}: {value!r} does not"
                )
        configuration = msgspec.json.encode(dict(sorted(values.items()))).decode()
        rules.check_domain_keys(self.name, configuration)
        return configuration

    def decode(self, configuration: str) -> Mapping[str, str]:
        """The map a configuration stands for."""
        try:
            return msgspec.json.decode(configuration, type=dict[str, str])
        except msgspec.DecodeError as exc:
            raise InvalidRequest(
                f"the configuration of {self.name!r} is not a JSON object of strings ({exc}): "
                "another writer keeps something else there; read it with table.domain(…)"
            ) from exc
