"""Metadata domains on real logs, by every route: set, removed, and fought over."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import Outcome, Ratified, Unknown
from headgate.clock import SystemWorld
from headgate.errors import DomainConflict, HeadgateError, InvalidRequest, ProtocolChanged
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import Action, Commit, DomainMetadata, Metadata, Protocol, Version
from headgate.protocol.domains import rules
from headgate.protocol.domains.handlers import max_of, merge_disjoint_keys, union
from headgate.protocol.domains.rules import DomainEdit, Handlers, RemoveDomain, SetDomain
from headgate.protocol.log import codec
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from headgate.table.alter import coordination, set_properties
from headgate.table.alter.create import TableDefinition
from headgate.table.authority import Decider
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.by_path import PathCommitter
from headgate.table.committer import Committer, Frontier
from headgate.table.opened_table import OpenedTable
from headgate.table.read import log_reader
from headgate.table.transaction import Change, Operation, Transaction
from tests.support.lenient import anything_goes
from tests.support.owned import CONF, NAME
from tests.support.tables import (
    ON_DEMAND,
    SCHEMA,
    append_change,
    create_filesystem,
    create_managed,
    named_file,
    open_filesystem,
    open_managed,
)

Open = Callable[[Handlers], OpenedTable]


@dataclass(frozen=True)
class Place:
    """A table at version 1, which has the domain ``acme.x``; each opening is another process to it."""

    open: Open

    def opened(self, handlers: Handlers | None = None) -> OpenedTable:
        return self.open(handlers or {})

    def committed(self, version: int) -> Commit:
        """What the log has for a version, whoever holds it."""
        table = self.opened()
        segment, frontier = table.segment(Version(version))
        assert segment.commits
        return codec.decode(
            Version(version),
            log_reader.commit_content(
                table.store, Version(version), frontier.unpublished.get(Version(version))
            ),
        )


@pytest.fixture(params=["filesystem", "owner", "inline", "staged", "published"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "filesystem":
        create_filesystem(locate(str(tmp_path)))
        yield _begun(lambda handlers: open_filesystem(str(tmp_path), handlers=lambda: handlers))
        return
    if request.param == "owner":
        yield _begun(_owned(tmp_path))
        return
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    settings = Settings(
        publish=Publish.ON_DEMAND, inline_limit_bytes=0 if request.param == "staged" else 1 << 18
    )
    place = _begun(
        lambda handlers: open_managed(
            catalog, staging.table_id, staging.location, settings=settings, handlers=lambda: handlers
        )
    )
    if request.param == "published":
        place.opened().publish()
    yield place
    catalog.close()


def _owned(folder: Path) -> Open:
    """Opens a table of which an owner decides every commit from version 1 on."""
    world, store = SystemWorld(), locate(str(folder))
    owner = LedgerCoordinator(MemoryLedger(), 1, world)

    def opened(handlers: Handlers) -> OpenedTable:
        return OpenedTable(
            str(folder),
            store,
            PathCommitter(str(folder), store, lambda *_: owner, world=world),
            after_commit=PostCommitScheduler(ON_DEMAND),
            settings=ON_DEMAND,
            world=world,
            handlers=lambda: handlers,
        )

    coordination.create_coordinated(opened({}), TableDefinition(SCHEMA), lambda *_: owner, NAME, CONF)
    return opened


def _begun(open_table: Open) -> Place:
    place = Place(open_table)
    assert place.opened().change_domains([SetDomain("acme.x", "{}")]) == 1
    return place


def test_s190_s191_what_is_set_is_there_and_what_is_removed_is_not(place: Place) -> None:
    table = place.opened()
    table.change_domains([SetDomain("acme.a", "1"), SetDomain("acme.b", "2"), SetDomain("acme.a", "3")])
    table.change_domains([RemoveDomain("acme.b"), SetDomain("acme.c", "")])
    table.commit(append_change(named_file("a")), base=table.newest_known())

    expected = {"acme.x": "{}", "acme.a": "3", "acme.c": ""}
    assert table.domains() == place.opened().domains() == expected
    assert place.opened().domains(version=2) == {"acme.x": "{}", "acme.a": "3", "acme.b": "2"}
    assert place.opened().domains(version=0) == {}


def test_a_removal_is_on_the_wire_with_what_it_removed(place: Place) -> None:
    table = place.opened()
    table.change_domains([SetDomain("acme.a", '{"k": 1}')])
    version = table.change_domains([RemoveDomain("acme.a"), SetDomain("acme.b", "2")])

    found = place.committed(version)

    assert found.domains == (
        DomainMetadata(domain="acme.a", configuration='{"k": 1}', removed=True),
        DomainMetadata(domain="acme.b", configuration="2", removed=False),
    )
    assert found.info is not None
    assert found.info.operation == "DOMAIN METADATA"
    assert found.info.operation_parameters == {"set": '["acme.b"]', "removed": '["acme.a"]'}
    assert found.info.is_blind_append
    assert found.protocol is None


def test_s335_the_first_domain_adds_the_feature_and_nothing_is_lost_from_the_protocol(place: Place) -> None:
    table = place.opened()
    before, after = (table.snapshot(version=version).state.protocol for version in (0, 1))

    implied = set(before.writer_features or ("appendOnly", "invariants"))

    assert set(after.writer_features or ()) == implied | {"domainMetadata"}
    assert (after.min_reader_version, after.reader_features) == (
        before.min_reader_version, before.reader_features,
    )  # fmt: skip


@pytest.mark.parametrize(
    "edits",
    [
        [],
        [RemoveDomain("acme.unknown")],
        [SetDomain("delta.clustering", "{}")],
        [SetDomain("acme.x", "1"), RemoveDomain("acme.x")],
    ],
    ids=["nothing", "unknown", "Delta's own", "set and removed"],
)
def test_s194_s195_what_cannot_be_meant_commits_nothing(place: Place, edits: list[DomainEdit]) -> None:
    with pytest.raises(InvalidRequest):
        place.opened().change_domains([SetDomain("acme.other", "1"), *edits] if len(edits) == 1 else edits)

    assert place.opened().snapshot().version == 1


def test_s193_two_actions_for_one_domain_cannot_be_committed(place: Place) -> None:
    table = place.opened()
    twice: tuple[Action, ...] = tuple(
        DomainMetadata(domain="acme.x", configuration=text, removed=False) for text in "12"
    )

    with pytest.raises(InvalidRequest, match=r"acme\.x") as caught:
        table.commit(Change(Operation("WRITE"), twice), base=table.snapshot())

    assert caught.value.code == "DELTA_DUPLICATE_DOMAIN_METADATA_INTERNAL_ERROR"
    assert place.opened().snapshot().version == 1


def test_s202_what_another_client_keeps_in_a_domain_survives_our_writes(place: Place) -> None:
    table = place.opened()
    foreign = DomainMetadata(domain="delta.fromTheFuture", configuration="?", removed=False)
    with anything_goes():
        table.commit(Change(Operation("FUTURE"), (foreign,)), base=table.snapshot())

    table.commit(append_change(named_file("a")), base=table.newest_known())
    table.change_domains([RemoveDomain("acme.x")])

    assert place.opened().domains() == {"delta.fromTheFuture": "?"}


@pytest.mark.parametrize("winners", [0, 1, 2])
def test_s198_writers_of_different_domains_do_not_meet(place: Place, winners: int) -> None:
    for number in range(winners):
        place.opened().change_domains([SetDomain(f"acme.{number}", "theirs")])

    version = place.opened().change_domains([SetDomain("acme.mine", "ours")], since=1)

    assert version == winners + 2
    assert place.opened().domains()["acme.mine"] == "ours"
    assert len(place.opened().domains()) == winners + 2


@pytest.mark.parametrize("shared", [0, 1], ids=["the first winner", "the second winner"])
@pytest.mark.parametrize("mine", [SetDomain("acme.x", "same"), RemoveDomain("acme.x")], ids=["set", "remove"])
def test_s198_without_a_handler_the_later_of_two_loses(place: Place, shared: int, mine: DomainEdit) -> None:
    for number in range(2):
        name = "acme.x" if number == shared else "acme.y"
        place.opened().change_domains([SetDomain(name, "same")])

    with pytest.raises(DomainConflict, match=r"'acme\.x'.*nothing was committed") as caught:
        place.opened().change_domains([mine], since=1)

    assert caught.value.code == "DELTA_CONCURRENT_TRANSACTION"
    assert place.opened().snapshot().version == 3
    assert place.opened().change_domains([mine]) == 4


def test_what_is_decided_now_overwrites_without_a_handler(place: Place) -> None:
    place.opened().change_domains([SetDomain("acme.x", "theirs")])

    place.opened().change_domains([SetDomain("acme.x", "ours")])

    assert place.opened().domains() == {"acme.x": "ours"}


def test_two_racing_writers_both_land_and_the_merged_value_is_what_everyone_sees(place: Place) -> None:
    late = place.opened({"acme.*": max_of("offset")})
    late.snapshot()
    place.opened().change_domains([SetDomain("acme.x", '{"offset":9}')])

    version = late.change_domains([SetDomain("acme.x", '{"offset":4}'), SetDomain("acme.y", "ours")], since=1)

    merged = DomainMetadata(domain="acme.x", configuration='{"offset":9}', removed=False)
    assert version == 3
    assert merged in place.committed(3).domains
    assert late.newest_known().version == 3
    assert late.newest_known().state.domains["acme.x"] == merged
    assert late.domains() == place.opened().domains() == {"acme.x": '{"offset":9}', "acme.y": "ours"}


def test_three_winners_are_folded_in_order_each_against_what_was_before_it(place: Place) -> None:
    calls: list[tuple[str, str, str]] = []

    def noting(base: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata) -> DomainMetadata:
        calls.append((base.configuration if base else "", winner.configuration, mine.configuration))
        return merge_disjoint_keys(base, winner, mine)

    for configuration in ('{"a":1}', '{"a":1,"b":1}', '{"a":2,"b":1}'):
        place.opened().change_domains([SetDomain("acme.x", configuration)])
        place.opened().commit(append_change(named_file(configuration)), base=place.opened().snapshot())

    version = place.opened({"acme.x": noting}).change_domains([SetDomain("acme.x", '{"mine":0}')], since=1)

    assert version == 8
    assert calls == [
        ("{}", '{"a":1}', '{"mine":0}'),
        ('{"a":1}', '{"a":1,"b":1}', '{"a":1,"mine":0}'),
        ('{"a":1,"b":1}', '{"a":2,"b":1}', '{"a":1,"b":1,"mine":0}'),
    ]
    assert place.opened().domains() == {"acme.x": '{"a":2,"b":1,"mine":0}'}


def test_a_handler_may_turn_our_value_into_a_removal(place: Place) -> None:
    def give_way(_: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata) -> DomainMetadata:
        return replace_removed(mine)

    place.opened().change_domains([SetDomain("acme.x", "theirs")])

    version = place.opened({"acme.x": give_way}).change_domains([SetDomain("acme.x", "ours")], since=1)

    assert place.committed(version).domains == (
        DomainMetadata(domain="acme.x", configuration="theirs", removed=True),
    )
    assert place.opened().domains() == {}


def replace_removed(mine: DomainMetadata) -> DomainMetadata:
    return DomainMetadata(domain=mine.domain, configuration=mine.configuration, removed=True)


def test_a_handler_that_fails_commits_nothing_and_the_table_goes_on(place: Place) -> None:
    def failing(*_: object) -> DomainMetadata:
        raise KeyError("offset")

    late = place.opened({"acme.x": failing})
    place.opened().change_domains([SetDomain("acme.x", "theirs")])

    with pytest.raises(DomainConflict, match="failing raised KeyError: 'offset'") as caught:
        late.change_domains([SetDomain("acme.x", "ours"), SetDomain("acme.y", "ours")], since=1)

    assert caught.value.code == "HEADGATE_DOMAIN_HANDLER_FAILED"
    assert place.opened().domains() == {"acme.x": "theirs"}
    assert late.change_domains([SetDomain("acme.x", "ours")]) == 3


def test_rows_and_their_mark_arrive_together_after_a_race(place: Place) -> None:
    moved = (DomainMetadata(domain="acme.x", configuration="4", removed=False), named_file("ours"))
    late = place.opened({"acme.x": max_of()})
    base = late.snapshot()
    winner = place.opened()
    winner.commit(append_change(named_file("theirs")), base=winner.snapshot())
    winner.change_domains([SetDomain("acme.x", "9")])

    version = late.commit(Change(Operation("WRITE"), moved), base=base)

    commit = place.committed(version)
    assert version == 4
    assert [add.path for add in commit.adds] == ["ours"]
    assert [action.configuration for action in commit.domains] == ["9"]
    assert place.opened().snapshot().files.columns.num_rows == 2


def test_a_race_of_rows_alone_does_not_ask_a_handler(place: Place) -> None:
    def unwanted(*_: object) -> DomainMetadata:
        raise AssertionError

    late = place.opened({"acme.*": unwanted})
    base = late.snapshot()
    place.opened().change_domains([SetDomain("acme.x", "theirs")])

    late.commit(append_change(named_file("ours")), base=base)
    late.change_domains([SetDomain("acme.y", "ours")], since=1)

    assert place.opened().domains() == {"acme.x": "theirs", "acme.y": "ours"}


@pytest.mark.parametrize("winners", [1, 3])
def test_two_first_domains_both_land_and_the_table_is_upgraded_once(place: Place, winners: int) -> None:
    for number in range(1, winners):
        place.opened().commit(append_change(named_file(str(number))), base=place.opened().snapshot())

    version = place.opened().change_domains([SetDomain("acme.first", "1")], since=0)

    assert version == winners + 1
    assert place.committed(version).protocol is None
    assert place.opened().domains() == {"acme.x": "{}", "acme.first": "1"}
    assert place.opened().snapshot().state.protocol == place.opened().snapshot(version=1).state.protocol


def test_rows_that_bring_a_first_domain_follow_another_first_domain(place: Place) -> None:
    late = place.opened()
    base = late.snapshot(version=0)
    moved = rules.domain_actions(base.state.protocol, {}, [SetDomain("acme.mark", "10")])

    version = late.commit(Change(Operation("WRITE"), (*moved, named_file("ours"))), base=base)

    commit = place.committed(version)
    assert (version, commit.protocol, [add.path for add in commit.adds]) == (2, None, ["ours"])
    assert place.opened().domains() == {"acme.x": "{}", "acme.mark": "10"}


def test_the_same_first_domain_is_a_conflict_all_the_same(place: Place) -> None:
    with pytest.raises(DomainConflict):
        place.opened().change_domains([SetDomain("acme.x", "1")], since=0)

    assert place.opened().domains() == {"acme.x": "{}"}


def test_two_upgrades_by_independent_features_are_one_protocol_with_both(place: Place) -> None:
    late = place.opened()
    base = late.snapshot()
    set_properties.add_feature(place.opened(), "clustering")
    ours = protocol_upgrade.with_features(base.state.protocol, ["changeDataFeed"])

    version = late.commit(Change(Operation("ADD FEATURE"), (ours,)), base=base)

    added = {"clustering", "changeDataFeed"}
    before, after = base.state.protocol, place.opened().snapshot().state.protocol
    assert version == 3
    assert set(after.writer_features or ()) == {*(before.writer_features or ()), *added}
    assert after.reader_features == before.reader_features


def test_no_upgrade_follows_one_that_readers_must_know(place: Place) -> None:
    late = place.opened()
    base = late.snapshot()
    set_properties.add_feature(place.opened(), "deletionVectors")
    ours = protocol_upgrade.with_features(base.state.protocol, ["changeDataFeed"])

    with pytest.raises(ProtocolChanged):
        late.commit(Change(Operation("ADD FEATURE"), (ours,)), base=base)


def test_a_handler_registered_after_the_table_was_opened_is_used(place: Place) -> None:
    handlers: dict[str, Handlers] = {"now": {}}
    table = place.opened()
    table._handlers = lambda: handlers["now"]  # what headgate.domains.registered is to a lake
    place.opened().change_domains([SetDomain("acme.x", "9")])
    with pytest.raises(DomainConflict):
        table.change_domains([SetDomain("acme.x", "4")], since=1)

    handlers["now"] = {"acme.x": max_of()}

    assert table.change_domains([SetDomain("acme.x", "4")], since=1) == 3
    assert place.opened().domains() == {"acme.x": "9"}


class Forgetful:
    """A route whose answer to the first ratified proposal gets lost, twice."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer
        self._losses = 2
        self.proposed: list[bytes] = []

    def frontier(self, *, known: Version | None = None) -> Frontier:
        return self._committer.frontier(known=known)

    def follow(self, version: Version, metadata: Metadata) -> bool:
        return self._committer.follow(version, metadata)

    def decider(self, protocol: Protocol, metadata: Metadata) -> Decider:
        return self._committer.decider(protocol, metadata)

    def propose(self, txn: Transaction) -> Outcome[Commit]:
        self.proposed.append(txn.content)
        return self._forget(self._committer.propose(txn))

    def outcome_of(self, txn: Transaction) -> Outcome[Commit]:
        return self._forget(self._committer.outcome_of(txn))

    def publish(self, told: Frontier | None = None) -> Version:
        return self._committer.publish()

    def _forget(self, outcome: Outcome[Commit]) -> Outcome[Commit]:
        if isinstance(outcome, Ratified) and self._losses:
            self._losses -= 1
            return Unknown("the answer was lost")
        return outcome


def test_a_merged_commit_whose_answer_is_lost_is_neither_merged_nor_committed_twice(place: Place) -> None:
    calls = []

    def counting(base: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata) -> DomainMetadata:
        calls.append(mine)
        return max_of()(base, winner, mine)

    late = place.opened({"acme.x": counting})
    route = Forgetful(late._committer)
    late._committer = route
    place.opened().change_domains([SetDomain("acme.x", "9")])

    version = late.change_domains([SetDomain("acme.x", "4")], since=1)

    first, *after_the_race = route.proposed
    assert (version, len(calls), len(after_the_race)) == (3, 1, 2)
    assert b'"configuration":"4"' in first
    assert len(set(after_the_race)) == 1
    assert b'"configuration":"9"' in after_the_race[0]
    assert place.opened().snapshot().version == 3


@pytest.mark.parametrize("repetition", range(2))
def test_no_update_is_lost_among_threads(place: Place, repetition: int) -> None:
    """Each adds its names to what it read; with ``since`` nobody overwrites what they have not seen."""
    place.opened().change_domains([SetDomain("acme.x", "[]")])
    failures: list[HeadgateError] = []

    def work(worker: int) -> None:
        table = place.opened({"acme.x": union})
        for number in range(4):
            seen = table.snapshot()
            names = json.loads(seen.state.domains["acme.x"].configuration)
            edit = SetDomain("acme.x", json.dumps([*names, f"{worker}-{number}"]))
            try:
                table.change_domains([edit], since=seen.version)
            except HeadgateError as exc:
                failures.append(exc)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found = json.loads(place.opened().domains()["acme.x"])
    assert not failures
    assert sorted(found) == sorted(f"{worker}-{number}" for worker in range(4) for number in range(4))
    assert place.opened().snapshot().version == 2 + 16
