"""The rules of metadata domains: names, one commit, and two that race."""

from collections.abc import Sequence
from functools import partial

import msgspec
import pytest

from headgate.errors import ConcurrentTransaction, DomainConflict, InvalidRequest, Retry
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import Action, DomainMetadata, Protocol
from headgate.protocol.domains import rules
from headgate.protocol.domains.rules import DomainEdit, DomainSettings, Handlers, RemoveDomain, SetDomain
from headgate.protocol.log import replay
from tests.support.commits import PROTOCOL, commit, metadata

WITH_FEATURE = Protocol(min_reader_version=1, min_writer_version=7, writer_features=("domainMetadata",))
OLDEST = Protocol(min_reader_version=1, min_writer_version=1)
UPGRADED = protocol_upgrade.with_features(PROTOCOL, ["domainMetadata"])


def domain(name: str, configuration: str = "", *, removed: bool = False) -> DomainMetadata:
    return DomainMetadata(domain=name, configuration=configuration, removed=removed)


A, B = domain("acme.a", "1"), domain("acme.b", "2")
LIVE = {"acme.a": A, "acme.b": B}


def joined(_: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata) -> DomainMetadata:
    return domain(mine.domain, f"({winner.configuration}+{mine.configuration})")


@pytest.mark.parametrize("name", ["delta.foo", "DELTA.foo", "Delta.rowTracking", "delta."])
@pytest.mark.parametrize("kind", ["set", "remove"])
def test_s194_users_cannot_touch_what_belongs_to_delta(name: str, kind: str) -> None:
    edit: DomainEdit = SetDomain(name, "{}") if kind == "set" else RemoveDomain(name)

    with pytest.raises(InvalidRequest, match="belongs to Delta itself") as caught:
        rules.domain_actions(WITH_FEATURE, {name: domain(name)}, [edit])

    assert caught.value.code == "HEADGATE_DOMAIN_RESERVED"


@pytest.mark.parametrize("name", ["delta", "deltas.foo", "acme.delta.foo", "Ünïcode", " "])
def test_any_other_name_is_the_users(name: str) -> None:
    assert rules.domain_actions(WITH_FEATURE, {}, [SetDomain(name, "x")]) == (domain(name, "x"),)


def test_names_differ_by_case() -> None:
    written = rules.domain_actions(WITH_FEATURE, LIVE, [SetDomain("acme.A", "9"), RemoveDomain("acme.a")])

    assert written == (domain("acme.A", "9"), domain("acme.a", "1", removed=True))


def test_a_domain_needs_a_name_and_text() -> None:
    with pytest.raises(InvalidRequest, match="needs a name"):
        rules.domain_actions(WITH_FEATURE, {}, [SetDomain("", "x")])
    with pytest.raises(InvalidRequest, match="must be text, not dict: give JSON"):
        rules.domain_actions(WITH_FEATURE, {}, [SetDomain("acme.a", {"k": "v"})])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("edits", "written"),
    [
        ([SetDomain("acme.c", "1"), SetDomain("acme.c", "2")], (domain("acme.c", "2"),)),
        ([RemoveDomain("acme.a"), RemoveDomain("acme.a")], (domain("acme.a", "1", removed=True),)),
        ([SetDomain("acme.b", "2")], (B,)),
        ([], ()),
    ],
    ids=["set twice: the last", "removed twice: once", "set to what it is", "nothing"],
)
def test_s195_what_one_transaction_writes(
    edits: Sequence[DomainEdit], written: Sequence[DomainMetadata]
) -> None:
    assert rules.domain_actions(WITH_FEATURE, LIVE, edits) == written


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        (
            [SetDomain("acme.a", "1"), RemoveDomain("acme.a")],
            "DELTA_DUPLICATE_DOMAIN_METADATA_INTERNAL_ERROR",
        ),
        (
            [RemoveDomain("acme.a"), SetDomain("acme.a", "1")],
            "DELTA_DUPLICATE_DOMAIN_METADATA_INTERNAL_ERROR",
        ),
        ([RemoveDomain("acme.unknown")], "HEADGATE_DOMAIN_NOT_FOUND"),
    ],
    ids=["set and remove", "remove and set", "remove what is not there"],
)
def test_s195_what_one_transaction_cannot_mean(edits: Sequence[DomainEdit], code: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        rules.domain_actions(WITH_FEATURE, LIVE, edits)

    assert caught.value.code == code


def test_s195_a_domain_once_removed_cannot_be_removed_again() -> None:
    (tombstone,) = rules.domain_actions(WITH_FEATURE, LIVE, [RemoveDomain("acme.a")])
    assert isinstance(tombstone, DomainMetadata)

    with pytest.raises(InvalidRequest, match=r"no metadata domain 'acme\.a' to remove.*'acme\.b'"):
        rules.domain_actions(
            WITH_FEATURE, rules.apply_domain_actions(LIVE, [tombstone]), [RemoveDomain("acme.a")]
        )


def test_s193_removing_without_the_feature_is_refused_by_name() -> None:
    with pytest.raises(InvalidRequest, match=r"acme\.a") as caught:
        rules.domain_actions(PROTOCOL, {}, [RemoveDomain("acme.a")])

    assert caught.value.code == "DELTA_DOMAIN_METADATA_NOT_SUPPORTED"


def test_s193_a_commit_is_checked_whoever_made_it() -> None:
    rules.check_domain_actions(WITH_FEATURE, [A, B])
    rules.check_domain_actions(PROTOCOL, [])

    with pytest.raises(InvalidRequest, match=r"more than one action.*'acme\.a'") as twice:
        rules.check_domain_actions(WITH_FEATURE, [A, B, domain("acme.a", removed=True)])
    with pytest.raises(InvalidRequest, match=r"'acme\.a', 'acme\.b'") as unsupported:
        rules.check_domain_actions(PROTOCOL, [B, A])

    assert twice.value.code == "DELTA_DUPLICATE_DOMAIN_METADATA_INTERNAL_ERROR"
    assert unsupported.value.code == "DELTA_DOMAIN_METADATA_NOT_SUPPORTED"


def test_s335_the_first_domain_of_a_legacy_table_upgrades_it() -> None:
    assert rules.domain_actions(PROTOCOL, {}, []) == ()
    protocol, action = rules.domain_actions(PROTOCOL, {}, [SetDomain("acme.a", "1")])

    assert action == A
    assert protocol == Protocol(
        min_reader_version=1,
        min_writer_version=7,
        writer_features=("appendOnly", "domainMetadata", "invariants"),
    )


@pytest.mark.parametrize(
    ("legacy", "names", "expected"),
    [
        ((1, 1), ["domainMetadata"], (1, 7, None, {"domainMetadata"})),
        (
            (2, 5), ["domainMetadata"],
            (2, 7, None, {"appendOnly", "invariants", "checkConstraints", "changeDataFeed",
                          "generatedColumns", "columnMapping", "domainMetadata"}),
        ),
        ((1, 2), ["deletionVectors"],
         (3, 7, {"deletionVectors"}, {"appendOnly", "invariants", "deletionVectors"})),
        ((2, 2), ["timestampNtz"],
         (3, 7, {"columnMapping", "timestampNtz"}, {"appendOnly", "invariants", "timestampNtz"})),
    ],
    ids=["1,1", "2,5", "a reader's feature", "a reader's feature on reader 2"],
)  # fmt: skip
def test_s335_an_upgrade_names_what_the_version_implied(
    legacy: tuple[int, int], names: list[str], expected: tuple[int, int, set[str] | None, set[str]]
) -> None:
    before = Protocol(min_reader_version=legacy[0], min_writer_version=legacy[1])

    found = protocol_upgrade.with_features(before, names)

    readers = None if found.reader_features is None else set(found.reader_features)
    assert expected == (
        found.min_reader_version, found.min_writer_version, readers, set(found.writer_features or ())
    )  # fmt: skip


def test_settings_of_domains_are_a_mapping() -> None:
    with pytest.raises(InvalidRequest, match="domains is a mapping of names to configurations"):
        DomainSettings(["acme.a"])  # type: ignore[arg-type]


def test_since_says_nothing_without_domains() -> None:
    assert DomainSettings({"acme.a": "1"}, since=3).actions == (A,)
    with pytest.raises(InvalidRequest, match="give domains too"):
        DomainSettings(since=3)


@pytest.mark.parametrize(
    ("given", "protocol", "others", "together"),
    [
        ({}, PROTOCOL, (B,), (B,)),
        ({"acme.a": "1"}, WITH_FEATURE, (B,), (B, A)),
        ({"acme.a": "1"}, PROTOCOL, (B,), (UPGRADED, B, A)),
        ({"acme.a": "1"}, PROTOCOL, (B, OLDEST), (WITH_FEATURE, B, A)),
    ],
    ids=["nothing", "the table has the feature", "the table gets the feature", "so does a new protocol"],
)
def test_settings_of_domains_stand_beside_what_else_is_committed(
    given: dict[str, str], protocol: Protocol, others: Sequence[Action], together: Sequence[Action]
) -> None:
    assert DomainSettings(given).beside(protocol, others) == together


@pytest.mark.parametrize(
    ("name", "configuration", "reserved"),
    [
        ("acme.a", '{"delta.x":1,"k":2,"Delta.y":3}', ("delta.x", "Delta.y")),
        ("delta.rowTracking", '{"delta.x":1}', ()),
        ("acme.a", '{"k":"delta"}', ()),
        ("acme.a", '{"delta.x":' + "[" * 100_000 + "]" * 100_000 + "}", ()),
    ],
    ids=["some are", "a domain of Delta itself", "none is", "nobody can read it"],
)
def test_which_keys_belong_to_delta(name: str, configuration: str, reserved: tuple[str, ...]) -> None:
    assert rules.reserved_keys(name, configuration) == reserved


def test_the_first_key_that_belongs_to_delta_is_named() -> None:
    with pytest.raises(InvalidRequest, match=r"the key 'delta\.x' of the metadata domain") as caught:
        rules.check_domain_keys("acme.a", '{"delta.x":1,"delta.y":2}')

    assert caught.value.fields["key"] == "delta.x"


def test_an_upgrade_that_changes_nothing_is_the_same_protocol() -> None:
    mapped = Protocol(min_reader_version=2, min_writer_version=5)

    assert protocol_upgrade.with_features(WITH_FEATURE, ["domainMetadata"]) is WITH_FEATURE
    assert protocol_upgrade.with_features(PROTOCOL, ["appendOnly"]) is PROTOCOL
    assert protocol_upgrade.with_features(mapped, ["columnMapping"]) is mapped


def test_a_feature_that_only_the_writers_version_implies_is_made_known_to_readers() -> None:
    found = protocol_upgrade.with_features(
        Protocol(min_reader_version=1, min_writer_version=5), ["columnMapping"]
    )

    assert (found.min_reader_version, found.reader_features) == (3, ("columnMapping",))


def test_s192_the_live_domains_are_those_of_replay() -> None:
    first = replay.initial_state(commit(0, WITH_FEATURE, metadata(), A, B))
    second = commit(1, domain("acme.a", "1", removed=True), domain("acme.b", "3"), domain("acme.c", "4"))

    live = rules.apply_domain_actions(first.domains, second.domains)

    assert live == replay.advance(first, second).domains == {
        "acme.b": domain("acme.b", "3"), "acme.c": domain("acme.c", "4")
    }  # fmt: skip


@pytest.mark.parametrize("winners", [[], [[B]], [[B], [domain("other.x")]]], ids=["0", "1", "2"])
def test_s198_writers_of_other_domains_are_no_rivals(winners: list[list[DomainMetadata]]) -> None:
    mine: tuple[DomainMetadata, ...] = (A,)
    for winner in winners:
        mine = rules.rebase_domains({}, {}, winner, mine)

    assert mine == (A,)


@pytest.mark.parametrize("shared", [0, 1], ids=["the first winner", "the second winner"])
@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (A, A),
        (A, domain("acme.a", "9")),
        (A, domain("acme.a", removed=True)),
        (domain("acme.a", removed=True), A),
        (domain("acme.a", removed=True), domain("acme.a", removed=True)),
    ],
    ids=["equal", "different", "set and remove", "remove and set", "both remove"],
)
def test_s198_without_a_handler_a_shared_domain_is_a_conflict(
    shared: int, theirs: DomainMetadata, ours: DomainMetadata
) -> None:
    winners = [[domain("other.x")], [domain("other.x")]]
    winners[shared] = [B, theirs]
    mine: tuple[DomainMetadata, ...] = (ours,)

    with pytest.raises(DomainConflict, match=r"'acme\.a'.*no handler.*nothing was committed") as caught:
        for winner in winners:
            mine = rules.rebase_domains({}, {}, winner, mine)

    assert caught.value.code == "DELTA_CONCURRENT_TRANSACTION"
    assert caught.value.retry is Retry.RERUN
    assert isinstance(caught.value, ConcurrentTransaction)


def test_a_handler_is_folded_over_the_winners_and_sees_what_each_changed() -> None:
    seen: list[tuple[str | None, str, str]] = []

    def noting(base: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata) -> DomainMetadata:
        seen.append((base.configuration if base else None, winner.configuration, mine.configuration))
        return joined(base, winner, mine)

    live = {"acme.a": domain("acme.a", "base")}
    mine: tuple[DomainMetadata, ...] = (domain("acme.a", "mine"), B)
    for winner in ([domain("acme.a", "w1")], [domain("other.x")], [domain("acme.a", "w2")]):
        mine = rules.rebase_domains({"acme.a": noting}, live, winner, mine)
        live = rules.apply_domain_actions(live, winner)

    assert seen == [("base", "w1", "mine"), ("w1", "w2", "(w1+mine)")]
    assert mine == (domain("acme.a", "(w2+(w1+mine))"), B)


def test_a_removal_that_a_handler_decides_keeps_what_it_removes() -> None:
    mine = domain("acme.a", "what I knew", removed=True)
    handlers: Handlers = {"acme.a": lambda base, winner, mine: mine}

    merged = rules.resolve_domain(handlers, A, domain("acme.a", "what the winner set"), mine)

    assert merged == domain("acme.a", "what the winner set", removed=True)


def failing(_: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata) -> DomainMetadata:
    raise ZeroDivisionError(f"{winner.configuration} against {mine.configuration}")


def refusing(_: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata) -> DomainMetadata:
    raise DomainConflict("the marks are from different clusters", code="ACME_CLUSTERS")


def as_in_delta(_: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata) -> DomainMetadata:
    raise ConcurrentTransaction(f"Conflicted DomainMetadata actions detected for domain {mine.domain}")


@pytest.mark.parametrize(
    ("handler", "words", "code"),
    [
        (failing, "test_rules.failing raised ZeroDivisionError: 1 against 9", "HANDLER_FAILED"),
        (refusing, "test_rules.refusing refuses.*different clusters", "ACME_CLUSTERS"),
        (as_in_delta, "as_in_delta refuses.*Conflicted DomainMetadata", "DELTA_CONCURRENT_TRANSACTION"),
        (partial(failing), "partial.*raised ZeroDivisionError", "HANDLER_FAILED"),
        (lambda base, winner, mine: None, "lambda.*gave NoneType", "HANDLER_FAILED"),
        (lambda base, winner, mine: B, "another domain, 'acme.b'", "HANDLER_FAILED"),
        (lambda base, winner, mine: domain("acme.a", 5), "not text", "HANDLER_FAILED"),  # type: ignore[arg-type]
        (lambda base, winner, mine: msgspec.structs.replace(mine, removed="no"), "a bool", "HANDLER_FAILED"),
    ],
    ids=[
        "raises",
        "refuses",
        "as in Delta",
        "has no name",
        "gives nothing",
        "gives another domain",
        "no text",
        "no bool",
    ],
)
def test_a_handler_that_cannot_merge_refuses_the_commit(
    handler: rules.Handler, words: str, code: str
) -> None:
    with pytest.raises(DomainConflict, match=rf"'acme\.a'.*{words}.*nothing was committed") as caught:
        rules.resolve_domain({"acme.a": handler}, None, A, domain("acme.a", "9"))

    assert caught.value.code.endswith(code)


def test_an_interrupt_is_not_taken_for_a_refusal() -> None:
    def interrupted(*_: object) -> DomainMetadata:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rules.resolve_domain({"acme.a": interrupted}, None, A, A)


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("acme.deep.x", "acme.deep.x"),
        ("acme.deep.y", "acme.deep.*"),
        ("acme.z", "acme.*"),
        ("other", "other"),
        ("acme", None),
        ("acmes.z", None),
        ("Acme.z", None),
        ("other.x", None),
    ],
)
def test_the_most_specific_handler_counts(name: str, chosen: str | None) -> None:
    patterns = ("acme.*", "acme.deep.*", "acme.deep.x", "other")
    handlers: Handlers = {pattern: partial(joined) for pattern in patterns}

    assert rules.find_handler(handlers, name) is (handlers[chosen] if chosen else None)


def test_nobody_can_merge_the_domains_of_delta_but_headgate() -> None:
    clustering = domain("delta.clustering", '{"clusteringColumns":[["id"]]}')

    with pytest.raises(DomainConflict, match="no handler"):
        rules.resolve_domain({"delta.clustering": joined, "delta.*": joined}, None, clustering, clustering)


@pytest.mark.parametrize(("theirs", "ours"), [(4, 9), (9, 4), (9, 9)])
def test_row_ids_handed_out_stay_handed_out(theirs: int, ours: int) -> None:
    marks = [domain("delta.rowTracking", f'{{"rowIdHighWaterMark":{mark}}}') for mark in (theirs, ours)]

    assert rules.resolve_domain({}, None, *marks).configuration == '{"rowIdHighWaterMark":9}'
