"""May the content of a checksum be handed to readers? Only if it says what the catalog's own books say.

Protocol, metadata, domains, application transactions, the txnId and the in-commit timestamp of a version are
known here, so a checksum that says otherwise is damaged, or somebody's lie, and is not kept. How many files
there are, and how large, only the log knows: whoever wants to be sure of that asks the log.
"""

from sqlalchemy import Connection

from headgate.catalog.decision import TableHead
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.serving import ChecksumContent
from headgate.catalog.store import commit_store, table_state
from headgate.protocol.log import version_checksum
from headgate.protocol.log.version_checksum import Checksum

MAX_BYTES = 256 * 1024
"""A larger one is left in its file: whoever opens the table would be sent all of it."""


def agrees_with_catalog(db: Connection, table_id: TableId, head: TableHead, heard: ChecksumContent) -> bool:
    """Whether the books bear out what a checksum says of a version, as far as they know."""
    if len(heard.content) > MAX_BYTES or not head.latest_change <= heard.version <= head.latest:
        return False
    recorded = version_checksum.parse(heard.content)
    expected = _expected_checksum(db, table_id, heard, recorded) if recorded is not None else None
    return (
        recorded is not None
        and expected is not None
        and recorded.num_files >= 0
        and recorded.table_size_bytes >= 0
        and recorded.in_commit_timestamp_opt is not None
        and not version_checksum.compare_checksums(recorded, expected)
    )


def _expected_checksum(
    db: Connection, table_id: TableId, heard: ChecksumContent, recorded: Checksum
) -> Checksum | None:
    """The same checksum by the books; None if they do not know enough of the table."""
    stamp = commit_store.commit_stamp(db, table_id, heard.version)
    told = table_state.load_table_state(db, table_id)
    if stamp is None or told is None:
        return None
    txn_id, timestamp = stamp
    return Checksum(
        txn_id=txn_id,
        table_size_bytes=recorded.table_size_bytes,
        num_files=recorded.num_files,
        num_metadata=1,
        num_protocol=1,
        in_commit_timestamp_opt=timestamp,
        set_transactions=None if told.txns is None else tuple(told.txns.values()),
        domain_metadata=None if told.domains is None else tuple(told.domains.values()),
        metadata=told.metadata,
        protocol=told.protocol,
    )
