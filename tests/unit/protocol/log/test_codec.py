"""Bytes ↔ actions."""

import msgspec
import pytest

from headgate.errors import CorruptLog
from headgate.protocol.actions import (
    AddCdcFile,
    AddFile,
    AppTransaction,
    CommitInfo,
    DomainMetadata,
    EpochMillis,
    Format,
    Sidecar,
    TxnId,
    Version,
    commit_from_actions,
)
from headgate.protocol.log import codec
from tests.support.commits import MANAGED, add, metadata, remove

INFO = CommitInfo(in_commit_timestamp=EpochMillis(5), txn_id=TxnId("t"), operation="WRITE")
DOMAIN = DomainMetadata(domain="acme", configuration='{"a":1}', removed=False)
LATER = CommitInfo(operation="DELETE")
TXN = AppTransaction(app_id="stream", version=4)
CDC = AddCdcFile(path="_change_data/c", partition_values={}, size=1, data_change=False)
SMALL = (INFO, MANAGED, metadata(), TXN, DOMAIN)


def test_what_is_encoded_is_decoded_in_order() -> None:
    content = codec.encode((INFO, MANAGED, metadata(), add("a"), remove("b"), DOMAIN))

    decoded = codec.decode(Version(3), content)

    assert decoded.version == 3
    assert (decoded.info, decoded.protocol, decoded.metadata) == (INFO, MANAGED, metadata())
    assert (decoded.adds, decoded.removes, decoded.domains) == ((add("a"),), (remove("b"),), (DOMAIN,))
    assert content.endswith(b"\n")
    assert content.count(b"\n") == 6


def test_fields_have_the_names_of_the_log_and_required_ones_are_always_there() -> None:
    lines = [msgspec.json.decode(line) for line in codec.encode((metadata(), add("a"))).splitlines()]

    assert set(lines[0]["metaData"]) == {"id", "format", "schemaString", "partitionColumns", "configuration"}
    assert lines[0]["metaData"]["format"] == {"provider": "parquet", "options": {}}
    assert lines[1]["add"] == {
        "path": "a", "partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": True
    }  # fmt: skip


def test_unknown_actions_and_fields_are_ignored() -> None:
    known = codec.encode((add("a"),)).replace(b'"size":1', b'"size":1,"unheardOf":{}')
    content = b'{"somethingNew":{"a":1}}\n' + known + b"\n"

    assert codec.decode(Version(0), content).adds == (add("a"),)


@pytest.mark.parametrize(
    ("said", "understood"),
    [
        (b'{"operation":"WRITE","tags":"nightly,eu"}', CommitInfo(operation="WRITE")),
        (b'{"timestamp":"today","isBlindAppend":"yes","readVersion":7}', CommitInfo(read_version=7)),
        (b'{"inCommitTimestamp":9223372036854775808,"userMetadata":{"a":1}}', CommitInfo()),
        (b'["anything"]', CommitInfo()),
        (b"null", None),
    ],
)
def test_a_commit_info_may_be_any_json(said: bytes, understood: CommitInfo | None) -> None:
    content = b'{"commitInfo":' + said + b"}\n" + codec.encode((add("a"), TXN))

    assert codec.decode(Version(1), content).info == understood
    assert codec.decode(Version(1), content).adds == (add("a"),)
    assert codec.decode_without_files(Version(1), content).txns == (TXN,)
    assert codec.decode_commit_info(Version(1), content) == understood
    (folded,) = codec.decode_folded([(Version(1), content)])
    assert (folded.info, folded.adds) == (understood, (add("a"),))


def test_what_stands_beside_an_odd_commit_info_is_read() -> None:
    beside = codec.encode((add("a"),)).strip()[1:]
    odd = b'{"commitInfo":{"tags":"nightly"},' + beside + b"\n"
    none = b'{"commitInfo":null,' + beside.replace(b'"a"', b'"b"', 1) + b"\n"

    # Of what is on one line only one action counts, and a commitInfo that is null is none.
    content = odd + none + b'{"commitInfo":null}\n'
    assert [type(action) for action in codec.decode_actions(Version(1), content)] == [AddFile, AddFile]


def test_the_commit_info_is_read_without_the_rest() -> None:
    content = codec.encode((INFO,)) + b"this is not JSON"

    assert codec.decode_commit_info(Version(1), content) == INFO


@pytest.mark.parametrize(
    "content",
    [
        b"{", b"[]", b'{"add":{"path":1}}', b"\xff\xfe", b'{"add":{}}',
        b'{"txn":{"appId":"\xff","version":1}}', b'{"commitInfo":{"tags":1}}\n{"add":{}}',
        b'{"future":' + b"[" * 9999 + b"]" * 9999 + b"}",
    ],
)  # fmt: skip
def test_damaged_bytes_name_the_version(content: bytes) -> None:
    with pytest.raises(CorruptLog) as caught:
        codec.decode(Version(17), content)

    assert "version 17" in caught.value.message
    assert caught.value.code == "DELTA_TXN_LOG_FAILED_INTEGRITY"


DAMAGED = {"metaData": b'{"metaData":{"id":1}}\n', "protocol": b'{"protocol":{"minReaderVersion":"1"}}\n'}
"""What each of the two is when it has another type than those known here."""


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_protocol_or_metadata_is_an_action_beside_the_others(name: str) -> None:
    others = b'{"metaData":null}\n{"protocol":null}\n{"somethingNew":1}\n' + codec.encode((TXN, add("a")))
    content = DAMAGED[name] + others

    (folded,) = codec.decode_folded([(Version(1), content)])
    assert folded.adds == (add("a"),)
    for commit in (folded, codec.decode_without_files(Version(1), content)):
        found = {"metaData": commit.metadata, "protocol": commit.protocol}
        damaged = found.pop(name)
        assert damaged is not None
        assert "Expected `" in str(damaged.damage)
        assert (*found.values(), commit.txns) == (None, (TXN,))


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_protocol_or_metadata_does_no_harm_if_another_follows(name: str) -> None:
    following = codec.encode((MANAGED, metadata()))

    for content in (
        DAMAGED[name] + following,
        following.replace(b"\n", b"\n" + DAMAGED[name], 1) + following,
    ):
        commit = codec.decode_without_files(Version(1), content)
        assert (commit.protocol, commit.metadata) == (MANAGED, metadata())


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_an_error_to_whoever_reads_one_commit_alone(name: str) -> None:
    for read in (codec.decode, codec.decode_actions, codec.decode_changes):
        with pytest.raises(CorruptLog, match="version 5 cannot be parsed"):
            read(Version(5), DAMAGED[name])


def test_what_stands_for_something_damaged_says_nothing_but_why() -> None:
    found = codec.damaged_metadata(ValueError("no text"))
    protocol = codec.damaged_protocol(ValueError("no number"))

    assert (str(found.damage), str(protocol.damage)) == ("no text", "no number")
    assert (found.id, found.schema_string, found.partition_columns) == ("", "", ())
    assert (found.format, found.configuration) == (Format(provider="", options={}), {})
    assert (protocol.min_reader_version, protocol.min_writer_version) == (0, 0)


def test_what_is_not_asked_for_is_not_read() -> None:
    content = codec.encode((*SMALL, add("a"), remove("b"), CDC))

    assert codec.decode_file_actions(Version(3), content) == [add("a"), remove("b")]
    assert codec.decode_changes(Version(3), content) == [*SMALL[1:], add("a"), remove("b")]


def test_every_kind_of_action_is_read() -> None:
    content = codec.encode((*SMALL, add("a"), remove("b"), CDC)) + b'{"sidecar":{"path":"s","sizeInBytes":7}}'

    assert codec.decode_actions(Version(3), content) == [
        *SMALL, add("a"), remove("b"), Sidecar(path="s", size_in_bytes=7),
    ]  # fmt: skip
    assert codec.decode_cdc_files(Version(3), content) == [CDC]


def test_without_its_files_a_commit_says_the_rest() -> None:
    found = codec.decode_without_files(Version(3), codec.encode((*SMALL, add("a"), remove("b"))))

    assert found == commit_from_actions(Version(3), SMALL)


def test_a_commit_info_that_is_not_the_first_line_or_takes_several_is_found() -> None:
    later = codec.encode((add("a"), INFO))
    stretched = codec.encode((INFO,)).replace(b",", b",\n")

    assert codec.decode_commit_info(Version(1), later) is None
    assert codec.decode(Version(1), later).info == INFO
    assert codec.decode_commit_info(Version(1), stretched) == INFO


def test_versions_are_folded_until_one_removes_files() -> None:
    """A reader adds what a commit adds after removing what it removes, so the order of the two counts."""
    versions = [
        (INFO, MANAGED, add("a"), TXN), (INFO, metadata(), DOMAIN, add("b")), (INFO, remove("a"), add("c")),
        (add("d"), LATER),
    ]  # fmt: skip

    folded = list(
        codec.decode_folded(
            (Version(at), codec.encode(actions)) for at, actions in enumerate(versions, start=5)
        )
    )

    assert folded == [
        commit_from_actions(Version(6), (MANAGED, add("a"), TXN, metadata(), DOMAIN, add("b"))),
        commit_from_actions(Version(8), (remove("a"), add("c"), add("d"), LATER)),
    ]


def test_the_first_version_may_remove_files_and_nothing_folds_to_nothing() -> None:
    content = codec.encode((INFO, remove("a")))

    assert list(codec.decode_folded([(Version(5), content)])) == [
        commit_from_actions(Version(5), (INFO, remove("a")))
    ]
    assert list(codec.decode_folded([])) == []
