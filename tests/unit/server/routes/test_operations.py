"""Probes tell nothing but yes or no; metrics count what happened, for who may know."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.targets import DATABASE_FILE
from headgate.errors import UserError
from tests.support import proposals
from tests.support.catalogs import a_catalog
from tests.support.operated_server import NamedTokens, OperatedServer, operated
from tests.support.tables import create_managed


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with a_catalog("sqlite", tmp_path) as opened:
        yield opened


def _metrics(server: OperatedServer, **headers: str) -> dict[str, float]:
    page = server.ask("/metrics", headers=headers)
    assert page.status == 200
    lines = (line.rpartition(" ") for line in page.body.decode().splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def test_probes_need_no_token_and_tell_nothing(catalog: Catalog) -> None:
    with operated(catalog, authenticator=NamedTokens()) as server:
        health, ready = server.ask("/health"), server.ask("/ready")

    assert (health.status, health.json) == (200, {"status": "alive"})
    assert (ready.status, ready.json) == (200, {"status": "ready"})


def test_a_server_whose_database_is_gone_lives_and_is_not_ready(catalog: Catalog, tmp_path: Path) -> None:
    with operated(catalog) as server:
        (tmp_path / DATABASE_FILE).rename(tmp_path / "elsewhere")
        health, ready = server.ask("/health"), server.ask("/ready")
        (tmp_path / "elsewhere").rename(tmp_path / DATABASE_FILE)
        again = server.ask("/ready")

    assert (health.status, ready.status, again.status) == (200, 503, 200)
    assert str(tmp_path) not in ready.body.decode()


@pytest.mark.parametrize(
    ("settings", "status"),
    [({}, 200), ({"host": "0.0.0.0"}, 401), ({"host": "10.0.0.1"}, 401), ({"behind_proxy": True}, 401)],
)
def test_metrics_are_for_known_callers_unless_nobody_else_is_there(
    catalog: Catalog, settings: dict[str, object], status: int
) -> None:
    with operated(catalog, authenticator=NamedTokens(), **settings) as server:
        assert server.ask("/metrics").status == status
        assert server.ask("/metrics", headers={"Authorization": "Bearer ada"}).status == 200


def test_proposals_are_counted_by_what_became_of_them(catalog: Catalog) -> None:
    table_id = create_managed(catalog).table_id
    with operated(catalog) as server:
        ours = server.lake.catalog_for("owner")
        ours.propose(proposals.inline(table_id, 1, "a"))
        ours.propose(proposals.inline(table_id, 1, "a"))
        ours.propose(proposals.inline(table_id, 1, "b"))
        with pytest.raises(UserError):
            ours.propose(proposals.inline(table_id, 9, "c"))
        found = _metrics(server)

    counted = {
        outcome: found.get(f'headgate_proposals_total{{lake="main",outcome="{outcome}"}}')
        for outcome in ("ratified", "conflict", "refused", "unknown", "failed")
    }
    assert counted == {"ratified": 2, "conflict": 1, "refused": 1, "unknown": None, "failed": None}
    assert found['headgate_proposal_seconds_count{lake="main"}'] == 4


def test_requests_are_counted_by_route_and_not_by_what_callers_choose(catalog: Catalog) -> None:
    with operated(catalog) as server:
        for number in range(20):
            server.ask(f"/nowhere/{number}")
            server.ask(f"/api/headgate/v1/lakes/lake{number}/events")
            server.ask("/health", method=f"X{number}")
        found = _metrics(server)

    counts = {name: value for name, value in found.items() if name.startswith("headgate_requests_total")}
    assert counts == {
        'headgate_requests_total{method="GET",route="none",status="404"}': 20,
        'headgate_requests_total{method="GET",route="/api/headgate/v1/lakes/{lake}/events",status="404"}': 20,
        'headgate_requests_total{method="OTHER",route="none",status="405"}': 20,
    }
    assert found["headgate_requests_in_flight"] == 1


def test_each_application_counts_for_itself(catalog: Catalog) -> None:
    with operated(catalog) as one, operated(catalog) as other:
        one.ask("/health")
        assert not any("/health" in name for name in _metrics(other))
