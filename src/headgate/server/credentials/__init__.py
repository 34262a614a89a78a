"""Which credentials does a client get for the files of a table? ``CredentialVendor`` mints them.

A route takes the table's location from the catalog, never from the request, and calls ``vend_for_table``: the
catalog authorises the caller, the vendor checks the location against its rows, and only then it mints.
"""

from headgate.server.credentials.storage_access import (
    AzureDelegation,
    GcsDownscoping,
    OwnAccess,
    S3AssumedRole,
    S3StaticKeys,
    Secret,
    StorageAccess,
)
from headgate.server.credentials.store_rows import read_stores
from headgate.server.credentials.table_credentials import (
    parse_operation,
    to_wire,
    vend_by_id,
    vend_for_staging,
    vend_for_table,
)
from headgate.server.credentials.vendor import CredentialVendor

__all__ = [
    "AzureDelegation",
    "CredentialVendor",
    "GcsDownscoping",
    "OwnAccess",
    "S3AssumedRole",
    "S3StaticKeys",
    "Secret",
    "StorageAccess",
    "parse_operation",
    "read_stores",
    "to_wire",
    "vend_by_id",
    "vend_for_staging",
    "vend_for_table",
]
