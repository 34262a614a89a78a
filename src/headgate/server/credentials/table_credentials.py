"""What does a caller get for a table? authorise → check the location → mint, in this order and in one place.

The catalog authorises: it is asked on behalf of the caller. The location is the one that the catalog knows.
"""

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.serving import ReaderCatalog
from headgate.catalog.wire.delta_api import StorageCredential
from headgate.errors import InvalidRequest, TableNotFound
from headgate.server.credentials.vendor import CredentialVendor
from headgate.storage.credentials import StorageOperation, VendedCredential


def vend_for_table(
    vendor: CredentialVendor,
    catalog: ReaderCatalog,
    table_id: TableId,
    location: str,
    operation: StorageOperation,
) -> VendedCredential:
    """A credential for a table, or for a place that the caller has reserved.

    ``catalog`` acts on behalf of the caller, and has named the ``location`` of this very table.
    """
    catalog.credentials(table_id, operation)
    return vendor.vend(location, operation)


def vend_for_staging(
    vendor: CredentialVendor, catalog: ReaderCatalog, table_id: TableId, location: str
) -> tuple[VendedCredential, ...]:
    """What goes with a place that was just reserved; nothing where clients use credentials of their own."""
    if not vendor.vends_for(location):
        return ()
    return (vend_for_table(vendor, catalog, table_id, location, StorageOperation.READ_WRITE),)


def vend_by_id(
    vendor: CredentialVendor, catalog: LakeCatalog, table_id: TableId, operation: StorageOperation
) -> tuple[VendedCredential, ...]:
    """The same by the id alone, of a table or of a place; nothing where clients use their own."""
    location = _location(catalog, table_id)
    if not vendor.vends_for(location):
        catalog.credentials(table_id, operation)
        return ()
    return (vend_for_table(vendor, catalog, table_id, location, operation),)


def _location(catalog: LakeCatalog, table_id: TableId) -> str:
    try:
        return catalog.resolve_id(table_id).location
    except TableNotFound:
        return catalog.find_staging(table_id).location


def parse_operation(operation: str) -> StorageOperation:
    """What a request asks for."""
    try:
        return StorageOperation(operation)
    except ValueError as exc:
        raise InvalidRequest(
            f"there are no credentials to {operation!r}: ask for READ or READ_WRITE"
        ) from exc


def to_wire(vended: VendedCredential) -> StorageCredential:
    """A credential as the Delta API has it."""
    return StorageCredential(
        prefix=vended.prefix,
        operation=vended.operation.value,
        expiration_time_ms=vended.expires_ms,
        config=dict(vended.config),
    )
