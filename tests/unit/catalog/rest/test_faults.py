"""Whatever a wire loses, cuts, repeats or delays: each transaction lands once, and its client knows."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.decision import UnpublishedLimits
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import Lost, Proposal, Ratified, TableId, Unknown
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.groups import GroupId, GroupProposal, GroupRatified
from headgate.catalog.targets import CatalogTarget
from headgate.errors import CatalogUnavailable, CommitUnknown, InvalidRequest, TableNotFound
from headgate.plugins import catalogs
from headgate.protocol.actions import Version
from headgate.settings import HttpSettings, Settings
from tests.support.http_proxy import Fault, FaultyProxy, faulty_proxy, seeded
from tests.support.http_server import free_port, serving
from tests.support.proposals import fresh, inline
from tests.support.tables import create_managed

COMMITS = int(os.environ.get("HEADGATE_HTTP_COMMITS", "1200"))
CLIENTS = 4
WEIGHTS = {fault: 12 if fault is Fault.NONE else 1 for fault in Fault}
NAME = TableName("s", "t")


@dataclass(frozen=True)
class Case:
    """A table of a catalog, and a client of it behind the proxy."""

    behind: Catalog
    client: LakeCatalog
    proxy: FaultyProxy
    table_id: TableId

    def log(self) -> dict[str, list[int]]:
        """At which versions each transaction is."""
        self.proxy.deliver()
        found: dict[str, list[int]] = {}
        for row in self.behind.books(self.table_id).read().rows:
            found.setdefault(row.txn_id, []).append(row.version)
        return found


@contextmanager
def a_case(
    folder: Path, choose: Callable[[bytes], Fault], *, attempts: int = 6, answer_seconds: float = 60
) -> Iterator[Case]:
    limits = UnpublishedLimits(10**6, 10**9)
    with closing(open_catalog(folder, limits=limits)) as behind, serving(behind) as url:
        table_id = create_managed(behind, NAME).table_id
        armed = False
        with faulty_proxy(
            int(urlsplit(url).port or 0), lambda asked: choose(asked) if armed else Fault.NONE
        ) as proxy:
            http = HttpSettings(attempts=attempts, answer_seconds=answer_seconds)
            target = CatalogTarget(f"{proxy.url}/main", settings=Settings(http=http))
            with closing(catalogs.open_catalog(target)) as client:
                armed = True
                yield Case(behind, client, proxy, table_id)


def test_each_transaction_lands_once_and_its_client_knows_the_truth(tmp_path: Path) -> None:
    seed = os.environ.get("HEADGATE_SEED", "lost-answers")
    with a_case(tmp_path, seeded(seed, WEIGHTS)) as case, ThreadPoolExecutor(CLIENTS) as pool:
        each = COMMITS // CLIENTS
        told = {
            txn: verdict
            for found in pool.map(lambda number: dict(_commit_many(case, number, each)), range(CLIENTS))
            for txn, verdict in found.items()
        }
        log = case.log()

    assert set(case.proxy.seen) == set(Fault), f"seed {seed}"
    assert all(len(versions) == 1 for versions in log.values()), f"seed {seed}"
    for txn, verdict in told.items():
        match verdict:
            case Ratified(version):
                assert log.get(txn) == [version], f"{txn}, seed {seed}"
            case Lost() | CatalogUnavailable():
                assert txn not in log, f"{txn}, seed {seed}"
            case Unknown():
                pass
            case other:
                pytest.fail(f"{txn}: {other!r}, seed {seed}")
    ratified = [verdict for verdict in told.values() if isinstance(verdict, Ratified)]
    assert len(ratified) > COMMITS // 2
    assert any(isinstance(verdict, Lost) for verdict in told.values())


def _commit_many(case: Case, client: int, count: int) -> Iterator[tuple[str, object]]:
    """Commits of one client, one after the other: most to any version, some to the one after its last."""
    last = 0
    for number in range(count):
        txn = f"c{client}-{number}"
        wanted = fresh(case.table_id, last + 1, txn)
        verdict = _propose(case.client, wanted if number % 5 == 0 else replace(wanted, any_version=True))
        last = verdict.version if isinstance(verdict, Ratified) else last
        yield txn, verdict


def _propose(catalog: LakeCatalog, proposal: Proposal) -> object:
    try:
        return catalog.propose(proposal)
    except (CatalogUnavailable, InvalidRequest) as exc:
        return exc


@pytest.mark.parametrize(
    "fault",
    [fault for fault in Fault if fault not in (Fault.LOST_REQUEST, Fault.DELAYED)],
    ids=lambda fault: fault.name,
)
def test_a_commit_survives_each_fault(tmp_path: Path, fault: Fault) -> None:
    with a_case(tmp_path, _once(fault)) as case:
        assert case.client.propose(inline(case.table_id, 1, "a")) == Ratified(Version(1))
        assert case.client.propose(inline(case.table_id, 2, "b")) == Ratified(Version(2))
        assert case.log() == {"a": [1], "b": [2], **_first(case)}


def test_what_never_gets_an_answer_is_unknown_and_not_failed(tmp_path: Path) -> None:
    with a_case(tmp_path, lambda _: Fault.LOST_ANSWER, attempts=2) as case:
        answer = case.client.propose(inline(case.table_id, 1, "a"))

        assert isinstance(answer, Unknown)
        assert "commits/propose" in answer.reason
        assert case.log()["a"] == [1]


def test_a_refusal_of_the_second_attempt_says_nothing_of_the_first(tmp_path: Path) -> None:
    """The first is on its way when the second is refused, and ratified when its version has come."""
    faults = iter([Fault.DELAYED])
    with a_case(tmp_path, lambda _: next(faults, Fault.LOST_REQUEST), attempts=2) as case:
        behind = case.behind
        proposal = inline(case.table_id, 2, "late")
        faults = iter([Fault.DELAYED, Fault.TWICE_ASKED])

        answer = case.client.propose(proposal)

        assert isinstance(answer, Unknown)
        assert "beyond" in answer.reason or "refused" in answer.reason
        behind.propose(inline(case.table_id, 1, "a"))
        assert case.log()["late"] == [2]


def test_a_group_that_never_gets_an_answer_is_unknown(tmp_path: Path) -> None:
    with a_case(tmp_path, lambda _: Fault.HALF_ANSWER, attempts=2) as case:
        group = GroupProposal(GroupId("g"), (inline(case.table_id, 1, "a"),))

        assert isinstance(case.client.propose_group(group), Unknown)
        assert case.behind.propose_group(group) == GroupRatified({case.table_id: Version(1)})


def test_what_must_not_be_done_twice_is_asked_once(tmp_path: Path) -> None:
    with a_case(tmp_path, _once(Fault.LOST_ANSWER)) as case:
        with pytest.raises(CommitUnknown, match="tables/drop"):
            case.client.drop(NAME)

        assert [path for path in case.proxy.requests if path.endswith("/drop")] == [case.proxy.requests[-1]]
        with pytest.raises(TableNotFound):
            case.client.resolve(NAME)


def test_what_was_not_heard_is_asked_again_if_it_may_be(tmp_path: Path) -> None:
    with a_case(tmp_path, _once(Fault.LOST_REQUEST)) as case:
        assert case.client.resolve(NAME).table_id == case.table_id


def test_a_read_that_is_never_answered_is_a_catalog_that_cannot_be_reached(tmp_path: Path) -> None:
    with a_case(tmp_path, lambda _: Fault.LOST_ANSWER, attempts=2) as case, pytest.raises(CatalogUnavailable):
        case.client.tail(case.table_id)


def test_a_server_that_is_not_there_has_changed_nothing(tmp_path: Path) -> None:
    with closing(open_catalog(tmp_path)) as behind:
        table_id = create_managed(behind, NAME).table_id
        with serving(behind) as url:
            target = CatalogTarget(f"{url}/main", settings=Settings(http=HttpSettings(attempts=2)))
            client = catalogs.open_catalog(target)
        for ask in (
            lambda: client.propose(inline(table_id, 1, "a")),
            lambda: client.drop(NAME),
            lambda: client.tail(table_id),
        ):
            with pytest.raises(CatalogUnavailable, match="Nothing was changed"):
                ask()
    with pytest.raises(CatalogUnavailable, match="no answer"):
        catalogs.open_catalog(replace(target, place=f"http://127.0.0.1:{free_port()}/main"))


def test_an_answer_of_another_call_is_not_taken_for_this_one(tmp_path: Path) -> None:
    with a_case(tmp_path, lambda _: Fault.TWICE_ANSWERED) as case:
        for version in range(1, 20):
            assert case.client.propose(inline(case.table_id, version, f"t{version}")) == Ratified(
                Version(version)
            )
            assert case.client.tail(case.table_id).latest == version


def _once(fault: Fault) -> Callable[[bytes], Fault]:
    faults = iter([fault])
    return lambda _: next(faults, Fault.NONE)


def _first(case: Case) -> dict[str, list[int]]:
    """The transaction that made the table."""
    return {row.txn_id: [0] for row in case.behind.books(case.table_id).read().rows if row.version == 0}
