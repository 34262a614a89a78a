"""Which schema a database has is known without Alembic, and only an older one is brought to the newest."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

from alembic.script import ScriptDirectory

from headgate.catalog.database import engine, schema_upgrade
from headgate.catalog.embedded import open_catalog

_OPEN = (
    "import sys; from headgate.catalog.embedded import open_catalog; open_catalog(sys.argv[1]).close(); "
    "print('alembic' in sys.modules)"
)


def test_the_newest_revision_is_that_of_the_last_migration() -> None:
    scripts = ScriptDirectory.from_config(schema_upgrade._config())

    assert scripts.get_current_head() == engine.NEWEST_REVISION


def test_a_new_database_gets_the_newest_schema(tmp_path: Path) -> None:
    with closing(engine.open_sqlite(tmp_path / "catalog.db")) as database:
        assert database.revision() == engine.NEWEST_REVISION


def test_who_opens_a_lake_that_is_up_to_date_does_not_load_alembic(tmp_path: Path) -> None:
    open_catalog(tmp_path / "lake").close()

    said = subprocess.run(
        [sys.executable, "-c", _OPEN, str(tmp_path / "lake")], capture_output=True, text=True, check=True
    )

    assert said.stdout.strip() == "False"


def test_a_revision_of_another_release_is_not_known() -> None:
    assert schema_upgrade.is_known_revision("0001")
    assert not schema_upgrade.is_known_revision("9999")
