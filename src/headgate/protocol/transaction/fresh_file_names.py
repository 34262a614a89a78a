"""Is a file of an append surely new to its table? Its name proves it, so that nobody has to look.

Whoever adds a path again replaces what is known of that file, or brings back what was deleted: that
changes data. The catalog keeps no list of paths. In its place the folder of a new file begins with a
digest of the table's id and of the transaction that adds it. A transaction is ratified once, so nobody
adds such a path a second time; and for a path that is there nobody finds a transaction with its digest.
"""

import hashlib

from headgate.protocol.actions import TxnId

_DIGITS = 32
_AFTER = ("/", "-")  # not a colon: what begins with a scheme is elsewhere


def transaction_prefix(table_id: str, txn_id: TxnId) -> str:
    """How the paths begin that only this transaction of the table can add."""
    return hashlib.sha256(f"{table_id}\n{txn_id}".encode()).hexdigest()[:_DIGITS]


def is_fresh(path: str, marked: str) -> bool:
    """Whether no commit but that of the transaction with this mark can have the path, however spelled."""
    return path.startswith(marked) and path[len(marked) : len(marked) + 1] in _AFTER
