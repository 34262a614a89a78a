"""A lease as its user holds it: renewed in the background until it is closed."""

import logging
import threading
from types import TracebackType

from headgate.calls.boundary import PLAIN
from headgate.catalog.ports.leases import HeldLease, LeaseHolding, lease_lost_error
from headgate.errors import CatalogUnavailable, CommitUnknown, HeadgateError, NotAllowed
from headgate.protocol.actions import Version

_LOG = logging.getLogger(__name__)
_RENEWALS = 3
"""How often a lease is renewed in the time for which it is given, so that one renewal may fail."""


@PLAIN.user_calls
class Lease:
    """Protects something until it is closed; ``check`` it before relying on that."""

    def __init__(self, leases: LeaseHolding, held: HeldLease, *, ttl_ms: int) -> None:
        self._leases = leases
        self._held = held
        self._ttl_ms = ttl_ms
        self._lost = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="headgate-lease", daemon=True)
        self._thread.start()

    @property
    def version(self) -> Version | None:
        """The version that is kept; None if it protects files that are not committed yet."""
        return self._held.version

    @property
    def token(self) -> int:
        """Larger than that of every earlier lease on the same thing."""
        return self._held.token

    def check(self) -> None:
        """``NotAllowed`` if the lease has ended after all: what it protected may be gone."""
        if self._lost or self._stop.is_set():
            raise lease_lost_error(self._held)
        self._leases.check(self._held)

    def close(self) -> None:
        """End the lease."""
        if self._stop.is_set():
            return
        self._stop.set()
        self._thread.join()
        try:
            self._leases.release(self._held)
        except (CatalogUnavailable, CommitUnknown) as exc:
            _LOG.warning("a lease could not be given back; it ends by itself: %s", exc)

    def __enter__(self) -> "Lease":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        while not self._stop.wait(self._ttl_ms / 1000 / _RENEWALS):
            try:
                self._held = self._leases.renew(self._held, ttl_ms=self._ttl_ms)
            except NotAllowed as exc:
                self._lost = True
                _LOG.error("%s", exc)
                return
            except HeadgateError as exc:
                _LOG.warning("a lease could not be renewed and will be tried again: %s", exc)
