"""Where is a lake? In a folder with a database file and a warehouse, or behind the address of a server."""

import re
from dataclasses import dataclass, field

from headgate.redaction import MASK, redact
from headgate.settings import Settings

DATABASE_FILE = "catalog.sqlite"
WAREHOUSE_FOLDER = "warehouse"
"""What makes a folder a lake."""

TOKEN_VARIABLE = "HEADGATE_TOKEN"
"""The environment variable with the token for a lake behind a server."""

SCHEMES = ("postgresql", "postgres")
_SCHEME = re.compile(r"^[^:]*://")
_CREDENTIALS = re.compile(r"^postgresql://(?P<user>[^:/]*):[^@]*@")


def is_postgresql(target: str) -> bool:
    """Whether a lake of this address is behind PostgreSQL."""
    return target.partition(":")[0] in SCHEMES and "://" in target


def is_http(target: str) -> bool:
    """Whether a lake of this address is behind a server of Headgate's own API."""
    return target.startswith(("http://", "https://"))


def without_password(target: str) -> str:
    """A lake's place for people: an address without its password."""
    if not is_postgresql(target):
        return target
    return redact(_CREDENTIALS.sub(rf"postgresql://\g<user>:{MASK}@", _SCHEME.sub("postgresql://", target)))


@dataclass(frozen=True, slots=True)
class CatalogTarget:
    """Which catalog is to be opened, and how it is to be used."""

    place: str = field(repr=False)  # it may have a password
    """A folder, or an address such as ``postgresql://…``."""
    warehouse: str | None = None
    """Where tables shall be, for a catalog that does not know; whoever names it may make a new lake."""
    settings: Settings = field(default_factory=Settings)
    token: str | None = field(default=None, repr=False)
    """By which a server knows who connects."""
