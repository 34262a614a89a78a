"""Which catalog is behind the address of a lake? Its scheme tells; it is loaded when a lake is opened.

    headgate.plugins.catalogs.register("memory", open_in_memory)
    lake = headgate.connect("memory://tests")

A folder, ``postgresql://…``, ``http://…`` and ``https://…`` are there from the start. A package can bring
catalogs of its own: an entry point of the group ``headgate.catalogs``, named after the scheme, is a function
that opens one. It is imported only when a lake is so addressed; what the program registers itself comes
first.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import EntryPoint
from urllib.parse import urlsplit

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.targets import CatalogTarget
from headgate.errors import InvalidRequest
from headgate.plugins.registry import PluginKind, Registry, load_at_first_call
from headgate.storage.location_spelling import is_local

__all__ = ["GROUP", "CatalogTarget", "LakeCatalog", "Opener", "open_catalog", "register", "unregister"]

GROUP = "headgate.catalogs"

Opener = Callable[[CatalogTarget], LakeCatalog]
"""Opens the catalog at a place, on behalf of its owner."""

_FOLDER = "file"
_BUILT_IN: Mapping[str, str] = {
    _FOLDER: "headgate.catalog.embedded:open_folder",
    "postgresql": "headgate.catalog.embedded:open_server",
    "postgres": "headgate.catalog.embedded:open_server",
    "http": "headgate.catalog.rest.opening:open_rest",
    "https": "headgate.catalog.rest.opening:open_rest",
    "uc+http": "headgate.catalog.unity.opening:open_unity",
    "uc+https": "headgate.catalog.unity.opening:open_unity",
}
"""By name, because what opens them imports a database engine, which reading by path does not need."""


def _check(scheme: str, opener: Opener) -> None:
    if not callable(opener):
        raise InvalidRequest(
            f"catalogs of {scheme}:// must be opened by a function, and a {type(opener).__name__} is none"
        )


def _from_offers(scheme: str, offers: Sequence[EntryPoint]) -> Opener:
    """What imports the opener when a lake is so addressed."""
    named = ", ".join(sorted({offer.value for offer in offers}))
    return load_at_first_call(
        offers, f"more than one installed package opens {scheme}://: uninstall all but one of {named}"
    )


KIND: PluginKind[Opener] = PluginKind(
    GROUP,
    check=_check,
    from_offers=_from_offers,
    taken="something opens {name}:// already: unregister it first",
    absent="nothing is registered that opens {name}://",
    built_in={
        scheme: _from_offers(scheme, (EntryPoint(scheme, opener, GROUP),))
        for scheme, opener in _BUILT_IN.items()
    },
)
_OPENERS: Registry[Opener] = Registry(KIND)


def register(scheme: str, opener: Opener) -> None:
    """Let ``opener`` open lakes whose address has this scheme, which has one opener; another is refused."""
    _OPENERS.register(scheme, opener)


def unregister(scheme: str) -> None:
    """Forget the opener that was registered for this scheme."""
    _OPENERS.unregister(scheme)


def open_catalog(target: CatalogTarget) -> LakeCatalog:
    """The catalog of a lake, on behalf of its owner."""
    scheme = _FOLDER if is_local(target.place) else urlsplit(target.place).scheme
    opener = _OPENERS.find(scheme)
    if opener is None:
        raise InvalidRequest(
            f"a lake is a folder, a PostgreSQL database or a server, not {scheme}://…: connect to a folder, "
            "to postgresql://…, whose warehouse may be in a bucket, or to https://…"
        )
    return opener(target)
