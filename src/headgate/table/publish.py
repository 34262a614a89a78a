"""Copying ratified commits to ``_delta_log``, in order, each exactly as it was ratified."""

from headgate.catalog.api import CommitCatalog, TableId
from headgate.errors import CorruptLog, ObjectExists
from headgate.protocol import names
from headgate.protocol.actions import Version
from headgate.storage.api import Store
from headgate.table import log, tail


def publish(store: Store, catalog: CommitCatalog, table_id: TableId) -> Version:
    """Publish everything ratified so far; the last published version.

    Anyone may do this at any time, and several at once: a version that is there already is left
    as it is. It stops at the first version that fails, so no gap can arise (I3).
    """
    told = tail.ask(catalog, table_id)
    for commit in told.commits:
        _publish_one(store, commit.version, log.content(store, commit.version, commit))
    if told.commits:
        catalog.mark_published(table_id, told.commits[-1].version)
    return told.latest


def _publish_one(store: Store, version: Version, content: bytes) -> None:
    path = names.published(version)
    try:
        store.put_if_absent(path, content)
    except ObjectExists as exc:
        if store.read(path) != content:
            raise CorruptLog(
                f"{path} exists and differs from the ratified version {version}; it is not overwritten: "
                "find out who wrote it, move it away and publish again",
                code="DELTA_TXN_LOG_FAILED_INTEGRITY", version=version,
            ) from exc  # fmt: skip
