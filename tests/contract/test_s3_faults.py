"""Commits over an S3 server whose answers get lost, come late or lie: the truth is always reported.

Each test compares what a writer was told with what is in the log afterwards, read past the faults.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pytest

from headgate.catalog.ports.commits import InlineCommit, TableId
from headgate.errors import (
    AccessDenied,
    CommitUnknown,
    HeadgateError,
    StorageUnavailable,
    TableExists,
)
from headgate.protocol.actions import Commit, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.settings import Publish, Settings
from headgate.storage.object_store import ObjectStore
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from headgate.table.commit import publish
from headgate.table.opened_table import OpenedTable
from tests.support import s3, tables
from tests.support.s3_proxy import Fault, Proxy, Request, Script, proxy
from tests.support.simulated_catalog import SimulatedCatalog
from tests.support.waiting import PATIENCE_SECONDS

ROUTES = ("filesystem", "staged")
ONCE = [fault for fault in Fault if fault not in (Fault.PASS, Fault.FORBIDDEN, Fault.UNCONDITIONAL)]
"""Faults after which everything can be set right."""
STAGED = Settings(publish=Publish.ON_DEMAND, inline_limit_bytes=0)
_ID = TableId("t")
_PATIENT, _IMPATIENT = PATIENCE_SECONDS, 1.0
"""For how many seconds a client waits: hardly ever in vain, but for an answer that never comes."""


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    with s3.server() as url:
        yield url


@pytest.fixture(scope="module")
def wire(server_url: str) -> Iterator[Proxy]:
    with proxy(server_url) as running:
        yield running


@pytest.fixture(autouse=True)
def _as_it_was(wire: Proxy) -> Iterator[None]:
    yield
    wire.settle()


@dataclass(frozen=True)
class Place:
    """A table in a bucket of its own, seen past the faults (``direct``) and through them (``store``)."""

    wire: Proxy
    direct: ObjectStore
    store: ObjectStore
    catalog: SimulatedCatalog

    def open(self, route: str, *, past_faults: bool = False) -> OpenedTable:
        """The table, with a memory of its own."""
        store, world = self.direct if past_faults else self.store, s3.HastyWorld()
        if route == "filesystem":
            return tables.open_filesystem("s3:", store=store, world=world)
        settings = STAGED if route == "staged" else tables.ON_DEMAND
        return tables.open_managed(self.catalog, _ID, "s3:", store=store, settings=settings, world=world)

    def logged(self, route: str) -> list[Commit]:
        """Every commit from version 1 on."""
        if route != "filesystem":
            publish.publish(self.direct, self.catalog, _ID)
        found = [file_names.parse(item.path) for item in self.direct.list_from(file_names.LOG_FOLDER)]
        versions = [file.version for file in found if file and file.version > 0]
        assert versions == [Version(number + 1) for number in range(len(versions))]
        return [
            codec.decode(version, self.direct.read(file_names.published_path(version)))
            for version in versions
        ]


class MakePlace(Protocol):
    """A new place for a route; the client that meets the faults waits for so many seconds."""

    def __call__(self, route: str, waits: float = _PATIENT) -> Place: ...


def waiting_for(fault: Fault) -> float:
    return _IMPATIENT if fault is Fault.STALL else _PATIENT


@pytest.fixture
def place(server_url: str, wire: Proxy) -> MakePlace:
    def make(route: str, waits: float = _PATIENT) -> Place:
        name = s3.make_bucket(server_url)
        direct, catalog = s3.connect(server_url, name), SimulatedCatalog()
        through = s3.connect(wire.url, name, place=name, timeout_seconds=waits)
        create.write_version_0(
            direct, TableDefinition(tables.SCHEMA), managed=route != "filesystem", world=s3.HastyWorld()
        )
        if route != "filesystem":
            catalog.add_table(_ID, direct)
        return Place(wire, direct, through, catalog)

    return make


def contested(place: Place, route: str, script: Script) -> Version | HeadgateError:
    """What a writer is told that loses the race for version 1 and commits through the script's faults."""
    table = place.open(route)
    base = table.snapshot()
    winner = place.open(route, past_faults=True)
    winner.commit(tables.append_change(tables.named_file("winner")), base=base)
    change = tables.append_change(tables.named_file("ours"))
    place.wire.play(script)
    try:
        told: Version | HeadgateError = table.commit(change, base=base)
    except HeadgateError as exc:
        told = exc
    place.wire.settle()
    assert_truthful(place, route, told)
    return told


def assert_truthful(place: Place, route: str, told: Version | HeadgateError) -> None:
    """Acknowledged is in the log once, where it was said to be; refused is not; doubt may be either."""
    logged = place.logged(route)
    paths = [add.path for commit in logged for add in commit.adds]
    assert len({txn_id(commit) for commit in logged}) == len(logged)
    assert paths[0] == "winner"
    match told:
        case CommitUnknown():
            assert paths[1:] in ([], ["ours"])
        case HeadgateError():
            assert paths[1:] == []
        case version:
            assert (version, paths[1:]) == (2, ["ours"])


def txn_id(commit: Commit) -> TxnId | None:
    return commit.info.txn_id if commit.info else None


def nth(number: int, fault: Fault) -> Script:
    return lambda request: fault if request.number == number else Fault.PASS


def requests_of(place: Place, route: str) -> int:
    """How many requests a contested commit takes when nothing goes wrong."""
    seen: list[Request] = []

    def count(request: Request) -> Fault:
        seen.append(request)
        return Fault.PASS

    assert contested(place, route, count) == 2
    return len(seen)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("fault", ONCE, ids=lambda fault: fault.name)
def test_whichever_request_fails_once_the_commit_succeeds_and_is_there_once(
    place: MakePlace, route: str, fault: Fault
) -> None:
    """S3's 409, a 412 to the winner, 5xx, cut connections and timeouts, at every request of a commit."""
    total = requests_of(place(route), route)

    waits = waiting_for(fault)
    told = [contested(place(route, waits), route, nth(number, fault)) for number in range(total)]

    assert told == [2] * total
    assert total >= (6 if route == "filesystem" else 2)


@pytest.mark.parametrize("route", ROUTES)
def test_a_request_that_is_forbidden_is_reported_and_nothing_is_committed(
    place: MakePlace, route: str
) -> None:
    total = requests_of(place(route), route)

    told = [contested(place(route), route, nth(number, Fault.FORBIDDEN)) for number in range(total)]

    refused = [answer for answer in told if answer != 2]
    assert refused
    assert all(isinstance(answer, AccessDenied) for answer in refused)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("seed", range(10))
def test_whatever_fails_in_whatever_order_nobody_is_lied_to(place: MakePlace, route: str, seed: int) -> None:
    chance = random.Random(seed)
    share = chance.choice((0.3, 0.6, 0.9))
    faults = [fault for fault in Fault if fault not in (Fault.UNCONDITIONAL, Fault.STALL)]

    here = place(route)

    told = contested(
        here,
        route,
        lambda _: chance.choice(faults) if chance.random() < share else Fault.PASS,
    )

    assert_truthful(here, route, told)


def puts(*faults: Fault, then: Fault) -> Script:
    """These faults, one after the other, for the conditional puts of version 2 and nothing else."""
    waiting = list(faults)

    def script(request: Request) -> Fault:
        if not (request.is_conditional and request.path.endswith(file_names.published_path(Version(2)))):
            return Fault.PASS
        return waiting.pop(0) if waiting else then

    return script


AFTER_A_LOST_ANSWER = [
    pytest.param(puts(Fault.LOSE_REPLY, then=Fault.PASS), id="412 to the winner"),
    pytest.param(puts(Fault.FAIL_AFTERWARDS, then=Fault.PASS), id="500 and then 412"),
    pytest.param(puts(Fault.STALL, Fault.CONFLICT, then=Fault.PASS), id="timeout and then 409"),
    pytest.param(puts(Fault.LOSE_REPLY, then=Fault.FORBIDDEN), id="no reply and then 403"),
    pytest.param(puts(Fault.FAIL_AFTERWARDS, then=Fault.UNAVAILABLE), id="500 and then 503 for ever"),
]


@pytest.mark.parametrize("script", AFTER_A_LOST_ANSWER)
def test_an_own_commit_is_recognised_whatever_later_requests_are_told(
    place: MakePlace, script: Script
) -> None:
    """S3: the txnId at the version proposed decides, not the status of the last request."""
    assert contested(place("filesystem", _IMPATIENT), "filesystem", script) == 2


def test_an_own_commit_is_recognised_although_what_came_after_cannot_be_read(
    place: MakePlace,
) -> None:
    spoil = puts(Fault.LOSE_REPLY, then=Fault.PASS)
    third = file_names.published_path(Version(3))

    told = contested(
        place("filesystem"),
        "filesystem",
        lambda request: Fault.FORBIDDEN if request.path.endswith(third) else spoil(request),
    )

    assert told == 2


@dataclass(frozen=True)
class Undecidable:
    """What happens to the first put of version 2, and to puts and reads after it."""

    first: Fault
    puts: Fault
    reads: Fault
    is_there: bool

    def script(self) -> Script:
        proposed: list[Request] = []

        def script(request: Request) -> Fault:
            if request.method == "HEAD" or not request.path.endswith(file_names.published_path(Version(2))):
                return Fault.PASS
            if not request.is_conditional:
                return self.reads if proposed else Fault.PASS
            proposed.append(request)
            return self.first if len(proposed) == 1 else self.puts

        return script


UNDECIDABLE = {
    "lost and gone silent": Undecidable(Fault.LOSE_REPLY, Fault.CUT, Fault.CUT, is_there=True),
    "late and gone silent": Undecidable(Fault.ARRIVE_LATE, Fault.CUT, Fault.CUT, is_there=True),
    "lost and not to be read": Undecidable(Fault.LOSE_REPLY, Fault.PASS, Fault.FORBIDDEN, is_there=True),
    "never arrived": Undecidable(Fault.CUT, Fault.CUT, Fault.PASS, is_there=False),
    "conflicts for ever": Undecidable(Fault.CONFLICT, Fault.CONFLICT, Fault.PASS, is_there=False),
    "no answer and then 403": Undecidable(Fault.CUT, Fault.FORBIDDEN, Fault.PASS, is_there=False),
}


@pytest.mark.parametrize("case", UNDECIDABLE.values(), ids=UNDECIDABLE)
def test_what_cannot_be_decided_is_called_unknown(place: MakePlace, case: Undecidable) -> None:
    here = place("filesystem")

    told = contested(here, "filesystem", case.script())

    assert isinstance(told, CommitUnknown)
    logged = here.logged("filesystem")
    assert len(logged) == 1 + case.is_there
    assert (told.fields["txn_id"] == txn_id(logged[-1])) is case.is_there
    assert here.wire.late == []


def test_doubt_is_bounded(place: MakePlace) -> None:
    here, asked = place("filesystem"), []

    def cut(request: Request) -> Fault:
        asked.append(request)
        return Fault.CUT

    told = contested(here, "filesystem", cut)

    assert isinstance(told, StorageUnavailable)  # not even the store's honesty could be proven
    assert len(asked) < 200


def ratified(place: Place) -> dict[str, bytes]:
    """What is to be published once two commits are ratified."""
    table = place.open("inline", past_faults=True)
    for name in ("a", "b"):
        table.commit(tables.append_change(tables.named_file(name)), base=table.newest_known())
    commits = place.catalog.tail(_ID).commits
    return {
        file_names.published_path(commit.version): commit.where.content
        for commit in commits
        if isinstance(commit.where, InlineCommit)
    }


@pytest.mark.parametrize("fault", [*ONCE, Fault.FORBIDDEN], ids=lambda fault: fault.name)
def test_publishing_survives_any_fault_at_any_request(place: MakePlace, fault: Fault) -> None:
    """A put answered 412 to ourselves is no incident: the content decides."""
    for number in range(3):
        here = place("inline", waiting_for(fault))
        expected = ratified(here)
        here.wire.play(nth(number, fault))

        if fault is Fault.FORBIDDEN and number < len(expected):
            with pytest.raises(AccessDenied):
                publish.publish(here.store, here.catalog, _ID)
            assert here.catalog.tail(_ID).published == 0
        else:
            assert publish.publish(here.store, here.catalog, _ID) == 2
            assert here.catalog.tail(_ID).published == 2
        here.wire.settle()

        assert publish.publish(here.direct, here.catalog, _ID) == 2
        assert {path: here.direct.read(path) for path in expected} == expected


def test_publishing_stops_where_it_fails_and_leaves_no_gap(place: MakePlace) -> None:
    here = place("inline")
    first, second = ratified(here)
    here.wire.play(lambda request: Fault.CUT if request.path.endswith(first) else Fault.PASS)

    with pytest.raises(StorageUnavailable):
        publish.publish(here.store, here.catalog, _ID)

    assert here.catalog.tail(_ID).published == 0
    listed = {item.path for item in here.direct.list_from(file_names.LOG_FOLDER)}
    assert not {first, second} & listed


@pytest.mark.parametrize("fault", ONCE, ids=lambda fault: fault.name)
def test_a_table_is_created_once_and_its_creator_knows(server_url: str, wire: Proxy, fault: Fault) -> None:
    name = s3.make_bucket(server_url)
    store = s3.connect(wire.url, name, timeout_seconds=waiting_for(fault))
    wire.play(nth(0, fault))

    tables.create_filesystem(store)
    wire.settle()

    with pytest.raises(TableExists):
        tables.create_filesystem(store)
