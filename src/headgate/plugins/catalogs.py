"""Which catalog is behind the address of a lake? Its scheme tells; it is loaded when a lake is opened.

    headgate.plugins.catalogs.register("memory", open_in_memory)
    lake = headgate.connect("memory://tests")

A folder and ``postgresql://…`` are there from the start. A package can bring catalogs of its own: an entry
point of the group ``headgate.catalogs``, named after the scheme, is a function that opens one. It is imported
only when a lake is so addressed; what the program registers itself comes first.
"""

import pkgutil
import threading
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from urllib.parse import urlsplit

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.targets import CatalogTarget
from headgate.errors import InvalidRequest
from headgate.storage.locate import is_local

__all__ = ["GROUP", "CatalogTarget", "LakeCatalog", "Opener", "open_catalog", "register", "unregister"]

GROUP = "headgate.catalogs"

Opener = Callable[[CatalogTarget], LakeCatalog]
"""Opens the catalog at a place, on behalf of its owner."""

_FOLDER = "file"
_BUILT_IN: Mapping[str, str] = {
    _FOLDER: "headgate.catalog.embedded:open_folder",
    "postgresql": "headgate.catalog.embedded:open_server",
    "postgres": "headgate.catalog.embedded:open_server",
}
"""By name, because what opens them imports a database engine, which who reads by path does not need."""

_lock = threading.Lock()
_chosen: dict[str, Opener] = {}


def register(scheme: str, opener: Opener) -> None:
    """Let ``opener`` open lakes whose address has this scheme, which has one opener; another is refused."""
    if not callable(opener):
        raise InvalidRequest(
            f"catalogs of {scheme}:// must be opened by a function, and a {type(opener).__name__} is none"
        )
    with _lock:
        if scheme in _chosen or scheme in _BUILT_IN:
            raise InvalidRequest(f"something opens {scheme}:// already: unregister it first")
        _chosen[scheme] = opener


def unregister(scheme: str) -> None:
    """Forget the opener that was registered for this scheme."""
    with _lock:
        if _chosen.pop(scheme, None) is None:
            raise InvalidRequest(f"nothing is registered that opens {scheme}://")


def open_catalog(target: CatalogTarget) -> LakeCatalog:
    """The catalog of a lake, on behalf of its owner."""
    return _opener(target.place)(target)


def _opener(place: str) -> Opener:
    scheme = _FOLDER if is_local(place) else urlsplit(place).scheme
    with _lock:
        chosen = _chosen.get(scheme)
    if chosen is not None:
        return chosen
    if scheme in _BUILT_IN:
        built_in: Opener = pkgutil.resolve_name(_BUILT_IN[scheme])
        return built_in
    offers = {offer.value: offer for offer in entry_points(group=GROUP, name=scheme)}
    if len(offers) > 1:
        named = ", ".join(sorted(offers))
        raise InvalidRequest(
            f"more than one installed package opens {scheme}://: uninstall all but one of {named}"
        )
    for offer in offers.values():
        installed: Opener = offer.load()
        return installed
    raise InvalidRequest(
        f"a lake is a folder or a PostgreSQL database, not {scheme}://…: connect to a "
        "folder or to postgresql://…, whose warehouse may be in a bucket"
    )
