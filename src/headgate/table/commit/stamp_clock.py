"""Is the clock of this process fit to stamp commits? By path nobody else looks at the timestamps.

Every later version has to follow a timestamp that is ahead, so one that is far ahead of the store's clock is
not proposed. The store is asked rarely: its time only grows.
"""

from headgate.errors import InvalidRequest
from headgate.protocol.log import file_names, timestamps
from headgate.storage import store_time
from headgate.storage.store import Store
from headgate.table.transaction import Transaction


class TimestampGuard:
    """Compares timestamps with the clock of one store; safe to share between threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen_ms: int | None = None

    def require(self, txn: Transaction) -> None:
        """Refuse a transaction that would be stamped far ahead, before anything of it is proposed."""
        if not txn.in_commit_timestamps:
            return
        previous = txn.attempt.follows.in_commit_timestamp
        if self._seen_ms is None or timestamps.is_too_far_ahead(txn.timestamp, self._seen_ms, previous):
            self._seen_ms = store_time.now_ms(self._store, file_names.CLOCK_FILE)
        if timestamps.is_too_far_ahead(txn.timestamp, self._seen_ms, previous):
            ahead = timestamps.format_duration(txn.timestamp - self._seen_ms)
            raise InvalidRequest(
                f"the clock of this machine is {ahead} ahead of that of the store, and all later versions "
                f"would have to follow {timestamps.format_timestamp(txn.timestamp)}; nothing was committed: "
                "set the clock",
                rule="timestamps-not-ahead",
            )
