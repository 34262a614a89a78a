"""What is sent is what arrives, for every operation; what is none of it is refused by name."""

from collections.abc import Iterable
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.catalog.ports.access import Grants, Privilege
from headgate.catalog.ports.commits import CommitCatalog, InlineCommit, Proposal, StagedCommit, TableId
from headgate.catalog.ports.events import EventFeed
from headgate.catalog.ports.groups import GroupCatalog, GroupId, GroupProposal
from headgate.catalog.wire.operation_codec import AnswerUnreadable, OperationCodec, codec_for
from headgate.catalog.wire.operations import BY_METHOD, OPERATIONS, PortOperation
from headgate.errors import InvalidRequest
from headgate.protocol.actions import TxnId, Version
from tests.support.port_values import everything, values

FEW = settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
PROPOSE = codec_for(BY_METHOD[CommitCatalog.propose])


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.path)
@FEW
@given(data=st.data())
def test_arguments_arrive_as_they_were_sent(operation: PortOperation, data: st.DataObject) -> None:
    sent = {each.name: data.draw(values(each.annotation), each.name) for each in operation.signature()}
    codec = codec_for(operation)

    found = codec.decode_arguments(codec.encode_arguments((), sent))

    assert everything(found) == everything(sent)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.path)
@FEW
@given(data=st.data())
def test_answers_arrive_as_they_were_given(operation: PortOperation, data: st.DataObject) -> None:
    answer = data.draw(values(operation.result()))
    codec = codec_for(operation)

    assert everything(codec.decode_result(codec.encode_result(answer))) == everything(answer)


def test_what_may_be_left_out_is_as_the_port_has_it() -> None:
    assert codec_for(BY_METHOD[EventFeed.after]).decode_arguments(b'{"cursor": 7}') == {
        "cursor": 7,
        "limit": 1_000,
    }


def test_arguments_may_be_given_by_place_and_by_name() -> None:
    codec = codec_for(BY_METHOD[CommitCatalog.outcome_of])

    body = codec.encode_arguments((TableId("t"), TxnId("x")), {"target": Version(3), "any_version": True})

    assert codec.decode_arguments(body) == {
        "table_id": "t", "txn_id": "x", "target": 3, "any_version": True,
    }  # fmt: skip


def test_a_series_may_be_any_that_can_be_gone_through() -> None:
    codec = codec_for(BY_METHOD[GroupCatalog.tails])

    def few() -> Iterable[TableId]:
        yield TableId("a")
        yield TableId("b")

    assert codec.decode_arguments(codec.encode_arguments((few(),), {})) == {"table_ids": ("a", "b")}


def test_a_mapping_need_not_be_a_dict() -> None:
    codec = codec_for(BY_METHOD[GroupCatalog.propose_group])
    group = GroupProposal(GroupId("g"), read_only=MappingProxyType({TableId("t"): Version(3)}))

    found = codec.decode_arguments(codec.encode_arguments((group,), {}))["group"]

    assert found == GroupProposal(GroupId("g"), read_only={TableId("t"): Version(3)})


def test_a_privilege_may_be_named() -> None:
    codec = codec_for(BY_METHOD[Grants.grant])

    sent = codec.encode_arguments((Privilege.CHANGE_DATA, None, "ada"), {})

    assert codec.decode_arguments(sent)["privilege"] == "CHANGE DATA"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b'{"proposal": {"table_id": "t", "target": 1, "txn_id": "x", "content": {}}}', "content"),
        (b'{"proposal": {"table_id": "t", "target": "1", "txn_id": "x"}}', "target"),
        (b'{"proposal": {"table_id": "t", "target": 1.5, "txn_id": "x"}}', "target"),
        (b'{"proposal": {"table_id": "t", "target": true, "txn_id": "x"}}', "target"),
        (b'{"proposal": {"table_id": "t", "target": 99999999999999999999, "txn_id": "x"}}', "target"),
        (b'{"proposal": {"table_id": 1, "target": 1, "txn_id": "x"}}', "table_id"),
        (b'{"proposal": {"owner": true}}', "owner"),
        (b'{"proposal": null}', "proposal"),
        (b'{"proposals": []}', "proposals"),
        (b"{}", "proposal"),
        (b"", "proposal"),
        (b'"proposal"', "object"),
        (b"\xff\xfe", "commits/propose"),
        (b"[" * 100_000, "commits/propose"),
    ],
)
def test_what_is_wrong_with_a_request_is_named(body: bytes, named: str) -> None:
    with pytest.raises(InvalidRequest, match=named):
        PROPOSE.decode_arguments(body)


@pytest.mark.parametrize(
    "content",
    [
        b'{"kind": "InlineCommit", "content": "not base64!"}',
        b'{"kind": "InlineCommit", "content": "YQ==", "file_name": "x"}',
        b'{"kind": "Another", "content": "YQ=="}',
        b'{"content": "YQ=="}',
    ],
)
def test_content_is_of_one_kind_and_nothing_else(content: bytes) -> None:
    body = b'{"proposal": {"table_id": "t", "target": 1, "txn_id": "x", "content": ' + content + b"}}"

    with pytest.raises(InvalidRequest, match="content"):
        PROPOSE.decode_arguments(body)


def test_text_that_no_database_keeps_is_refused() -> None:
    def body(txn: bytes) -> bytes:
        staged = b'{"kind": "StagedCommit", "file_name": "f"}'
        return b'{"proposal": {"table_id": "t", "target": 1, "txn_id": "%s", "content": %s}}' % (txn, staged)

    with pytest.raises(InvalidRequest, match="NUL"):
        PROPOSE.decode_arguments(body(rb"a\u0000"))

    assert PROPOSE.decode_arguments(body(rb"a\\u0000"))["proposal"].txn_id == "a\\u0000"


@pytest.mark.parametrize("wrong", ["a\ud800", object()], ids=["half", "object"])
def test_what_cannot_be_sent_is_refused_before_it_is(wrong: object) -> None:
    proposal = Proposal(TableId("t"), Version(1), wrong, InlineCommit(b""))  # type: ignore[arg-type]

    with pytest.raises(InvalidRequest, match="cannot be sent"):
        PROPOSE.encode_arguments((proposal,), {})


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_half_an_answer_is_none(cut: int) -> None:
    proposal = Proposal(TableId("t"), Version(1), TxnId("x"), StagedCommit("f"))
    codec: OperationCodec = codec_for(BY_METHOD[CommitCatalog.outcome_of])
    whole = b'{"kind":"Unknown","reason":"' + proposal.txn_id.encode() * 60 + b'"}'

    with pytest.raises(AnswerUnreadable):
        codec.decode_result(whole[:-cut])


def test_a_newer_server_may_say_more() -> None:
    codec = codec_for(BY_METHOD[CommitCatalog.outcome_of])

    assert codec.decode_result(b'{"kind":"Ratified","version":3,"since":"today"}').version == 3
