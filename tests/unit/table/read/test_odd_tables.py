"""Tables as other writers leave them are read as they are meant, or refused by name."""

from pathlib import Path

import pytest

import headgate
from headgate.errors import CorruptLog
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.table.read import log_reader as log_reading
from tests.support import odd_tables
from tests.support.odd_tables import ODD_TABLES, OddTable

by_name = pytest.mark.parametrize("table", ODD_TABLES, ids=lambda table: table.name)


@by_name
def test_its_rows_are_what_its_commits_say(tmp_path: Path, table: OddTable) -> None:
    table.make(tmp_path)

    assert odd_tables.in_process(tmp_path) == table.ids


@by_name
def test_a_checkpoint_of_it_has_the_same_rows(tmp_path: Path, table: OddTable) -> None:
    table.make(tmp_path)
    headgate.at_path(str(tmp_path)).log.checkpoint()
    for commit in (tmp_path / "_delta_log").glob("*.json"):
        commit.unlink()

    assert odd_tables.in_process(tmp_path) == table.ids


def test_the_small_state_is_that_of_the_commits_too(tmp_path: Path) -> None:
    for what in ("a compaction has two versions of an application", "a compaction has a domain twice"):
        next(table for table in ODD_TABLES if table.name == what).make(tmp_path)

        state = headgate.at_path(str(tmp_path)).log.snapshot().state

        assert state.txns["etl"].version == 2
        assert state.domains["d"].configuration == "b"


def test_a_compaction_from_the_first_version_on_may_be_useless_too(tmp_path: Path) -> None:
    odd_tables.compacted()(tmp_path)
    add = odd_tables.data(tmp_path, "many.parquet", range(30))
    lines = (odd_tables.PROTOCOL, odd_tables.metadata(), odd_tables.gone("many.parquet"), add)
    odd_tables.compact(tmp_path, 0, 2, *lines)

    assert odd_tables.in_process(tmp_path) == tuple(range(5))


def test_a_useless_compaction_whose_commits_are_gone_is_named(tmp_path: Path) -> None:
    odd_tables.compacted("remove-add")(tmp_path)
    log = headgate.at_path(str(tmp_path)).log
    segment, frontier = log.segment(Version(2))
    (tmp_path / file_names.published_path(Version(1))).unlink()

    with pytest.raises(CorruptLog, match=r"compacted\.json .* says more than one thing of a file"):
        list(log_reading.fold_commits(log.store, segment.commits, frontier))


def test_an_integrity_check_tells_of_a_useless_compaction(tmp_path: Path) -> None:
    odd_tables.compacted("twice")(tmp_path)

    report = headgate.at_path(str(tmp_path)).log.check("t", data=False)

    assert "compaction-damaged" in {finding.rule for finding in report.findings}
