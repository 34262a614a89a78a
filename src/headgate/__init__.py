"""Headgate: Delta Lake with a catalog at the gate."""

from headgate.catalog.ports.access import Privilege
from headgate.catalog.ports.events import Event
from headgate.lake.lake import Lake, connect
from headgate.lake.lake_recovery import recover
from headgate.lake.path_table import at_path, check_path, convert, write_path
from headgate.lake.table import Table
from headgate.plugins import coordinators as owners
from headgate.plugins import domain_handlers as domains
from headgate.plugins import policies
from headgate.protocol.features.rearrangement import Thresholds
from headgate.settings import DatabaseSettings, Publish, Settings
from headgate.spark.calls.errors import named_errors
from headgate.spark.rules.identity_columns import IdentityGenerator, identity_column
from headgate.spark.streaming.query_identity import query_id
from headgate.table.maintenance.maintenance_tasks import WorkerPolicy

__version__ = "0.1.0"
__all__ = [
    "DatabaseSettings",
    "Event",
    "IdentityGenerator",
    "Lake",
    "Privilege",
    "Publish",
    "Settings",
    "Table",
    "Thresholds",
    "WorkerPolicy",
    "at_path",
    "check_path",
    "connect",
    "convert",
    "domains",
    "identity_column",
    "named_errors",
    "owners",
    "policies",
    "query_id",
    "recover",
    "write_path",
]
