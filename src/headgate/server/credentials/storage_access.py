"""How may clients reach which store? One row for each place under which tables are.

    StorageAccess("s3://lake/tables", S3AssumedRole("arn:aws:iam::1:role/lake", region="eu-central-1"))
    StorageAccess("gs://lake", GcsDownscoping(Secret.from_file("/run/secrets/gcp.json")))

Secrets are read from the environment or from a file when something is minted. They are part of no row, so
neither a configuration that is shown nor a log can have them.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headgate.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret is, not the secret: a variable of the environment, or a file."""

    variable: str | None = None
    path: str | None = None

    @classmethod
    def from_environment(cls, variable: str) -> "Secret":
        return cls(variable=variable)

    @classmethod
    def from_file(cls, path: str) -> "Secret":
        return cls(path=path)

    def read(self, environment: Mapping[str, str] = os.environ) -> str:
        """The secret as it is now, so that it can be changed while the server runs."""
        try:
            found = environment[self.variable] if self.variable else Path(self.path or "").read_text()
        except (KeyError, OSError) as exc:
            where = f"the variable {self.variable}" if self.variable else f"the file {self.path!r}"
            raise InvalidRequest(
                f"the secret in {where} of the server cannot be read: set it, or correct its name in the "
                "server's configuration",
                code="HEADGATE_SECRET_MISSING",
            ) from exc
        return found.strip()


@dataclass(frozen=True, slots=True)
class OwnAccess:
    """Clients use what they have themselves: for folders, or stores to which all have access."""


@dataclass(frozen=True, slots=True)
class S3AssumedRole:
    """STS gives out a role, narrowed to the table and the operation; for AWS and stores that have an STS.

    Without keys of its own the server uses those that botocore finds in its environment.
    """

    role: str
    region: str = "us-east-1"
    external_id: str | None = None
    seconds: int = 3600
    access_key: Secret | None = None
    secret_key: Secret | None = None
    sts_endpoint: str | None = None
    endpoint: str | None = None
    """The store's address as clients reach it; None for AWS."""
    partition: str = "aws"
    """``aws-cn`` and ``aws-us-gov`` for those parts of AWS."""


@dataclass(frozen=True, slots=True)
class S3StaticKeys:
    """Keys that the store's operator made for this prefix, one pair to read and one to write.

    They are as narrow as the operator made them: the prefix of the row is all that this server checks.
    """

    read_access_key: Secret
    read_secret_key: Secret
    write_access_key: Secret | None = None
    write_secret_key: Secret | None = None
    endpoint: str | None = None
    region: str = "us-east-1"
    seconds: int = 3600
    """How long clients use them before they ask again."""


@dataclass(frozen=True, slots=True)
class AzureDelegation:
    """A shared access signature of a directory, signed by a user delegation key."""

    tenant_id: str
    client_id: str
    client_secret: Secret
    seconds: int = 3600
    authority: str = "https://login.microsoftonline.com"
    blob_endpoint: str | None = None
    """The account's blob service; None for ``https://<account>.blob.core.windows.net``."""


@dataclass(frozen=True, slots=True)
class GcsDownscoping:
    """An access token of a service account, narrowed by a credential access boundary."""

    service_account_key: Secret
    sts_endpoint: str = "https://sts.googleapis.com"


Access = OwnAccess | S3AssumedRole | S3StaticKeys | AzureDelegation | GcsDownscoping


@dataclass(frozen=True, slots=True)
class StorageAccess:
    """One row: everything below this prefix is reached in this way."""

    prefix: str
    access: Access = field(default_factory=OwnAccess)
