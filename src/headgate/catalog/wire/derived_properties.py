"""Which properties of a table does a server derive, so that clients see them and never send them back?

Features by their names, versions of the protocol, and what else the API has no field for.
"""

from headgate.catalog.wire.delta_api import FEATURE_PREFIX
from headgate.protocol.metadata.table_properties import MIN_READER, MIN_WRITER

CLUSTERING_COLUMNS = ("clusteringColumns", "delta.clusteringColumns")
ROW_ID_HIGH_WATER_MARK = "delta.rowTracking.rowIdHighWaterMark"
LAST_UPDATE, LAST_COMMIT = "delta.lastUpdateVersion", "delta.lastCommitTimestamp"
_DERIVED = frozenset(
    {MIN_READER, MIN_WRITER, *CLUSTERING_COLUMNS, ROW_ID_HIGH_WATER_MARK, LAST_UPDATE, LAST_COMMIT}
)


def is_derived(name: str) -> bool:
    """Whether a property is one of them, and none of the table's own."""
    return name in _DERIVED or name.startswith(FEATURE_PREFIX)
