"""Who may reach a table's files with what? ``vend`` answers after it has checked the place.

authorise (the route, by the catalog) → check the location (here) → mint (here). The order is the point:
what was minted cannot be taken back, so nothing is minted that a later check would refuse.
"""

from collections.abc import Callable, Mapping

from typing_extensions import override

from headgate.clock import SystemWorld, World
from headgate.server.credentials import azure_sas, gcs_tokens, s3_keys
from headgate.server.credentials.storage_access import (
    Access,
    AzureDelegation,
    GcsDownscoping,
    OwnAccess,
    S3AssumedRole,
    S3StaticKeys,
    StorageAccess,
)
from headgate.server.credentials.table_place import (
    TablePlace,
    choose_row,
    is_folder,
    no_row,
    parse_place,
)
from headgate.storage.credentials import NO_EXPIRY_MS, StorageOperation, VendedCredential
from headgate.storage.location_spelling import location_url

Mint = Callable[[Access, TablePlace, StorageOperation, World], tuple[Mapping[str, str], int]]
"""The configuration for clients, and when it ends."""


def _own(_: Access, __: TablePlace, ___: StorageOperation, ____: World) -> tuple[Mapping[str, str], int]:
    return {}, NO_EXPIRY_MS


MINTS: Mapping[type[object], Mint] = {
    OwnAccess: _own,
    S3AssumedRole: s3_keys.assume_role,
    S3StaticKeys: s3_keys.static_keys,
    AzureDelegation: azure_sas.sign_directory,
    GcsDownscoping: gcs_tokens.downscope,
}
"""One row for each way to reach a store."""


class CredentialVendor:
    """Mints credentials by the rows of a configuration; safe to share between threads.

    It is no dataclass: those that handlers are given are looked into by the framework.
    """

    def __init__(self, rows: tuple[StorageAccess, ...] = (), world: World | None = None) -> None:
        self.rows = rows
        self._world = world or SystemWorld()

    @override
    def __repr__(self) -> str:
        return f"CredentialVendor({self.rows!r})"

    def vends_for(self, location: str) -> bool:
        """Whether ``vend`` has something for this place; if not, clients use credentials of their own."""
        return is_folder(location) or choose_row(self.rows, location) is not None

    def vend(self, location: str, operation: StorageOperation) -> VendedCredential:
        """A credential for the table at this location, which the catalog has named; it always has an end.

        ``NotAllowed`` for a place outside all rows, or one that is more than a table's folder. Whoever asks
        must have been authorised for the operation before.
        """
        if is_folder(location):
            return VendedCredential(location_url(location), operation, NO_EXPIRY_MS, {})
        place = parse_place(location)
        row = choose_row(self.rows, location)
        if row is None:
            raise no_row(location)
        config, expires_ms = MINTS[type(row.access)](row.access, place, operation, self._world)
        return VendedCredential(location_url(location), operation, expires_ms, config)
