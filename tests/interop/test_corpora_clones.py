"""Tables of others, cloned: every file and every deletion vector is there, byte for byte."""

from pathlib import Path
from urllib.parse import unquote

import pytest

import headgate
from headgate import Lake, Table
from headgate.errors import HeadgateError
from headgate.protocol import table_features
from headgate.protocol.actions import AddFile
from headgate.settings import Publish, Settings
from headgate.table.alter import full_file_actions
from headgate.table.data_files import deleted_rows
from headgate.table.opened_table import OpenedTable
from headgate.table.read import file_paths
from tests.support import corpora

pytestmark = [pytest.mark.interop, corpora.needs_corpora]

TELLING = (
    "dv",
    "deletion",
    "special",
    "escaped",
    "partition",
    "mapping",
    "absolute",
    "clustered",
    "tracking",
)
"""What the names of tables have whose files are not merely listed."""


def found() -> list[Path]:
    tables = {log.parent for log in corpora.ROOT.rglob("_delta_log")}
    return sorted(table for table in tables if any(word in str(table) for word in TELLING))


def contents(table: OpenedTable) -> list[tuple[str, dict[str, str | None], bytes, tuple[int, ...]]]:
    """What is in the live files, under their names, and which of their rows are deleted."""
    adds = list(full_file_actions.all_live_adds(table, table.snapshot()))
    return sorted(
        (
            unquote(add.path).rpartition("/")[2],
            dict(add.partition_values),
            _bytes(table, add),
            _rows(table, add),
        )
        for add in adds
    )


def _bytes(table: OpenedTable, add: AddFile) -> bytes:
    store, path = file_paths.locate_object(table.store, table.location, add.path)
    return store.read(path)


def _rows(table: OpenedTable, add: AddFile) -> tuple[int, ...]:
    if add.deletion_vector is None:
        return ()
    (gone,) = deleted_rows.fetch_deleted_rows(table.store, table.location, [add.deletion_vector])
    return tuple(gone.rows)


def readable(place: Path) -> Table | None:
    """The table, if Headgate can write one like it and its files are there."""
    try:
        table = headgate.at_path(place)
        state = table.log.snapshot().state
        table_features.check_writable(state.protocol, state.metadata)
        contents(table.log)
    except HeadgateError:
        return None
    return table


def test_clones_have_what_their_sources_have(tmp_path: Path) -> None:
    compared = 0
    with headgate.connect(tmp_path, settings=Settings(publish=Publish.ON_DEMAND)) as lake:
        lake.create_schema("s")
        for number, place in enumerate(found()):
            source = readable(place)
            if source is not None:
                expected = contents(source.log)
                assert cloned(lake, place, f"s.d{number}") == expected, place
                assert cloned(lake, place, f"s.s{number}", shallow=True) == expected, place
                compared += 1

    assert compared > 20


def cloned(lake: Lake, place: Path, name: str, *, shallow: bool = False) -> object:
    return contents(lake.clone(place, name, shallow=shallow).log)
