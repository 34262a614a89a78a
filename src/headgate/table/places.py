"""Where an object lies that the log names by a path or a URI, as adds and deletion vectors do."""

import re
from urllib.parse import unquote, urlsplit

from headgate.storage.api import Store
from headgate.storage.locate import is_local, local_path, locate

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def find(store: Store, location: str, path: str) -> tuple[Store, str]:
    """The store that has the object, and its path there; ``store`` is that of the table's ``location``."""
    is_uri = _URI.match(path) is not None
    if not is_uri and not path.startswith("/"):
        return store, unquote(path)
    # Paths of the log are encoded like URIs even where they have no scheme; locations are not.
    place, root = _normal(path if is_uri else unquote(path)), _normal(location)
    if place.startswith(f"{root}/"):
        return store, place.removeprefix(f"{root}/")
    folder, _, name = place.rpartition("/")
    return locate(folder or "/"), name


def _normal(place: str) -> str:
    if is_local(place):
        return local_path(place).rstrip("/")
    parts = urlsplit(place)
    scheme = "s3" if parts.scheme == "s3a" else parts.scheme
    return f"{scheme}://{parts.netloc}{unquote(parts.path)}".rstrip("/")
