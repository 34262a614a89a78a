"""The logs of tables written by others: the files, transactions and domains that other readers find."""

from pathlib import Path

import pytest

import headgate
from headgate.errors import CorruptLog, HeadgateError, InvalidRequest, UnsupportedFeature
from headgate.table.opened_table import OpenedTable
from tests.support import corpora
from tests.support.corpora import Corpus, Files

pytest_plugins = ["tests.support.pass_rates"]
pytestmark = [pytest.mark.interop, corpora.needs_corpora]

READABLE = [table for table in corpora.tables() if table.path not in corpora.REFUSED and not table.replay.err]
TO_REFUSE = [table for table in corpora.tables() if table.path in corpora.REFUSED]


@pytest.mark.parametrize("table", corpora.parameters("replay", READABLE))
def test_the_log_is_replayed_as_others_do(table: Corpus) -> None:
    log, known = headgate.at_path(table.location).log, table.replay

    newest = log.snapshot()
    versions = {
        version: _files(log, int(version)) for version, found in table.versions.items() if found is not None
    }

    assert newest.version == known.version
    assert _files(log) == Files(known.files, known.digest)
    assert {name: txn.version for name, txn in newest.state.txns.items()} == known.txn
    assert sorted(newest.state.domains) == sorted(known.domains)
    assert versions == {version: found for version, found in table.versions.items() if found is not None}


@pytest.mark.parametrize(
    "table", corpora.parameters("replay", [table for table in READABLE if None in table.versions.values()])
)
def test_a_version_whose_log_is_gone_is_refused(table: Corpus) -> None:
    log = headgate.at_path(table.location).log

    for version in (version for version, found in table.versions.items() if found is None):
        with pytest.raises(HeadgateError):
            log.snapshot(version=int(version))


@pytest.mark.parametrize("table", corpora.parameters("refusal", TO_REFUSE))
def test_a_table_that_must_not_be_read_is_refused_with_a_code(table: Corpus) -> None:
    with pytest.raises((CorruptLog, UnsupportedFeature, InvalidRequest)) as raised:
        headgate.at_path(table.location).log.snapshot()

    assert raised.value.code.startswith("DELTA_")


def test_every_decision_is_explained() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "conformance.md").read_text()
    disputed = [table.path for table in corpora.tables() if table.state == "disputed"]

    assert not [path for path in (*corpora.REFUSED, *corpora.DECIDED, *disputed) if f"`{path}`" not in page]


def test_only_known_tables_are_excused() -> None:
    excused = {path for features in corpora.NOT_YET.values() for paths in features.values() for path in paths}
    known = {table.path for table in corpora.tables()}

    assert {*excused, *corpora.REFUSED, *corpora.DECIDED} <= known


def _files(log: OpenedTable, version: int | None = None) -> Files:
    columns = log.snapshot(version=version).files.columns
    return Files(columns.num_rows, corpora.file_digest(columns))
