"""Who still needs what, and until when: leases on versions of tables, and on work that one alone shall do.

A lease ends by itself if it is not renewed, so a reader that died holds nothing up for long. One that has
ended cannot be renewed: meanwhile what it protected may be gone.
"""

from dataclasses import dataclass
from typing import Protocol

from headgate.catalog.ports.commits import TableId
from headgate.errors import NotAllowed
from headgate.protocol.actions import EpochMillis, Version

LEASE_LOST = "HEADGATE_LEASE_LOST"


@dataclass(frozen=True, slots=True)
class HeldLease:
    """A lease that was given.

    ``token`` is larger than that of every earlier lease on the same subject: whoever passes it on to
    something it writes to can have those refused that come late.
    """

    lease_id: str
    subject: str
    holder: str
    token: int
    version: Version | None
    expires_ms: EpochMillis


@dataclass(frozen=True, slots=True)
class Horizon:
    """What somebody still needs of a table: the versions from one on, and the files of a moment or later.

    Files count by when they were written or, if a version had them, removed. None where nobody needs any.
    """

    version: Version | None
    timestamp: EpochMillis | None


def lease_lost_error(held: HeldLease) -> NotAllowed:
    """The error for a lease that has ended."""
    return NotAllowed(
        f"the lease of {held.holder!r} on {held.subject} has ended: it was not renewed in time, and what it "
        "protected may be gone; begin again with a new one, of a longer ttl if this happens often",
        code=LEASE_LOST, subject=held.subject, token=held.token,
    )  # fmt: skip


class LeaseHolding(Protocol):
    """Gives leases, renews them and takes them back; safe to share between threads and processes."""

    def on_version(
        self, table_id: TableId, version: Version | None, *, holder: str, ttl_ms: int
    ) -> HeldLease:
        """Have a version of a table kept readable; with None, files written from now on, while uncommitted.

        ``VersionNotFound`` if the version does not exist, or part of it may have been deleted.
        """
        ...

    def on_work(self, subject: str, *, holder: str, ttl_ms: int) -> HeldLease | None:
        """Be the only one who does something; None while somebody else is."""
        ...

    def renew(self, held: HeldLease, *, ttl_ms: int) -> HeldLease:
        """The same lease for longer; ``NotAllowed`` if it has ended, and what it protected may be gone."""
        ...

    def check(self, held: HeldLease) -> None:
        """``NotAllowed`` if the lease has ended."""
        ...

    def release(self, held: HeldLease) -> None:
        """End a lease; nothing happens if it has ended."""
        ...


class LeaseHorizon(Protocol):
    """Tells those who delete old files what is still needed, and keeps others from needing what goes."""

    def horizon(self, table_id: TableId) -> Horizon:
        """What the live leases on a table need."""
        ...

    def give_up(
        self, table_id: TableId, *, before: Version | None = None, moment: EpochMillis | None = None
    ) -> Horizon:
        """Have nobody get a lease any more on what is about to be deleted, as far as nobody needs it.

        ``before``: versions before it, from the log; ``moment``: files that no version needed since then, as
        VACUUM deletes them. The answer says how far each may go: exactly so far it must go, or less.
        """
        ...

    def vacuumed(self, table_id: TableId) -> EpochMillis:
        """The moment up to which files were given up last; 0 if none ever were."""
        ...

    def now_ms(self) -> int:
        """The time by which leases end."""
        ...


class TableLeases(LeaseHolding, LeaseHorizon, Protocol):
    """The leases of one catalog."""

    def live(self, subject: str | None = None) -> tuple[HeldLease, ...]:
        """The leases that have not ended, on everything or on one subject."""
        ...

    def sweep(self) -> int:
        """Forget leases that have ended; how many."""
        ...
