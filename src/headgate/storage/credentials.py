"""With what does a client reach a table's files? With credentials of its own, or some that a catalog vends.

A catalog vends for one place, one operation and a while:

    VendedCredential("s3://lake/t1", StorageOperation.READ, expires_ms, {"s3.access-key-id": "ASIA…", …})

The keys of ``config`` are those that engines share: ``s3.access-key-id``, ``s3.secret-access-key``,
``s3.session-token``, ``s3.endpoint``, ``s3.path-style-access``, ``client.region``, ``azure.sas-token`` and
``gcs.oauth-token``. Their values are secrets, which nothing here shows.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from headgate.clock import World
from headgate.errors import HeadgateError, Retry
from headgate.storage import location_spelling

_LOG = logging.getLogger(__name__)

NO_EXPIRY_MS = 253_402_300_799_000
"""The end of the year 9999: for what needs no credential, and whose clients ask for an end."""

_EARLY_MS = 5 * 60_000
_EARLY_SHARE = 4
"""A credential is renewed this long before it ends, or when a fourth of its time is left."""
_RETRY_MS = 10_000
"""How soon a renewal that failed is tried again, while the credential still holds."""
_MOST_KEPT = 1_000


class StorageOperation(Enum):
    """What a credential lets its bearer do with the files of a place."""

    READ = "READ"
    READ_WRITE = "READ_WRITE"


@dataclass(frozen=True, slots=True)
class VendedCredential:
    """What opens one place for one operation until a moment; without ``config`` it opens by itself."""

    prefix: str
    operation: StorageOperation
    expires_ms: int
    config: Mapping[str, str] = field(default_factory=dict, repr=False)


CredentialSource = Callable[[], tuple[VendedCredential, ...]]
"""The credentials that hold at this moment; none if the client is to use its own."""


def credential_for(credentials: tuple[VendedCredential, ...], location: str) -> VendedCredential | None:
    """The credential for a place: of those that cover it the one with the longest prefix."""
    found = [each for each in credentials if location_spelling.covers(each.prefix, location)]
    return max(found, key=lambda each: len(location_spelling.as_prefix(each.prefix)), default=None)


@dataclass(frozen=True, slots=True)
class _Kept:
    credentials: tuple[VendedCredential, ...]
    renew_ms: int
    ends_ms: int


class CredentialCache:
    """Keeps what a catalog vended, and asks again before it ends; safe to share between threads."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, StorageOperation], _Kept] = OrderedDict()

    def get(
        self, table_id: str, operation: StorageOperation, fetch: CredentialSource
    ) -> tuple[VendedCredential, ...]:
        """What was vended for a table, fetched anew when its time draws to an end.

        A renewal that fails in passing is no failure while there is time left.
        """
        key, now = (table_id, operation), self._world.now_ms()
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and now < kept.renew_ms:
            return kept.credentials
        try:
            fresh = _keep(fetch(), now)
        except HeadgateError as exc:
            if kept is None or now >= kept.ends_ms or exc.retry is not Retry.SAME:
                raise
            _LOG.warning("a credential could not be renewed yet; the present one still holds: %s", exc)
            fresh = _Kept(kept.credentials, now + _RETRY_MS, kept.ends_ms)
        self._keep(key, fresh)
        return fresh.credentials

    def forget(self, table_id: str) -> None:
        """Ask anew next time."""
        with self._lock:
            for operation in StorageOperation:
                self._kept.pop((table_id, operation), None)

    def _keep(self, key: tuple[str, StorageOperation], kept: _Kept) -> None:
        with self._lock:
            self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)


def _keep(credentials: tuple[VendedCredential, ...], now_ms: int) -> _Kept:
    ends = min((each.expires_ms for each in credentials), default=NO_EXPIRY_MS)
    return _Kept(credentials, ends - min(_EARLY_MS, max(0, ends - now_ms) // _EARLY_SHARE), ends)
