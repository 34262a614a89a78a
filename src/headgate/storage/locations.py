"""Where is a table, in one spelling? And does one place lie within another?

Two spellings of one place would let two tables share it: ``s3a://`` and ``s3://``, a trailing slash, a
percent-encoded letter, ``a/../b``, a link to a folder. So places are compared, and kept, in one spelling.
"""

import os
import posixpath
from collections.abc import Iterator
from urllib.parse import quote, unquote, urlsplit

from headgate.errors import InvalidRequest
from headgate.storage import location_spelling
from headgate.storage.location_spelling import is_local, local_path

_PLAIN = "/=:@+,~!$&'()*;"
"""What a bucket URL may have as it is."""


def canonical(location: str) -> str:
    """The one spelling of a folder, with all links followed, or of a bucket URL."""
    if is_local(location):
        return os.path.realpath(local_path(location))
    parts = urlsplit(location)
    if parts.query or parts.fragment:
        raise InvalidRequest(
            f"{location!r} is not a place for a table: a bucket URL must not have ? or #; if they belong to "
            "a name, write them as %3F and %23"
        )
    path = posixpath.normpath(f"/{unquote(parts.path)}").replace("//", "/")
    return (
        f"{location_spelling.store_scheme(parts.scheme)}://{parts.netloc}{quote(path, safe=_PLAIN)}".rstrip(
            "/"
        )
    )


def is_within(inner: str, outer: str) -> bool:
    """Whether ``inner`` is ``outer`` or lies below it; both as ``canonical`` spells them."""
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")


def overlap(one: str, other: str) -> bool:
    """Whether a file of one place could be a file of the other."""
    return is_within(one, other) or is_within(other, one)


def stored_location(place: str, warehouse: str) -> str:
    """How a catalog writes a place down: from the warehouse on if it lies there, which can then be moved."""
    root = canonical(warehouse)
    if is_within(root, place):
        raise InvalidRequest(
            f"{place!r} holds the lake's own warehouse, {warehouse!r}, so it cannot be one of its tables"
        )
    return place[len(root) + 1 :] if is_within(place, root) else place


def absolute_location(location: str, warehouse: str) -> str:
    """The place that a catalog has written down."""
    return location if location.startswith("/") or "://" in location else f"{warehouse}/{location}"


def self_and_ancestors(location: str) -> Iterator[str]:
    """A place as it is written down, and all that it lies within."""
    yield location
    scheme, mark, rest = location.rpartition("://")
    while "/" in rest.lstrip("/"):
        rest = rest.rpartition("/")[0]
        yield f"{scheme}{mark}{rest}"
