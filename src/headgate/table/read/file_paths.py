"""Where an object lies that the log names by a path or a URI, as adds and deletion vectors do."""

import posixpath
import re
from urllib.parse import quote, unquote, urlsplit

from headgate.protocol import relative_paths
from headgate.storage.locate import Locate, locate
from headgate.storage.location_spelling import (
    comparable,
    hadoop_path,
    is_local,
    local_path,
    relative_log_path,
)
from headgate.storage.store import Store

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ROUNDABOUT = re.compile(r"//|(^|/)\.\.?/")


def locate_object(store: Store, location: str, path: str, locate: Locate = locate) -> tuple[Store, str]:
    """The store that has the object, and its path there; ``store`` is that of the table's ``location``."""
    is_uri = _URI.match(path) is not None
    if not is_uri and not path.startswith("/"):
        found = unquote(path)
        # A disk knows one file by many paths, and lists it under one of them.
        return store, posixpath.normpath(found) if _ROUNDABOUT.search(found) and is_local(location) else found
    # Paths of the log are encoded like URIs even where they have no scheme; locations are not.
    place, root = comparable(path if is_uri else unquote(path)), comparable(location)
    if place.startswith(f"{root}/"):
        return store, place.removeprefix(f"{root}/")
    folder, _, name = place.rpartition("/")
    return locate((folder if is_local(folder) else _uri(quote(folder, safe="/:"))) or "/"), name


def is_same_location(one: str, other: str) -> bool:
    """Whether two locations are one place."""
    return comparable(one) == comparable(other)


def is_absolute(path: str) -> bool:
    """Whether a path of the log is not relative to its table."""
    return path.startswith("/") or _URI.match(path) is not None


def object_uri(location: str, path: str) -> str:
    """The URI of an object, given its path in the log of the table at ``location``.

    Spelled as Hadoop spells it, ``file:/a%20b/ü``: Delta Spark compares such names as texts with its own.
    ``CorruptLog`` if a relative one leads out of the table.
    """
    if is_absolute(path):
        return _uri(path) if is_local(path) else path
    relative_paths.check_inside_table((path,))
    root = _uri(quote(location)) if urlsplit(location).scheme == "" else _uri(location)
    return f"{root.rstrip('/')}/{_encoded(path)}"


def decode_absolute(path: str) -> str:
    """An absolute path of the log as a location is written: decoded, if it is one of a disk."""
    return local_path(unquote(urlsplit(path).path)) if is_local(path) else path


def log_path(location: str, place: str) -> str:
    """The URI ``place`` as a table at ``location`` names it: relative to it, if it lies within."""
    root = f"{comparable(location)}/"
    found = comparable(place)
    return relative_log_path(found.removeprefix(root)) if found.startswith(root) else place


def _uri(place: str) -> str:
    parts = urlsplit(place)
    if is_local(place):
        return "file:" + hadoop_path(local_path(unquote(parts.path)))
    return f"{parts.scheme}://{parts.netloc}{_encoded(parts.path)}"


def _encoded(path: str) -> str:
    # Writers differ in what they leave bare; Java's URI takes only what is encoded throughout.
    return hadoop_path(unquote(path))
