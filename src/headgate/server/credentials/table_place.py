"""Is this a place for which something may be minted? The checks, and a place taken apart.

A credential opens all that begins with its prefix, so a prefix that is too short opens other tables. Refused
are bucket roots, dot segments in any spelling, empty segments and characters that no table of a catalog has.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from headgate.errors import NotAllowed
from headgate.server.credentials.storage_access import StorageAccess
from headgate.storage import location_spelling
from headgate.storage.location_spelling import is_local

REFUSED = "HEADGATE_LOCATION_NOT_VENDED"


@dataclass(frozen=True, slots=True)
class TablePlace:
    """A folder of a bucket, decoded: for ``abfss://c@a.dfs.core.windows.net/t`` its host is ``c@a.dfs…``."""

    scheme: str
    host: str
    key: str
    """Without slashes at either end; never empty."""

    @property
    def prefix(self) -> str:
        """All keys of the table begin so, and no others: with the slash ``t`` does not open ``t2``."""
        return f"{self.key}/"


def parse_place(location: str) -> TablePlace:
    """A bucket URL taken apart; ``NotAllowed`` for what no credential may be minted for."""
    parts = urlsplit(location)
    if parts.query or parts.fragment or parts.username not in (None, _container(parts.netloc)):
        raise _refused(location, "it has a ?, a # or a user")
    segments = unquote(parts.path).strip("/").split("/")
    if segments == [""] or not parts.netloc:
        raise _refused(location, "it is a whole bucket, which may hold more than one table")
    if any(_is_unsafe(segment) for segment in segments):
        raise _refused(location, "it has an empty segment, '.', '..' or a character that is none")
    return TablePlace(location_spelling.store_scheme(parts.scheme), parts.netloc, "/".join(segments))


def _container(netloc: str) -> str | None:
    """What stands before the @ of an Azure URL."""
    return netloc.partition("@")[0] if "@" in netloc else None


def _is_unsafe(segment: str) -> bool:
    # A second decoding by a store or a proxy must not turn it into something else either.
    once_more = unquote(segment)
    return (
        not segment
        or {segment, once_more} & {".", ".."} != set()
        or not segment.isprintable()
        or "\\" in once_more
        or "/" in once_more
    )


def choose_row(rows: Iterable[StorageAccess], location: str) -> StorageAccess | None:
    """The row for a place: of those whose prefix it lies under, the longest."""
    under = [row for row in rows if location_spelling.covers(row.prefix, location)]
    return max(under, key=lambda row: len(location_spelling.as_prefix(row.prefix)), default=None)


def is_folder(location: str) -> bool:
    """Whether a place needs no credential, because it is a folder."""
    return is_local(location)


def _refused(location: str, why: str) -> NotAllowed:
    return NotAllowed(
        f"no credential is minted for {location!r}: {why}. Move the table into a folder of its own, or let "
        "clients use credentials of their own",
        code=REFUSED,
    )  # fmt: skip


def no_row(location: str) -> NotAllowed:
    """The error for a place that the configuration does not name."""
    return NotAllowed(
        f"this server has no access to vend for {location!r}: use credentials of your own, or have its "
        "operator add a row for that prefix",
        code=REFUSED,
    )  # fmt: skip
