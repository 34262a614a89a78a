"""Which query does a batch belong to? It has the same id when it starts again from its checkpoint."""

import msgspec
from pyspark.sql import DataFrame

from headgate.errors import InvalidRequest, ObjectNotFound
from headgate.spark.session import kind
from headgate.storage.locate import locate

_PROPERTY = "sql.streaming.queryId"
_FILE = "metadata"


def query_id(batch: DataFrame) -> str:
    """The id of the streaming query whose batch this is; inside a function given to ``foreachBatch``.

    It names the query in the transactions of an application: with ``merge.once(…)``, ``txn=…``.

        orders.append(batch, txn=(headgate.query_id(), number))
    """
    found = _query_id_of_thread(batch)
    if found is None:
        raise InvalidRequest(
            "these rows are not a batch of a running query, or are on Spark Connect, where a batch does not "
            "know its query: choose a name that no other query uses (app_id)"
        )
    return found


def query_id_of_batch(batch: DataFrame, checkpoint: str | None) -> str | None:
    """The same, or by its checkpoint where the batch cannot tell; None if nothing does."""
    found = _query_id_of_thread(batch)
    return query_id_of_checkpoint(checkpoint) if found is None and checkpoint is not None else found


def query_id_of_checkpoint(checkpoint: str) -> str | None:
    """The id of the query that this checkpoint is of; None if there was none yet."""
    try:
        content = locate(checkpoint).read(_FILE)
    except ObjectNotFound:
        return None
    return str(msgspec.json.decode(content)["id"])


def _query_id_of_thread(batch: DataFrame) -> str | None:
    """What Spark says to the thread that runs a batch."""
    if kind.is_connect(batch):
        return None
    found: str | None = batch.sparkSession.sparkContext.getLocalProperty(_PROPERTY)
    return found
