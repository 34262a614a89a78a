"""How is a database brought to the newest schema? By Alembic, which only whoever needs that loads.

A database that has it already, as nearly every one has that is opened, is known by the name of its revision:
``engine.NEWEST_REVISION``. Loading Alembic and its scripts to learn the same takes longer than a commit.
"""

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

_MIGRATIONS = str(Path(__file__).parents[1] / "migrations")
_ALEMBIC = threading.Lock()  # its context is one for the whole process


def is_known_revision(revision: str) -> bool:
    """Whether this release can begin from a schema."""
    return revision in {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}


def upgrade(connection: Connection) -> None:
    """Bring the database to the newest schema, in the transaction of the connection."""
    with _ALEMBIC:
        command.upgrade(_config(connection), "head")


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", _MIGRATIONS.replace("%", "%%"))  # else it names a variable
    config.attributes["connection"] = connection
    return config
