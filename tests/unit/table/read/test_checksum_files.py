"""Checksum files: what is in them, when they are written, and how far they are believed."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headgate.clock import SystemWorld
from headgate.errors import CorruptLog
from headgate.protocol.actions import (
    AppTransaction,
    CommitInfo,
    DomainMetadata,
    RemoveFile,
    Version,
    commit_from_actions,
)
from headgate.protocol.log import codec, file_names, replay, version_checksum
from headgate.protocol.log.version_checksum import FileTotals
from headgate.settings import Publish, Settings
from headgate.storage.store import Store
from headgate.table.read import checksum_files
from tests.support.checkpointed import protocol, published, table
from tests.support.commits import PROTOCOL, add, commit, metadata
from tests.support.faulty_store import FaultyStore, RecordingWire
from tests.support.tables import append_change, named_file, open_filesystem, open_managed
from tests.support.versions import managed

STAMPED = {"delta_enableInCommitTimestamps": "true"}


def crc(store: Store, version: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(store.read(file_names.checksum_path(Version(version))))
    return found


def domains(count: int) -> list[DomainMetadata]:
    return [DomainMetadata(domain=f"d{n}", configuration="{}", removed=False) for n in range(count)]


def test_it_says_what_the_version_adds_up_to() -> None:
    gone = RemoveFile(path="a", data_change=True, size=1)
    opened = table([add("a"), add("b"), AppTransaction(app_id="app", version=3)], [gone, *domains(2)])

    opened.checkpoint()

    found = crc(opened.store, 2)
    assert found["metadata"]["id"] == opened.snapshot().state.metadata.id
    assert found["protocol"]["minWriterVersion"] == 7
    counts = ("tableSizeBytes", "numFiles", "numMetadata", "numProtocol")
    assert [found[name] for name in counts] == [1, 1, 1, 1]
    assert found["setTransactions"] == [{"appId": "app", "version": 3}]
    assert [domain["domain"] for domain in found["domainMetadata"]] == ["d0", "d1"]
    assert "inCommitTimestampOpt" not in found


def test_long_lists_are_left_out_and_that_means_unknown() -> None:
    """P37"""
    state = replay.initial_state(commit(0, PROTOCOL, metadata(), *domains(version_checksum.MAX_DOMAINS + 1)))

    written = version_checksum.render(version_checksum.build_checksum(state, FileTotals(0, 0)))

    assert b"domainMetadata" not in written
    parsed = version_checksum.parse(written)
    assert parsed is not None
    assert version_checksum.state_from_checksum(Version(0), parsed) is None
    assert not version_checksum.compare_checksums(
        parsed,
        version_checksum.build_checksum(
            replay.initial_state(commit(0, PROTOCOL, metadata())), FileTotals(0, 0)
        ),
    )[1:]


def test_a_checksum_has_the_whole_state_but_its_files() -> None:
    """P37: lists of the greatest length are there still."""
    apps = [AppTransaction(app_id=f"a{n}", version=n) for n in range(version_checksum.MAX_TXNS)]
    known = replay.initial_state(
        commit(3, PROTOCOL, metadata(**STAMPED), *apps, *domains(version_checksum.MAX_DOMAINS), timestamp=99)
    )

    parsed = version_checksum.parse(
        version_checksum.render(version_checksum.build_checksum(known, FileTotals(4, 50)))
    )

    assert parsed is not None
    told = version_checksum.state_from_checksum(Version(3), parsed)
    assert told is not None
    assert (told.version, told.protocol, told.metadata) == (3, known.protocol, known.metadata)
    assert (told.txns, told.domains) == (known.txns, known.domains)
    assert told.info is not None
    assert (told.info.txn_id, told.in_commit_timestamp) == ("txn-3", 99)
    assert version_checksum.totals_from_checksum(parsed) == FileTotals(4, 50)
    longer = msgspec.structs.replace(parsed, set_transactions=None)
    assert version_checksum.state_from_checksum(Version(3), longer) is None


def test_a_checksum_without_the_timestamp_that_it_should_have_tells_nothing() -> None:
    bare = version_checksum.build_checksum(
        replay.initial_state(commit(3, PROTOCOL, metadata(), timestamp=99)), FileTotals(0, 0)
    )
    gone = DomainMetadata(domain="gone", configuration="{}", removed=True)

    assert bare.in_commit_timestamp_opt is None
    told = version_checksum.state_from_checksum(
        Version(3), msgspec.structs.replace(bare, domain_metadata=(gone, *domains(1)))
    )
    assert told is not None
    assert set(told.domains) == {"d0"}
    assert (
        version_checksum.state_from_checksum(
            Version(3), msgspec.structs.replace(bare, metadata=metadata(**STAMPED))
        )
        is None
    )


def test_a_version_without_a_commit_info_has_no_transaction_to_name() -> None:
    silent = replay.initial_state(commit_from_actions(Version(0), (PROTOCOL, metadata())))

    assert version_checksum.build_checksum(silent, FileTotals(0, 0)).txn_id is None


def test_state_and_totals_go_on_together_or_not_at_all() -> None:
    known = replay.initial_state(commit(0, PROTOCOL, metadata()))
    described = msgspec.structs.replace(add("a"), data_change=False)

    found = version_checksum.advance_totals(
        known, FileTotals(0, 0), [commit(1, add("a")), commit(2, add("b"))]
    )

    assert found is not None
    assert (found[0].version, found[1]) == (2, FileTotals(2, 2))
    assert (
        version_checksum.advance_totals(known, FileTotals(0, 0), [commit(1, add("a")), commit(2, described)])
        is None
    )


def test_only_what_both_sides_say_can_differ() -> None:
    """In any order of the lists, and by the names that the file has."""
    apps = [AppTransaction(app_id=f"a{n}", version=n) for n in range(3)]
    found = version_checksum.build_checksum(
        replay.initial_state(commit(0, PROTOCOL, metadata(), *apps, *domains(3))), FileTotals(1, 2)
    )
    turned = msgspec.structs.replace(
        found, set_transactions=tuple(reversed(apps)), domain_metadata=tuple(reversed(domains(3)))
    )
    silent = msgspec.structs.replace(found, set_transactions=None, domain_metadata=None, txn_id=None)
    other = msgspec.structs.replace(found, domain_metadata=tuple(domains(2)), table_size_bytes=3)

    assert version_checksum.compare_checksums(turned, found) == ()
    assert (
        version_checksum.compare_checksums(silent, found)
        == version_checksum.compare_checksums(found, silent)
        == ()
    )
    assert [said.field for said in version_checksum.compare_checksums(other, found)] == [
        "tableSizeBytes",
        "domainMetadata",
    ]


def test_what_writers_write_in_several_ways_is_no_difference() -> None:
    """Features in another order, a domain that was removed, another spacing of the schema."""
    features = protocol("a", "b", reader=("c", "d"))
    found = version_checksum.build_checksum(
        replay.initial_state(commit(0, features, metadata(), *domains(1))), FileTotals(1, 2)
    )
    gone = DomainMetadata(domain="gone", configuration="{}", removed=True)
    spaced = json.dumps(json.loads(found.metadata.schema_string), indent=2)
    theirs = msgspec.structs.replace(
        found,
        protocol=protocol("b", "a", reader=("d", "c")),
        domain_metadata=(gone, *domains(1)),
        metadata=msgspec.structs.replace(found.metadata, schema_string=spaced),
    )
    others = msgspec.structs.replace(found, protocol=protocol("a", "b", reader=("c",)))

    assert version_checksum.compare_checksums(theirs, found) == ()
    assert [said.field for said in version_checksum.compare_checksums(others, found)] == ["protocol"]


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        ([add("a"), add("b")], FileTotals(7, 52)),
        ([add("b"), RemoveFile(path="a", data_change=True, size=20)], FileTotals(5, 31)),
        (
            [
                msgspec.structs.replace(add("a"), data_change=False),
                RemoveFile(path="b", data_change=False, size=20),
            ],
            FileTotals(5, 31),
        ),
        ([RemoveFile(path="a", data_change=True, size=20)], FileTotals(4, 30)),
        ([RemoveFile(path="a", data_change=True)], None),
        ([msgspec.structs.replace(add("a"), data_change=False)], None),
    ],
    ids=[
        "adds",
        "both",
        "files rearranged",
        "a remove with its size",
        "a remove without",
        "files described anew",
    ],
)
def test_totals_go_on_from_those_before_where_that_is_certain(
    actions: list[Any], expected: FileTotals | None
) -> None:
    assert version_checksum.totals_after(FileTotals(5, 50), commit(1, *actions)) == expected


def test_fields_of_other_writers_are_no_obstacle() -> None:
    content = version_checksum.render(
        version_checksum.build_checksum(
            replay.initial_state(commit(0, PROTOCOL, metadata())), FileTotals(1, 2)
        )
    )
    more = {**json.loads(content), "allFiles": [], "histogramOpt": {"fileCounts": [1]}, "unknown": None}

    assert version_checksum.parse(json.dumps(more).encode()) == version_checksum.parse(content)
    endless = b'{"unknown":' + b"[" * 9_999 + b"]" * 9_999 + b"}"
    for broken in (b"{}", b"", b'{"txnId":"\xff"}', b"\xff", endless):
        assert version_checksum.parse(broken) is None


def test_an_unpublished_version_has_one_and_the_first_one_stays(tmp_path: Path) -> None:
    """S178"""
    found = managed(tmp_path, 2)
    opened = found.opened()
    state = opened.snapshot().state
    store = opened.store
    assert found.catalog.tail(found.table_id).published < 2

    checksum_files.write_checksum(store, state, FileTotals(2, 2))
    checksum_files.write_checksum(store, state, FileTotals(99, 99))

    assert (crc(store, 2)["numFiles"], crc(store, 2)["inCommitTimestampOpt"]) == (
        2,
        state.in_commit_timestamp,
    )
    assert state.info is not None
    assert crc(store, 2)["txnId"] == state.info.txn_id
    assert opened.verify() == ()


@pytest.mark.parametrize("route", ["managed", "ordinary"])
def test_each_pause_after_a_commit_leaves_one(tmp_path: Path, route: str) -> None:
    settings = Settings(publish=Publish.NOW)
    if route == "managed":
        found = managed(tmp_path, 0)
        opened = open_managed(found.catalog, found.table_id, found.location, settings=settings)
    else:
        opened = open_filesystem("", store=table().store, settings=settings)

    for number in range(1, 13):
        opened.commit(append_change(named_file(f"{number}")), base=opened.newest_known())

    assert [crc(opened.store, version)["numFiles"] for version in range(1, 13)] == list(range(1, 13))
    assert [opened.verify(version=version) for version in range(1, 13)] == [()] * 12
    assert opened.store.head(file_names.classic_checkpoint_path(Version(10))).size > 0


def test_a_wrong_one_is_reported_field_by_field() -> None:
    """S186"""
    opened = table([add("a")], [add("b")])
    opened.checkpoint()
    wrong = {**crc(opened.store, 2), "numFiles": 3, "setTransactions": [{"appId": "x", "version": 1}]}
    opened.store.put(file_names.checksum_path(Version(2)), json.dumps(wrong).encode())

    reported = opened.verify()

    assert reported is not None
    assert (reported[0].field, reported[0].recorded, reported[0].found) == ("numFiles", 3, 2)
    assert [found.field for found in reported] == ["numFiles", "setTransactions"]
    assert str(reported[0]) == "numFiles is 2 where the checksum says 3"
    assert opened.verify(version=1) is None
    assert sorted(opened.snapshot().files.columns["path"].to_pylist()) == ["a", "b"]


@pytest.mark.parametrize("info", [None, CommitInfo(operation="TEST")], ids=["no commitInfo", "no timestamp"])
@pytest.mark.parametrize("known", [False, True], ids=["no checksum", "checksum"])
def test_the_timestamp_of_a_version_may_come_from_its_checksum(info: CommitInfo | None, known: bool) -> None:
    """S167"""
    opened = table(**STAMPED)
    opened.store.first_ms = SystemWorld().now_ms()
    actions = [add("a")] if info is None else [info, add("a")]
    opened.store.put(file_names.published_path(Version(1)), codec.encode(actions))
    if known:
        state = replay.initial_state(commit(1, PROTOCOL, metadata(**STAMPED), timestamp=1_234))
        checksum_files.write_checksum(opened.store, state, FileTotals(1, 1))
    fresh = open_filesystem("", store=opened.store)
    change = append_change(named_file("b"))

    if known:
        assert fresh.snapshot().state.in_commit_timestamp == 1_234
        assert fresh.commit(change, base=fresh.snapshot()) == 2
        return
    with pytest.raises(CorruptLog) as raised:
        fresh.commit(change, base=fresh.snapshot())
    expected = "DELTA_MISSING_COMMIT_INFO" if info is None else "DELTA_MISSING_COMMIT_TIMESTAMP"
    assert raised.value.code == expected


def test_the_schema_is_known_from_it_without_reading_a_commit() -> None:
    opened = table([add("a")], [add("b")])
    opened.checkpoint()
    published(opened.store, [add("c")])
    checksum_files.write_checksum(
        opened.store, open_filesystem("", store=opened.store).snapshot().state, FileTotals(3, 3)
    )
    wire = RecordingWire()
    watched = open_filesystem("", store=FaultyStore(opened.store, wire))

    description = watched.describe()

    assert (description.version, description.metadata) == (3, opened.snapshot(version=3).state.metadata)
    assert [call for call in wire.calls if call.startswith("read")] == [
        f"read {file_names.LAST_CHECKPOINT}", f"read {file_names.checksum_path(Version(3))}",
    ]  # fmt: skip
    assert description.files.columns.num_rows == 3


def test_one_beyond_the_latest_version_of_the_catalog_is_not_looked_at(tmp_path: Path) -> None:
    """R3"""
    found = managed(tmp_path, 2, published=2)
    store = found.opened().store
    state = found.opened().snapshot().state
    ahead = msgspec.structs.replace(state.metadata, name="from the future")
    stray = replay.initial_state(commit(5, state.protocol, ahead, timestamp=1))
    checksum_files.write_checksum(store, stray, FileTotals(9, 9))

    opened = found.opened()

    assert opened.describe().metadata.name is None
    assert (opened.snapshot().version, opened.verify()) == (2, None)
