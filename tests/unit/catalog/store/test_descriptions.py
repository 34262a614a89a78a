"""What a table is, by the catalog's word alone (S040)."""

import random
import sqlite3
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from headgate.catalog import migrations
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import TableState
from headgate.catalog.ports.maintenance import Maintenance
from headgate.catalog.ports.serving import LogHints
from headgate.catalog.targets import DATABASE_FILE
from headgate.errors import UnsupportedFeature
from headgate.protocol.actions import Action, CommitInfo, DomainMetadata, TxnId, Version
from headgate.protocol.features.rearrangement import Thresholds
from headgate.protocol.log import codec
from headgate.storage.locate import locate
from headgate.table.opened_table import OpenedTable
from tests.support.commits import MANAGED, add, metadata
from tests.support.faulty_store import FaultyStore, RecordingWire
from tests.support.lenient import anything_goes
from tests.support.proposals import inline, stamp
from tests.support.tables import NAME, open_managed
from tests.support.versions import Managed, managed, paths
from tests.unit.table.read.test_catalog_tail import Garbled

STRANGE = msgspec.structs.replace(
    MANAGED,
    reader_features=(*(MANAGED.reader_features or ()), "quantumFiles"),
    writer_features=(*(MANAGED.writer_features or ()), "quantumFiles"),
)


def ratify(table: Managed, version: int, *actions: Action) -> None:
    """A commit of these actions, by another client."""
    info = CommitInfo(in_commit_timestamp=stamp(version), txn_id=TxnId(f"txn {version}"))
    data = codec.encode((info, *actions))
    with anything_goes():
        table.catalog.propose(inline(table.table_id, version, f"txn {version}", data=data))


def watched(table: Managed) -> tuple[OpenedTable, RecordingWire]:
    wire = RecordingWire()
    return table.opened(store=FaultyStore(locate(table.location), wire)), wire


def test_a_description_touches_the_log_only_for_files(tmp_path: Path) -> None:
    """S040"""
    table = managed(tmp_path, 4, published=2)
    opened, wire = watched(table)

    found = opened.describe()

    assert wire.calls == []
    assert (found.version, found.protocol.is_catalog_managed) == (4, True)
    state = table.opened().snapshot().state
    assert (found.protocol, found.metadata) == (state.protocol, state.metadata)
    assert sorted(found.files.columns["path"].to_pylist()) == ["1", "2", "3", "4"]
    assert wire.calls != []


def test_a_description_stays_at_its_version(tmp_path: Path) -> None:
    """S040"""
    table = managed(tmp_path, 2)
    found = table.opened().describe()

    ratify(table, 3, add("3"))

    assert found.snapshot.version == found.version == 2
    assert sorted(found.files.columns["path"].to_pylist()) == ["1", "2"]


def test_an_unknown_reader_feature_is_refused_before_the_log_is_touched(tmp_path: Path) -> None:
    """S040"""
    table = managed(tmp_path, 1)
    ratify(table, 2, STRANGE)
    opened, wire = watched(table)

    with pytest.raises(UnsupportedFeature, match="quantumFiles"):
        opened.describe()

    assert wire.calls == []
    assert paths(opened, 1) == ["1"]


def test_the_catalog_tells_what_the_log_says_after_every_commit(tmp_path: Path) -> None:
    """S040"""
    table = managed(tmp_path, 0)
    chance = random.Random(40)
    choices: list[tuple[Action, ...]] = [
        (add("a"),),
        (MANAGED,),
        (DomainMetadata(domain="acme", configuration="x", removed=False),),
    ]
    for version in range(1, 30):
        changed = metadata(acme_number=f"{version}", delta_enableInCommitTimestamps="true")
        ratify(table, version, *chance.choice([*choices, (changed,), (changed, MANAGED, add("b"))]))

        told = table.catalog.tail(table.table_id).description

        state = table.opened().snapshot().state
        assert told is not None
        assert (told.protocol, told.metadata) == (state.protocol, state.metadata)


def test_a_catalog_that_tells_nothing_is_no_hindrance(tmp_path: Path) -> None:
    """S040"""
    table = managed(tmp_path, 2)
    silent = table.opened(
        through=lambda catalog: Garbled(catalog, lambda tail: replace(tail, description=None))
    )

    found = silent.describe()

    assert (found.version, found.metadata) == (2, table.opened().describe().metadata)
    assert sorted(found.files.columns["path"].to_pylist()) == ["1", "2"]


def test_what_a_process_of_an_older_release_committed_is_not_told_from_memory(tmp_path: Path) -> None:
    """S040: it moves the table on without leaving word."""
    table = managed(tmp_path, 1)
    before = table.catalog.tail(table.table_id).description
    ratify(table, 2, metadata(acme="new", delta_enableInCommitTimestamps="true"))
    assert before is not None
    forget(tmp_path, before)

    assert table.catalog.tail(table.table_id).description is None
    assert table.opened().describe().metadata.configuration["acme"] == "new"
    ratify(table, 3, DomainMetadata(domain="acme", configuration="x", removed=False))
    assert table.catalog.tail(table.table_id).description is None
    ratify(table, 4, MANAGED, metadata(acme="newer", delta_enableInCommitTimestamps="true"))
    told = table.catalog.tail(table.table_id).description
    assert told is not None
    assert told.metadata.configuration["acme"] == "newer"
    assert told.domains is None
    assert told.txns is None


def forget(folder: Path, before: TableState) -> None:
    """Version 2 as if it had been written down by a process that knows nothing of descriptions."""
    with sqlite3.connect(folder / DATABASE_FILE) as db:
        old = msgspec.json.encode(before.metadata).decode()
        db.execute("UPDATE tables SET described_by = 0, domains_by = 0, metadata = ?", (old,))
    db.close()


def as_of_release(path: Path, revision: str) -> None:
    """The same rows in a database as an older release made it."""
    newer = path.rename(path.with_suffix(".newer"))
    engine = create_engine(f"sqlite:///{path}")
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()
    with sqlite3.connect(path) as db:
        db.execute("ATTACH ? AS newer", (str(newer),))
        for table in ("schemas", "tables", "commits"):
            columns = ", ".join(row[1] for row in db.execute(f"PRAGMA table_info({table})"))
            db.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM newer.{table}")
    db.close()


def test_a_lake_of_an_older_release_is_brought_up_to_date(tmp_path: Path) -> None:
    table = managed(tmp_path, 2, published=1)
    table.catalog.close()  # type: ignore[attr-defined]
    as_of_release(tmp_path / DATABASE_FILE, "0001")

    catalog = open_catalog(tmp_path)

    opened = open_managed(catalog, table.table_id, table.location)
    assert catalog.tail(table.table_id).description is None
    assert opened.describe().version == 2
    assert paths(opened) == ["1", "2"]


def test_a_lake_from_before_checksums_were_served_is_brought_up_to_date(tmp_path: Path) -> None:
    table = managed(tmp_path, 2, published=1)
    table.catalog.close()  # type: ignore[attr-defined]
    as_of_release(tmp_path / DATABASE_FILE, "0009")

    catalog = open_catalog(tmp_path)

    assert catalog.load(NAME).hints == LogHints()
    assert catalog.permissions.thresholds(table.table_id) is None
    catalog.note_log(table.table_id, LogHints(checksum=Version(1)))
    catalog.permissions.permit(table.table_id, Maintenance.DATA_REORGANISATION, Thresholds(small_files=2))
    assert catalog.load(NAME).hints == LogHints(checksum=Version(1))
    assert catalog.permissions.thresholds(table.table_id) == Thresholds(small_files=2)
