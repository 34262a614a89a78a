"""What does a Spark session remember from one statement to the next? Its schema, and its transaction.

``USE sales`` makes ``sales`` the schema of names without one, and ``BEGIN`` has all that follows be one
transaction until ``COMMIT`` or ``ROLLBACK``. The schema is in the session's configuration, so that sessions
which Spark clones from it, as for ``foreachBatch``, have it too; a transaction is of one session alone.
"""

import threading
import uuid
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from headgate.lake.lake import Lake
from headgate.lake.transaction import LakeTransaction
from headgate.spark.session import kind

SCHEMA = "spark.headgate.schema"
"""What the configuration of a session has once USE named a schema of a lake: ``id=schema``."""

_lock = threading.Lock()
_lake_ids: WeakKeyDictionary[Lake, str] = WeakKeyDictionary()
_running: dict[str, tuple[Lake, LakeTransaction]] = {}


def use_schema(spark: SparkSession, lake: Lake, schema: str) -> None:
    """Have names without a schema mean those of this one."""
    spark.conf.set(SCHEMA, f"{_lake_id(lake)}={schema.lower()}")


def leave_schema(spark: SparkSession) -> None:
    """Have names without a schema mean Spark's."""
    spark.conf.unset(SCHEMA)


def schema_in_use(spark: SparkSession, lake: Lake) -> str | None:
    """The schema of names without one, if it is one of this lake."""
    said = spark.conf.get(SCHEMA, None)
    if not said:
        return None
    lake_id, _, schema = said.partition("=")
    return schema if lake_id == _lake_id(lake) else None


def begin(spark: SparkSession, lake: Lake, transaction: LakeTransaction) -> bool:
    """Have what follows in the session be this transaction; False if one is running already."""
    with _lock:
        return _running.setdefault(session_id(spark), (lake, transaction)) == (lake, transaction)


def running_transaction(spark: SparkSession) -> tuple[Lake, LakeTransaction] | None:
    """The transaction of the session, with its lake."""
    return _running.get(session_id(spark)) if _running else None


def end_transaction(spark: SparkSession) -> tuple[Lake, LakeTransaction] | None:
    """The transaction of the session, which is no longer its own."""
    with _lock:
        return _running.pop(session_id(spark), None)


def session_id(spark: SparkSession) -> str:
    """What tells a session from others, of which Python may have several objects."""
    if kind.is_connect(spark):
        return str(spark.session_id)  # type: ignore[attr-defined]  # that of Spark Connect
    return str(spark._jsparkSession.sessionUUID())


def _lake_id(lake: Lake) -> str:
    with _lock:
        return _lake_ids.setdefault(lake, uuid.uuid4().hex)
