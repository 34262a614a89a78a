"""Bytes ↔ actions."""

import msgspec
import pytest

from headgate.errors import CorruptLog
from headgate.protocol import codec
from headgate.protocol.actions import CommitInfo, DomainMetadata, EpochMillis, TxnId, Version
from tests.support.commits import MANAGED, add, metadata, remove

INFO = CommitInfo(in_commit_timestamp=EpochMillis(5), txn_id=TxnId("t"), operation="WRITE")
DOMAIN = DomainMetadata(domain="acme", configuration='{"a":1}', removed=False)


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


def test_the_commit_info_is_read_without_the_rest() -> None:
    content = codec.encode((INFO,)) + b"this is not JSON"

    assert codec.commit_info(Version(1), content) == INFO


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"add":{"path":1}}', b"\xff\xfe", b'{"add":{}}'])
def test_damaged_bytes_name_the_version(content: bytes) -> None:
    with pytest.raises(CorruptLog) as caught:
        codec.decode(Version(17), content)

    assert "version 17" in caught.value.message
    assert caught.value.code == "DELTA_TXN_LOG_FAILED_INTEGRITY"
