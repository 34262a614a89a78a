"""Headgate: Delta Lake with a catalog at the gate."""

from headgate import domains, owners
from headgate.handle import Table
from headgate.lake import Lake, at_path, connect
from headgate.settings import DatabaseSettings, Publish, Settings

__version__ = "0.1.0"
__all__ = [
    "DatabaseSettings",
    "Lake",
    "Publish",
    "Settings",
    "Table",
    "at_path",
    "connect",
    "domains",
    "owners",
]
