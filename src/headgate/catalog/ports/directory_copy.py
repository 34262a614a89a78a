"""What is known of the tables if a catalog loses its database? A copy of its directory, in the warehouse.

For example, in ``_headgate/directory.json``::

    {"schemas": ["sales"], "tables": [{"tableId": "6f1c…", "schema": "sales", "table": "orders",
     "location": "6f1c…", "latest": 12, "published": 11}]}
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Protocol

import msgspec

from headgate.catalog.ports.commits import TableId
from headgate.errors import ObjectNotFound
from headgate.storage.store import Store

_LOG = logging.getLogger(__name__)

STAGING, LIVE, DROPPED, CONDEMNED = "staging", "live", "dropped", "condemned"

COPY_PATH = "_headgate/directory.json"
"""Where it is, from the root of the warehouse."""


class CopiedTable(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A table as the database had it: ``revision`` grows with every name it gets, drop and undrop."""

    table_id: str
    schema: str
    table: str
    location: str
    latest: int
    published: int
    state: str = LIVE
    revision: int = 0
    dropped_ms: int | None = None
    shares_log: bool = False

    @property
    def name(self) -> str:
        return f"{self.schema}.{self.table}"


class DirectoryCopy(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The schemas, and those tables of which the logs do not tell all, or that were committed to last."""

    schemas: tuple[str, ...] = ()
    tables: tuple[CopiedTable, ...] = ()
    forgotten: tuple[str, ...] = ()
    """Tables that were purged; the files of some stay, and are nobody's."""
    recovering: bool = False
    """Whether a recovery has begun that has not ended."""

    @property
    def by_id(self) -> Mapping[str, CopiedTable]:
        return {found.table_id: found for found in self.tables}


def read_copy(files: Store) -> DirectoryCopy | None:
    """The copy in a warehouse; None if there is none, or none that can be read."""
    try:
        return msgspec.json.decode(files.read(COPY_PATH), type=DirectoryCopy)
    except ObjectNotFound:
        return None
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        _LOG.warning("%s is damaged, and left out of account: %s", COPY_PATH, exc)
        return None


def write_copy(files: Store, copy: DirectoryCopy) -> None:
    """Put the copy in its place."""
    files.put(COPY_PATH, msgspec.json.format(msgspec.json.encode(copy), indent=1))


class DirectoryCopying(Protocol):
    """Keeps the copy of one catalog; safe to share between threads. To fail here is no failure."""

    def write_if_due(self) -> None:
        """Write the copy if something was committed through this process, but not all the time."""
        ...

    def write_if_changed(self) -> None:
        """Write the copy if something was committed through this process since it was."""
        ...

    def write_now(self, *, forgotten: Iterable[TableId] = (), recovered: bool = False) -> None:
        """Write the copy; of tables that were ``forgotten`` too, and of a recovery that it has ended."""
        ...

    def find_lost_tables(self) -> tuple[bool, tuple[CopiedTable, ...]]:
        """Whether a recovery has begun and not ended; and what the copy has and the catalog does not."""
        ...

    def is_new(self) -> bool:
        """Whether nothing was ever put into the catalog."""
        ...
