"""Headgate: Delta Lake with a catalog at the gate.

Every public name has a home, and is loaded from there when a program first uses it: ``import headgate`` by
itself loads neither Spark nor a database. ``benchmarks/import_time.py`` says what that is worth.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the same names for type checkers, which do not run __getattr__
    from headgate import coordinators, domains, errors, owners, policies, settings
    from headgate.catalog.ports.access import Privilege
    from headgate.catalog.ports.events import Event
    from headgate.data_source.headgate_source import register_source
    from headgate.lake.lake import Lake, connect
    from headgate.lake.lake_recovery import recover
    from headgate.lake.path_table import at_path, check_path, convert, write_path
    from headgate.lake.table import Table
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
    "coordinators",
    "domains",
    "errors",
    "identity_column",
    "named_errors",
    "owners",
    "policies",
    "query_id",
    "recover",
    "register_source",
    "settings",
    "write_path",
]

_HOMES = {
    "DatabaseSettings": "headgate.settings",
    "Event": "headgate.catalog.ports.events",
    "IdentityGenerator": "headgate.spark.rules.identity_columns",
    "Lake": "headgate.lake.lake",
    "Privilege": "headgate.catalog.ports.access",
    "Publish": "headgate.settings",
    "Settings": "headgate.settings",
    "Table": "headgate.lake.table",
    "Thresholds": "headgate.protocol.features.rearrangement",
    "WorkerPolicy": "headgate.table.maintenance.maintenance_tasks",
    "at_path": "headgate.lake.path_table",
    "check_path": "headgate.lake.path_table",
    "connect": "headgate.lake.lake",
    "convert": "headgate.lake.path_table",
    "identity_column": "headgate.spark.rules.identity_columns",
    "named_errors": "headgate.spark.calls.errors",
    "query_id": "headgate.spark.streaming.query_identity",
    "recover": "headgate.lake.lake_recovery",
    "register_source": "headgate.data_source.headgate_source",
    "write_path": "headgate.lake.path_table",
}
_MODULES = frozenset({"coordinators", "domains", "errors", "owners", "policies", "settings"})

if not TYPE_CHECKING:  # seen by a type checker, it would stand for every name that does not exist

    def __getattr__(name: str) -> object:
        """A public name from its home, which is loaded if nothing did yet (PEP 562)."""
        if name in _MODULES:
            found = importlib.import_module(f"{__name__}.{name}")
        elif name in _HOMES:
            found = getattr(importlib.import_module(_HOMES[name]), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
