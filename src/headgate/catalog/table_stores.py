"""With what are the files of a catalog's table reached? With what its catalog vends, or else one's own."""

from functools import partial

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.serving import VendingCatalog
from headgate.errors import NotAllowed
from headgate.storage.credentials import StorageOperation, VendedCredential
from headgate.storage.locate import locate
from headgate.storage.location_spelling import is_local
from headgate.storage.store import Store


def open_store(catalog: VendingCatalog, table_id: TableId, location: str) -> Store:
    """The store of a table, or of a staged one; what is vended for it is renewed as long as it is used."""
    if is_local(location):
        return locate(location)
    return locate(location, partial(vended_credentials, catalog, table_id))


def vended_credentials(catalog: VendingCatalog, table_id: TableId) -> tuple[VendedCredential, ...]:
    """The widest that the catalog vends: to write, or to read for whoever may not write."""
    try:
        return catalog.credentials(table_id, StorageOperation.READ_WRITE)
    except NotAllowed:
        return catalog.credentials(table_id, StorageOperation.READ)
