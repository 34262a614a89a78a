"""The actions of a commit: what they say of themselves, and how they are sorted."""

import msgspec
import pytest

from headgate.protocol.actions import (
    Action,
    AppTransaction,
    Commit,
    CommitInfo,
    DomainMetadata,
    EpochMillis,
    Protocol,
    Sidecar,
    Version,
    commit_from_actions,
)
from tests.support.commits import MANAGED, PROTOCOL, add, metadata, remove


def protocol(*writers: str, readers: tuple[str, ...] | None = ()) -> Protocol:
    return Protocol(
        min_reader_version=3, min_writer_version=7, reader_features=readers, writer_features=writers
    )


def test_fields_have_the_names_of_the_log_and_what_is_not_said_is_left_out() -> None:
    assert msgspec.to_builtins(CommitInfo(in_commit_timestamp=EpochMillis(5))) == {"inCommitTimestamp": 5}
    assert msgspec.to_builtins(PROTOCOL) == {"minReaderVersion": 1, "minWriterVersion": 2}


def test_a_feature_is_named_for_readers_or_for_writers() -> None:
    assert protocol("a").has("a")
    assert protocol(readers=("b",)).has("b")
    assert not protocol("a", readers=None).has("c")
    assert not PROTOCOL.has("a")


def test_the_features_of_a_protocol_are_sets() -> None:
    one, other = protocol("a", "b", readers=("c", "d")), protocol("b", "a", readers=("d", "c"))

    assert one == other
    assert hash(one) == hash(other)
    assert one != protocol("a", "b", readers=("c",))
    assert one != protocol("a", readers=("c", "d"))
    assert one != msgspec.structs.replace(one, min_reader_version=2)
    assert one != msgspec.structs.replace(one, min_writer_version=6)
    assert Protocol(min_reader_version=1, min_writer_version=2, writer_features=()) == PROTOCOL
    assert PROTOCOL not in (metadata(), "(1, 2)")  # "!=" asks neither


@pytest.mark.parametrize(
    ("found", "managed"),
    [
        (MANAGED, True),
        (protocol("catalogManaged"), True),
        (protocol("catalogOwned-preview"), True),
        (protocol("inCommitTimestamp"), False),
        (PROTOCOL, False),
    ],
)
def test_whose_versions_a_catalog_decides(found: Protocol, managed: bool) -> None:
    assert found.is_catalog_managed is managed


@pytest.mark.parametrize(("name", "system"), [("delta.x", True), ("DELTA.x", True), ("deltax", False)])
def test_the_domains_of_the_system_are_told_by_their_names(name: str, system: bool) -> None:
    assert DomainMetadata(domain=name, configuration="", removed=False).is_system is system


@pytest.mark.parametrize(
    ("info", "blind"),
    [
        (CommitInfo(is_blind_append=True), True),
        (CommitInfo(is_blind_append=False), False),
        (CommitInfo(), False),
        (None, False),
    ],
)
def test_who_does_not_say_that_it_read_nothing_may_have_read(info: CommitInfo | None, blind: bool) -> None:
    assert commit_from_actions(Version(1), [info] if info else []).is_blind_append is blind


def test_actions_are_sorted_by_kind_and_of_what_there_is_once_the_last_counts() -> None:
    txns = AppTransaction(app_id="s", version=1), AppTransaction(app_id="s", version=2)
    domain = DomainMetadata(domain="d", configuration="", removed=False)
    actions: tuple[Action, ...] = (
        CommitInfo(operation="A"), add("a"), PROTOCOL, metadata(), txns[0], remove("b"), add("c"), domain,
        CommitInfo(operation="B"), MANAGED, metadata(a="b"), txns[1], Sidecar(path="s", size_in_bytes=1),
    )  # fmt: skip

    assert commit_from_actions(Version(3), actions) == Commit(
        version=Version(3),
        info=CommitInfo(operation="B"),
        protocol=MANAGED,
        metadata=metadata(a="b"),
        adds=(add("a"), add("c")),
        removes=(remove("b"),),
        txns=txns,
        domains=(domain,),
    )
    assert commit_from_actions(Version(3), ()) == Commit(Version(3), None, None, None, (), (), (), ())
