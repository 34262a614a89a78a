"""Which plugins of one kind does this process have? The program's own first, then those of packages.

A kind is a row of data: the group of its entry points, what may be registered, and how the offers of
packages become plugins. One registry serves them all, and a catalog opened by its address as well:

    KIND = PluginKind("acme.openers", check=_check, from_offers=_opener, taken="…", absent="…")
    OPENERS: Registry[Opener] = Registry(KIND)
    OPENERS.find("https")
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from headgate.errors import InvalidRequest

Plugin = TypeVar("Plugin")


@dataclass(frozen=True, slots=True)
class PluginKind(Generic[Plugin]):
    """What is particular about one kind of plugin."""

    group: str
    """The group of entry points by which packages offer plugins of this kind."""
    check: Callable[[str, Plugin], None]
    """``InvalidRequest`` if this cannot be registered under that name."""
    from_offers: Callable[[str, Sequence[EntryPoint]], Plugin]
    """The plugin that packages offer under a name.

    It must not raise: an offer that cannot be used, such as one of two, becomes a plugin that says so
    when it is used. It may import the package, or leave that to the first use of what it gives.
    """
    taken: str
    """The message for a ``{name!r}`` that another plugin has."""
    absent: str
    """The message for a ``{name!r}`` that is not registered."""
    built_in: Mapping[str, Plugin] = field(default_factory=dict)
    """Plugins that are there from the start, and that no other can replace."""


class Registry(Generic[Plugin]):
    """The plugins of one kind in this process; safe to share between threads."""

    def __init__(self, kind: PluginKind[Plugin]) -> None:
        self._kind = kind
        self._lock = threading.Lock()
        self._chosen: Mapping[str, Plugin] = {}
        self._installed: Mapping[str, Plugin] | None = None
        self._all: Mapping[str, Plugin] | None = None

    def register(self, name: str, plugin: Plugin) -> None:
        """Have a plugin under this name; the same one again changes nothing, another one is refused."""
        self._kind.check(name, plugin)
        with self._lock:
            present = self._kind.built_in.get(name, self._chosen.get(name, plugin))
            if present is not plugin:
                raise InvalidRequest(self._kind.taken.format(name=name))
            self._choose({**self._chosen, name: plugin})

    def unregister(self, name: str) -> None:
        """Forget the plugin that the program registered under this name."""
        with self._lock:
            if name not in self._chosen:
                raise InvalidRequest(self._kind.absent.format(name=name))
            self._choose({other: plugin for other, plugin in self._chosen.items() if other != name})

    def registered(self) -> Mapping[str, Plugin]:
        """Every plugin there is, in the order of their names; later changes do not reach what is given."""
        installed = self._of_packages()
        with self._lock:
            if self._all is None:
                merged = {**installed, **self._chosen, **self._kind.built_in}
                self._all = MappingProxyType(dict(sorted(merged.items())))
            return self._all

    def find(self, name: str) -> Plugin | None:
        """The plugin of this name, None if there is none; packages are looked for if nothing else has it."""
        known = self._kind.built_in.get(name, self._chosen.get(name))
        return self.registered().get(name) if known is None else known

    def _choose(self, chosen: Mapping[str, Plugin]) -> None:
        self._chosen, self._all = chosen, None

    def _of_packages(self) -> Mapping[str, Plugin]:
        """What packages offer, looked for once."""
        if self._installed is None:
            # Outside the lock: a package may register something while it is imported.
            offered = self._offered()
            with self._lock:
                if self._installed is None:
                    self._installed = offered
        return self._installed

    def _offered(self) -> Mapping[str, Plugin]:
        offers: dict[str, list[EntryPoint]] = {}
        for offer in entry_points(group=self._kind.group):
            offers.setdefault(offer.name, []).append(offer)
        return {name: self._kind.from_offers(name, tuple(of_name)) for name, of_name in offers.items()}


def load_at_first_call(offers: Sequence[EntryPoint], refusal: str) -> Callable[..., Any]:
    """The function that packages offer under one name, imported when it is called.

    Offers of the same one are one; of different ones nobody knows which is meant: ``refusal`` says so.
    """

    def call(*args: Any) -> Any:
        if len({offer.value for offer in offers}) > 1:
            raise InvalidRequest(refusal)
        return offers[0].load()(*args)

    return call
