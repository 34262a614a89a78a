"""Short histories with faults, on both databases; ``make linear`` makes long ones."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.ports.commits import TableId, Tail
from headgate.catalog.ports.coordinator import CoordinatedTable, GetCommitsResponse
from headgate.protocol.actions import Version
from tests.linear.run import HTTP, Plan, run
from tests.support.http_proxy import Fault

SEED = os.environ.get("HEADGATE_LINEAR_SEED", "short")
SHORT = Plan("sqlite", SEED, operations=1_200, processes=8, tables=2, kills=2)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory where there is one: a kill is no power cut, so syncing would only take time."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


@pytest.mark.parametrize("database", ["sqlite", "postgresql", "http-sqlite", "http-postgresql"])
def test_a_short_history_with_faults_is_linearizable(database: str, place: Path) -> None:
    result = run(replace(SHORT, database=database), place)

    assert result.violations == (), f"seed {SEED}"
    assert result.damaged == (), f"seed {SEED}"
    assert result.operations >= SHORT.operations
    assert 1 <= result.kills <= SHORT.kills
    assert set(result.faults) == ({fault.name for fault in Fault} if database.startswith(HTTP) else set())


@pytest.mark.parametrize("database", ["sqlite", "postgresql", "http-sqlite", "http-postgresql"])
def test_a_short_history_of_groups_is_serializable(database: str, place: Path) -> None:
    result = run(replace(SHORT, database=database, tables=4, groups=True), place)

    assert result.violations == (), f"seed {SEED}"
    assert result.damaged == (), f"seed {SEED}"
    assert result.kinds["2 read 1 written done"] > 10


@pytest.mark.parametrize("database", ["sqlite", "postgresql", "http-sqlite", "http-postgresql"])
def test_a_short_history_of_a_commit_owner_is_linearizable(database: str, place: Path) -> None:
    """Two processes on one table, one of which is killed, over an owner in each database, and behind HTTP."""
    plan = Plan(database, SEED, operations=160, processes=2, tables=1, kills=2, owned=True)

    result = run(plan, place)

    assert result.violations == (), f"seed {SEED}"
    assert result.damaged == (), f"seed {SEED}"
    assert result.kinds["append done"] > 20
    assert 1 <= result.kills <= plan.kills


def test_an_owner_that_sometimes_answers_from_the_past_is_found_out(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, calls = LedgerCoordinator.get_commits, iter(range(10**9))

    def stale(
        owner: LedgerCoordinator, table: CoordinatedTable, **bounds: Version | None
    ) -> GetCommitsResponse:
        found = right(owner, table, **bounds)
        if next(calls) % 4 or not found.commits:
            return found
        return GetCommitsResponse(found.commits[:-1], found.commits[-1].version - 1)  # type: ignore[arg-type]

    monkeypatch.setattr(LedgerCoordinator, "get_commits", stale)

    result = run(Plan("sqlite", SEED, operations=200, processes=2, tables=1, kills=0, owned=True), place)

    assert "real-time" in {violation.rule for violation in result.violations}


def test_a_catalog_that_ignores_what_was_only_read_is_found_out(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The probes write one of two tables, having read both."""
    right = Catalog.propose_group
    monkeypatch.setattr(
        Catalog, "propose_group", lambda catalog, group: right(catalog, replace(group, read_only={}))
    )

    result = run(replace(SHORT, operations=800, tables=2, kills=0, groups=True), place)

    assert {violation.rule for violation in result.violations} & {"write-skew", "stale"}


def test_a_catalog_that_sometimes_answers_from_the_past_is_found_out(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one would that reads from a replica: the processes inherit the fault when they are forked."""
    right, calls = Catalog.tail, iter(range(10**9))

    def stale(catalog: Catalog, table_id: TableId) -> Tail:
        tail = right(catalog, table_id)
        if next(calls) % 5 or tail.latest == tail.published:
            return tail
        return replace(tail, latest=Version(tail.latest - 1), commits=tail.commits[:-1])

    monkeypatch.setattr(Catalog, "tail", stale)

    result = run(replace(SHORT, operations=200, kills=0), place)

    assert "real-time" in {violation.rule for violation in result.violations}
