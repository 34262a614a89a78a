"""An ordinary table whose log breaks a rule: the check says which, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

import headgate
from headgate.protocol import integrity_findings
from headgate.protocol.actions import (
    Action,
    AddFile,
    AppTransaction,
    CommitInfo,
    DomainMetadata,
    EpochMillis,
    Metadata,
    Protocol,
    TxnId,
    Version,
)
from headgate.protocol.integrity_findings import DEFECTS, Severity
from headgate.protocol.log import codec, deletion_vectors, file_names
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.table.integrity.check import IntegrityReport
from headgate.table.opened_table import OpenedTable
from tests.contract import test_integrity as on_catalogs
from tests.support import corpora
from tests.support.checkpointed import protocol
from tests.support.commits import MANAGED, PROTOCOL, add, metadata, remove
from tests.support.faulty_store import DictStore
from tests.support.owned import OWNED
from tests.support.tables import open_filesystem

STAMPED = metadata(delta_enableInCommitTimestamps="true")
STAMPS = protocol("inCommitTimestamp")
TRACKED = metadata(delta_enableRowTracking="true")
TRACKING = protocol("rowTracking", "domainMetadata")
PAGE = Path(__file__).parents[4] / "docs" / "reference" / "invariants.md"

Commits = Sequence[Sequence[Action]]


def _info(txn_id: str = "", at: int | None = None) -> CommitInfo:
    return CommitInfo(
        operation="TEST",
        txn_id=TxnId(txn_id) if txn_id else None,
        in_commit_timestamp=None if at is None else EpochMillis(at),
    )


def _tracked(path: str, base: int | None) -> AddFile:
    return msgspec.structs.replace(add(path, '{"numRecords":10}'), base_row_id=base)


def _mark(value: int) -> DomainMetadata:
    configuration = f'{{"rowIdHighWaterMark":{value}}}'
    return DomainMetadata(domain="delta.rowTracking", configuration=configuration, removed=False)


def _enabled(version: int, at: int) -> Metadata:
    return metadata(
        delta_enableInCommitTimestamps="true",
        delta_inCommitTimestampEnablementVersion=str(version),
        delta_inCommitTimestampEnablementTimestamp=str(at),
    )


def _vector(rows: Sequence[int]) -> tuple[str, bytes, AddFile]:
    """A file of one vector: its path, its content, and an add that needs it."""
    content, (descriptor,) = deletion_vectors.encode_file([DeletedRows.from_rows(rows)], UUID(int=1))
    place = deletion_vectors.vector_location(descriptor)
    assert isinstance(place, deletion_vectors.StoredVector)
    return place.path, content, msgspec.structs.replace(add("a"), deletion_vector=descriptor)


@dataclass(frozen=True, slots=True)
class Broken:
    """Versions, one after another, and the rule that the last of them breaks."""

    rule: str
    commits: Commits
    name: str = ""


START: Sequence[Action] = (_info(), PROTOCOL, metadata())

BROKEN: tuple[Broken, ...] = (
    Broken("no-protocol", [(_info(), metadata())]),
    Broken("said-twice", [START, (_info(), metadata(), metadata())], "metadata"),
    Broken("said-twice", [START, (_info(), add("a"), add("a"))], "file"),
    Broken("added-and-removed", [START, (_info(), add("a")), (_info(), remove("a"), add("a"))]),
    Broken("added-twice", [START, (_info(), add("a")), (_info(), add("a"))]),
    Broken("live-twice", [START, (_info(), add("a")), (_info(), _vector([1])[2])]),
    Broken("removed-absent", [START, (_info(), remove("a"))]),
    Broken("txn-twice", [START, (_info("one"),), (_info("one"),)]),
    Broken("application-order", [START, *(((_info(), AppTransaction(app_id="x", version=1)),) * 2)]),
    Broken("timestamp-missing", [(_info(at=1), STAMPS, STAMPED), (add("a"), _info(at=2))], "not-first"),
    Broken("timestamp-missing", [(_info(at=1), STAMPS, STAMPED), (_info(),)], "none"),
    Broken("timestamp-order", [(_info(at=5), STAMPS, STAMPED), (_info(at=5),)]),
    Broken("timestamp-ahead", [(_info(at=5), STAMPS, STAMPED), (_info(at=10**10),)]),
    Broken("timestamp-enablement", [START, (_info(at=5), STAMPS, _enabled(1, 6))], "other-moment"),
    Broken("timestamp-enablement", [START, (_info(at=5), STAMPS, _enabled(0, 5))], "other-version"),
    Broken("row-ids", [(_info(), TRACKING, TRACKED), (_info(), _tracked("a", None))], "none"),
    Broken("row-ids", [(_info(), TRACKING, TRACKED, _mark(30)),
                       (_info(), _tracked("a", 0), _tracked("b", 9))], "overlap"),
    Broken("row-ids", [(_info(), TRACKING, TRACKED, _mark(3)), (_info(), _tracked("a", 0))], "mark"),
    Broken("managed-elsewhere", [(_info(at=1), MANAGED, STAMPED)]),
    Broken("owned-elsewhere", [START, (_info(at=1), OWNED.protocol, OWNED.metadata)]),
)  # fmt: skip


def _table(commits: Commits) -> OpenedTable:
    store = DictStore()
    for version, actions in enumerate(commits):
        store.put(file_names.published_path(Version(version)), codec.encode(actions))
        for action in actions:
            if isinstance(action, AddFile):
                store.put(action.path, b"1")
                if action.deletion_vector is not None:
                    path, content, _ = _vector([1])
                    store.put(path, content)
    return open_filesystem("", store=store)


def _check(table: OpenedTable) -> IntegrityReport:
    return table.check("test")


@pytest.mark.parametrize(
    "broken", [pytest.param(row, id="-".join(filter(None, (row.rule, row.name)))) for row in BROKEN]
)
def test_a_broken_log_is_found_and_its_good_beginning_is_not(broken: Broken) -> None:
    found = _check(_table(broken.commits)).findings

    assert [finding.rule for finding in found] == [broken.rule], found
    if len(broken.commits) > 1:
        assert _check(_table(broken.commits[:-1])).findings == ()


def test_moments_in_findings_are_for_people() -> None:
    told = [
        finding.explanation
        for broken in BROKEN if broken.rule in ("timestamp-order", "timestamp-enablement")
        for finding in _check(_table(broken.commits)).findings
    ]  # fmt: skip

    at = "1970-01-01T00:00:00.005Z"
    assert told == [
        f"it is stamped {at}, version 0 is stamped {at}",
        f"timestamps begin here, at {at}; the properties say version 1, 1970-01-01T00:00:00.006Z",
        f"timestamps begin here, at {at}; the properties say version 0, {at}",
    ]


GAPS = ("log-gap", "history-gap", "commit-damaged")
VECTORS = ("vector-missing", "vector-damaged")
OWNERS = ("owner-silent", "owner-without-feature", "feature-without-owner")
"""Found in ``test_owner_states.py``."""


def _long(checkpoint: bool) -> OpenedTable:
    table = _table([START, *(((_info(), add(f"file-{number}")),) for number in range(5))][:1])
    for number in range(5):
        table.store.put(f"file-{number}", b"1")
        table.store.put(
            file_names.published_path(Version(number + 1)), codec.encode((_info(), add(f"file-{number}")))
        )
    if checkpoint:
        table.checkpoint(version=4)
    return table


def test_a_missing_version_is_an_error_and_with_a_checkpoint_after_it_a_warning() -> None:
    for checkpoint, rule in ((False, "log-gap"), (True, "history-gap")):
        table = _long(checkpoint)
        assert _check(table).findings == ()
        table.store.delete(file_names.published_path(Version(2)))

        report = _check(table)

        assert [(finding.rule, finding.version) for finding in report.findings] == [(rule, 2)]
        assert not report.is_clean


def test_a_log_that_was_cleaned_up_is_whole() -> None:
    table = _long(checkpoint=True)
    for version in range(4):
        table.store.delete(file_names.published_path(Version(version)))

    report = _check(table)

    assert report.findings == ()
    assert (report.data_files, report.checkpoints) == (5, 1)


@pytest.mark.parametrize("content", [b"{", b'{"add":{"path":1}}', b"\xff\xfe"])
def test_a_commit_that_cannot_be_parsed_is_named(content: bytes) -> None:
    table = _long(checkpoint=False)
    table.store.put(file_names.published_path(Version(5)), content)

    assert [(finding.rule, finding.version) for finding in _check(table).findings] == [("commit-damaged", 5)]


def test_files_of_vectors_may_be_removed_like_files_of_rows() -> None:
    """As Delta Spark does when it takes the feature from a table."""
    path, _, with_vector = _vector([1])
    unmarked = msgspec.structs.replace(remove("a"), deletion_vector=with_vector.deletion_vector)
    commits = [START, (_info(), with_vector), (_info(), unmarked, add("b")), (_info(), remove(path))]

    assert _check(_table(commits)).findings == ()


def test_deletion_vectors_are_read_and_compared() -> None:
    path, content, with_vector = _vector([1, 2])
    table = _table([START])
    table.store.put("a", b"1")
    table.store.put(file_names.published_path(Version(1)), codec.encode((_info(), with_vector)))
    table.store.put(path, content)
    assert (_check(table).findings, _check(table).deletion_vectors) == ((), 1)

    for damaged in (content[:-1], content[:-5] + b"x" + content[-4:], b"\x02" + content[1:]):
        table.store.put(path, damaged)
        assert [finding.rule for finding in _check(table).findings] == ["vector-damaged"]

    table.store.delete(path)
    assert [finding.rule for finding in _check(table).findings] == ["vector-missing"]


def test_many_findings_of_a_kind_are_counted_not_listed() -> None:
    table = _table([START, (_info(), *(add(f"file-{number}") for number in range(250)))])
    for number in range(250):
        table.store.delete(f"file-{number}")

    found = _check(table).findings

    assert len(found) == 101
    assert "150 more" in found[-1].explanation


def test_without_data_files_nothing_but_the_log_is_read() -> None:
    table = _table([START, (_info(), add("gone"))])
    table.store.delete("gone")

    report = table.check("test", data=False)

    assert (report.findings, report.data_files) == ((), None)


def test_every_rule_has_a_table_that_breaks_it() -> None:
    by_hand = {*GAPS, *VECTORS, *OWNERS}
    shown = {row.rule for row in BROKEN} | {row.rule for row in on_catalogs.DAMAGES} | by_hand

    assert {rule.name for rule in DEFECTS} == shown


def test_every_rule_cites_an_invariant_of_the_page() -> None:
    page = PAGE.read_text()

    assert {rule.invariant for rule in DEFECTS if f"| {rule.invariant} |" not in page} == set()
    assert all(integrity_findings.BY_NAME[rule.name] is rule for rule in DEFECTS)
    assert {rule.severity for rule in DEFECTS} == set(Severity)


MADE_WRONG: dict[str, set[str]] = {
    "delta_golden/checkpoint": {"data-missing"},
    "delta_golden/log-replay-special-characters-b": {"data-missing"},
    "delta_kernel_res/spark-variant-stable-feature-checkpoint": {"data-missing"},
    "delta_spark_res/table-with-dv-gigantic": {"data-missing", "vector-missing"},
    "delta_spark_res/table-with-dv-small": {"vector-missing"},
    "deltars_data/checkpoint_with_partitions": {"data-missing"},
    "deltars_data/with_checkpoint_no_last_checkpoint": {"data-missing"},
    "deltars_err/table_a": {"data-missing"},
    "kernelrs_data/app-txn-with-last-updated": {"data-missing"},
    "kernelrs_data/crc-full": {"checksum-differs"},
    "kernelrs_data/parquet_row_group_skipping": {"checkpoint-differs"},
    "kernelrs_data/table-with-cdf": {"txn-twice"},
}
"""Tables whose authors left out data files, or wrote a log by hand that contradicts itself."""

UNKNOWN_TO_US = {
    "dat/out/reader_tests/generated/iceberg_compat_v1",
    "delta_kernel_res/catalog-owned-preview",
    "deltars_err/table_d",
    "kernelrs_data/table-with-geo",
}
"""Refused by readers for a feature, but there is nothing wrong with them that a check could find."""


@corpora.needs_corpora
def test_tables_of_others_are_whole_unless_their_authors_broke_them() -> None:
    broken = {path.removesuffix("/delta") for path in corpora.REFUSED} - UNKNOWN_TO_US
    wrong: dict[str, Any] = {}
    for table in corpora.tables():
        errors = {finding.rule for finding in headgate.check_path(table.location).errors}
        if table.name in broken:
            if not errors:
                wrong[table.name] = "nothing was found"
        elif errors != MADE_WRONG.get(table.name, set()):
            wrong[table.name] = errors

    assert wrong == {}


def test_the_protocol_of_a_foreign_checkpoint_may_order_its_features_otherwise() -> None:
    table = _table([(_info(), Protocol(min_reader_version=3, min_writer_version=7, reader_features=(),
                     writer_features=("appendOnly", "invariants")), metadata())])  # fmt: skip
    table.checkpoint()
    turned = _table([(_info(), Protocol(min_reader_version=3, min_writer_version=7, reader_features=(),
                      writer_features=("invariants", "appendOnly")), metadata())])  # fmt: skip
    for meta in list(table.store.list_from(file_names.LOG_FOLDER)):
        if meta.path != file_names.published_path(Version(0)) and not meta.path.endswith(".crc"):
            turned.store.put(meta.path, table.store.read(meta.path))

    assert _check(turned).findings == ()
