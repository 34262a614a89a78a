"""The files of a catalog are for whoever made it."""

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headgate.catalog.embedded import open_catalog
from headgate.catalog.targets import DATABASE_FILE
from tests.support.proposals import inline
from tests.support.tables import create_managed


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """A process that lets everybody read and write what it makes."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.glob(f"{DATABASE_FILE}*")}


def test_a_new_database_and_all_files_beside_it_are_its_owners_alone(tmp_path: Path) -> None:
    with closing(open_catalog(tmp_path)) as catalog:
        staging = create_managed(catalog)
        catalog.propose(inline(staging.table_id, 1, "a"))

        found = modes(tmp_path)

    assert {f"{DATABASE_FILE}{suffix}" for suffix in ("", "-wal", "-shm", "-sync", "-turn")} <= found.keys()
    assert set(found.values()) == {0o600}


def test_a_database_that_is_there_keeps_its_mode_and_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    open_catalog(tmp_path).close()
    for name in modes(tmp_path):
        (tmp_path / name).chmod(0o660)

    with caplog.at_level(logging.WARNING), closing(open_catalog(tmp_path)) as catalog:
        create_managed(catalog)
        found = modes(tmp_path)

    assert set(found.values()) == {0o660}
    assert "mode 660" in caplog.text
