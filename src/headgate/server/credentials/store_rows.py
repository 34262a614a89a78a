"""Which stores can clients be given credentials for? As the file of a server's settings says, a row each.

[[stores]]
prefix = "s3://lake/tables"
kind = "s3-role"
role = "arn:aws:iam::1:role/lake"
region = "eu-central-1"

[[stores]]
prefix = "s3://minio"
kind = "s3-keys"
endpoint = "https://minio.example"
read_access_key = { variable = "READ_KEY" }       # where a secret is, and never the secret
read_secret_key = { path = "/run/secrets/read" }
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import msgspec

from headgate.errors import InvalidRequest
from headgate.server.credentials.storage_access import (
    Access,
    AzureDelegation,
    GcsDownscoping,
    OwnAccess,
    S3AssumedRole,
    S3StaticKeys,
    Secret,
    StorageAccess,
)

KINDS: Mapping[str, type[Access]] = {
    "own": OwnAccess,
    "s3-role": S3AssumedRole,
    "s3-keys": S3StaticKeys,
    "azure": AzureDelegation,
    "gcs": GcsDownscoping,
}
"""What a row calls each way to reach a store."""


def read_stores(written: Sequence[Mapping[str, Any]]) -> tuple[StorageAccess, ...]:
    """The rows of a file; refused if one says what no row of its kind does."""
    found = tuple(_read_store(dict(each)) for each in written)
    if len({row.prefix.rstrip("/") for row in found}) < len(found):
        raise InvalidRequest("two of [[stores]] have the same prefix: leave one of them out")
    return found


def _read_store(written: dict[str, Any]) -> StorageAccess:
    prefix, kind = written.pop("prefix", None), written.pop("kind", None)
    if not isinstance(prefix, str) or "://" not in prefix or kind not in KINDS:
        raise InvalidRequest(
            f"each of [[stores]] has a prefix, such as s3://bucket/folder, and a kind: {', '.join(KINDS)}"
        )
    access = KINDS[kind]
    if strange := sorted(set(written) - {each.name for each in fields(access)}):
        raise InvalidRequest(f"the store {prefix} says {strange[0]!r}, which is nothing of the kind {kind!r}")
    try:
        row = StorageAccess(prefix, msgspec.convert(written, access))
    except msgspec.ValidationError as exc:
        raise InvalidRequest(
            f"the store {prefix} cannot be read: {exc}. A secret is {{ variable = … }} or {{ path = … }}"
        ) from exc
    for name, secret in ((each.name, getattr(row.access, each.name)) for each in fields(access)):
        if isinstance(secret, Secret) and (secret.variable is None) is (secret.path is None):
            raise InvalidRequest(f"{name} of the store {prefix} is in a variable or at a path: say which")
    return row
