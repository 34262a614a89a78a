"""The newest checksum, by the catalog's word: true, of bounded size, and nobody reads its file."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs
from sqlalchemy import update

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import StagingTable
from headgate.catalog.ports.serving import ChecksumContent, LogHints
from headgate.catalog.store import checksum_content
from headgate.catalog.store.loading import log_hints
from headgate.clock import SystemWorld
from headgate.lake.lake import Lake
from headgate.protocol.actions import AppTransaction, EpochMillis, TxnId, Version
from headgate.protocol.log import file_names, version_checksum
from headgate.protocol.log.version_checksum import Checksum
from headgate.settings import Publish, Settings
from headgate.table.opened_table import OpenedTable
from tests.contract.conftest import ORDERS
from tests.contract.test_serving import Watched, append, domain, propose, watched  # noqa: F401 — a fixture
from tests.support.waiting import until


def served(catalog: Catalog) -> ChecksumContent | None:
    return catalog.load(ORDERS).hints.content


def written(table: StagingTable, version: int) -> bytes:
    return (Path(table.location) / file_names.checksum_path(Version(version))).read_bytes()


def summed_up(watched: Watched, *paths: str) -> OpenedTable:  # noqa: F811
    """The table with these files, and a checkpoint and a checksum of its latest version."""
    opened = watched.lake.table("sales.orders").log
    append(opened, *paths)
    opened.checkpoint()
    return opened


def test_the_content_of_the_newest_checksum_is_served(
    catalog: Catalog,
    watched: Watched,  # noqa: F811
    table: StagingTable,
) -> None:
    opened = summed_up(watched, *"ab")
    assert served(catalog) == ChecksumContent(Version(2), written(table, 2))

    append(opened, "c")
    opened.checkpoint()

    assert served(catalog) == ChecksumContent(Version(3), written(table, 3))


def test_a_writer_that_pauses_makes_its_checksum_known(catalog: Catalog, table: StagingTable) -> None:
    settings = Settings(publish=Publish.SOON, publish_quiet_seconds=0.01, checkpoints=False)
    with Lake(catalog.acting_as("owner"), settings=settings, world=SystemWorld()) as lake:
        append(lake.table("sales.orders").log, *"abc")
        until(lambda: (found := served(catalog)) is not None and found.version == 3)

        assert served(catalog) == ChecksumContent(Version(3), written(table, 3))


def without_content(catalog: Catalog) -> None:
    with catalog._database.writing() as db:
        db.execute(update(log_hints).values(checksum=None, checksum_of=None))


def calls_of_an_open(watched: Watched) -> list[str]:  # noqa: F811
    """Which files are read to open the table and see its files, as often as they are."""
    watched.since()
    found = watched.lake.table("sales.orders").log.snapshot()
    assert sorted(found.files.columns["path"].to_pylist()) == [*"abc"]
    assert found.state.in_commit_timestamp is not None
    calls = [call.removeprefix("read ").removeprefix(file_names.LOG_FOLDER) for call in watched.wire.calls]
    watched.since()
    return calls


def test_opening_a_table_reads_neither_its_checksum_nor_its_last_commit(
    catalog: Catalog,
    watched: Watched,  # noqa: F811
    table: StagingTable,
) -> None:
    """Two calls of the store fewer for a table whose last commit was cleaned up, one fewer for any other."""
    summed_up(watched, *"abc")
    commit, sums = (
        name(Version(3)).removeprefix(file_names.LOG_FOLDER)
        for name in (file_names.published_path, file_names.checksum_path)
    )

    after = calls_of_an_open(watched)
    without_content(catalog)
    before = calls_of_an_open(watched)
    (Path(table.location) / file_names.published_path(Version(3))).unlink()
    before_cleaned_up = calls_of_an_open(watched)

    assert not {commit, sums} & set(after)
    assert len(before) == len(after) + 1
    assert commit in before
    assert len(before_cleaned_up) == len(after) + 2
    assert sums in before_cleaned_up


def test_who_opened_the_table_needs_no_file_to_write_the_next_checksum(
    catalog: Catalog,
    watched: Watched,  # noqa: F811
    table: StagingTable,
) -> None:
    summed_up(watched, *"abc")
    opened = watched.lake.table("sales.orders").log
    watched.since()

    append(opened, "d")
    opened._keeper.keep(Version(4), interval=100, urgent=True, due=False)

    assert f"read {file_names.checksum_path(Version(3))}" not in watched.wire.calls
    assert served(catalog) == ChecksumContent(Version(4), written(table, 4))
    parsed = version_checksum.parse(written(table, 4))
    assert parsed is not None
    assert (parsed.num_files, parsed.table_size_bytes) == (4, 4)


LIES: dict[str, Callable[[Checksum], Checksum]] = {
    "another moment": lambda c: structs.replace(c, in_commit_timestamp_opt=EpochMillis(1)),
    "no moment": lambda c: structs.replace(c, in_commit_timestamp_opt=None),
    "another transaction": lambda c: structs.replace(c, txn_id=TxnId("mine")),
    "other columns": lambda c: structs.replace(
        c, metadata=structs.replace(c.metadata, schema_string='{"type":"struct","fields":[]}')
    ),
    "another protocol": lambda c: structs.replace(
        c, protocol=structs.replace(c.protocol, min_writer_version=2, writer_features=None)
    ),
    "another domain": lambda c: structs.replace(c, domain_metadata=(domain("a", "9"),)),
    "no domains": lambda c: structs.replace(c, domain_metadata=()),
    "another application": lambda c: structs.replace(
        c, set_transactions=(AppTransaction(app_id="s", version=99),)
    ),
    "two protocols": lambda c: structs.replace(c, num_protocol=2),
    "fewer files than none": lambda c: structs.replace(c, num_files=-1),
    "fewer bytes than none": lambda c: structs.replace(c, table_size_bytes=-1),
}


@pytest.fixture
def truth(catalog: Catalog, table: StagingTable, watched: Watched) -> ChecksumContent:  # noqa: F811
    """The checksum of version 2, which nobody has told the catalog of yet."""
    propose(catalog, table, 1, domain("a", "1"), AppTransaction(app_id="s", version=1))
    opened = watched.lake.table("sales.orders").log
    append(opened, "x")
    opened.checkpoint()
    content = written(table, 2)
    without_content(catalog)
    return ChecksumContent(Version(2), content)


@pytest.mark.parametrize("lie", LIES)
def test_a_checksum_that_differs_from_the_books_is_not_served(
    catalog: Catalog, table: StagingTable, truth: ChecksumContent, lie: str
) -> None:
    parsed = version_checksum.parse(truth.content)
    assert parsed is not None
    false = ChecksumContent(truth.version, version_checksum.render(LIES[lie](parsed)))

    catalog.note_log(table.table_id, LogHints((), truth.version, false))
    assert served(catalog) is None
    catalog.note_log(table.table_id, LogHints((), truth.version, truth))
    catalog.note_log(table.table_id, LogHints((), truth.version, false))

    assert served(catalog) == truth


def test_what_is_damaged_too_large_or_of_no_version_is_not_served(
    catalog: Catalog, table: StagingTable, truth: ChecksumContent
) -> None:
    large = truth.content[:-1] + b',"x":"' + b" " * checksum_content.MAX_BYTES + b'"}'
    assert version_checksum.parse(large) is not None
    for version, content in (
        (2, b""),
        (2, truth.content[:-1]),
        (2, b"\xff\xfe"),
        (2, b"[" * 100_000),
        (2, large),
        (1, truth.content),
        (0, truth.content),
        (3, truth.content),
        (10**15, truth.content),
    ):
        known = LogHints((), Version(version), ChecksumContent(Version(version), content))
        catalog.note_log(table.table_id, known)
        assert served(catalog) is None, (version, content[:20])

    catalog.note_log(table.table_id, LogHints((), truth.version, truth))
    assert served(catalog) == truth


def test_who_may_only_read_tells_the_catalog_nothing(
    catalog: Catalog, table: StagingTable, truth: ChecksumContent
) -> None:
    told = LogHints((), truth.version, truth)
    catalog.granting.grant("READ", on="sales.orders", to="ada")
    catalog.acting_as("ada").note_log(table.table_id, told)
    assert served(catalog) is None

    catalog.granting.grant("APPEND", on="sales.orders", to="ada")
    catalog.acting_as("ada").note_log(table.table_id, told)

    assert served(catalog) == truth


def test_a_copy_that_is_damaged_in_the_database_is_not_believed(
    catalog: Catalog,
    table: StagingTable,
    watched: Watched,  # noqa: F811
) -> None:
    opened = summed_up(watched, *"abc")
    stamp = opened.snapshot().state.in_commit_timestamp
    parsed = version_checksum.parse(written(table, 3))
    assert parsed is not None
    false = structs.replace(LIES["other columns"](parsed), in_commit_timestamp_opt=EpochMillis(1))
    for content in (b"damaged", version_checksum.render(false)):
        with catalog._database.writing() as db:
            db.execute(update(log_hints).values(checksum=content))

        found = watched.lake.table("sales.orders").log.snapshot()

        assert found.state.in_commit_timestamp == stamp
        assert found.state.metadata == opened.snapshot().state.metadata


def test_the_newer_content_stays(catalog: Catalog, table: StagingTable, truth: ChecksumContent) -> None:
    catalog.note_log(table.table_id, LogHints((), truth.version, truth))
    propose(catalog, table, 3)
    parsed = version_checksum.parse(truth.content)
    assert parsed is not None
    record = catalog.commits(table.table_id)[0]
    newer = structs.replace(parsed, txn_id=record.txn_id, in_commit_timestamp_opt=record.in_commit_timestamp)
    newest = ChecksumContent(Version(3), version_checksum.render(newer))

    catalog.note_log(table.table_id, LogHints((), Version(3), newest))
    catalog.note_log(table.table_id, LogHints((), truth.version, truth))

    assert served(catalog) == newest
