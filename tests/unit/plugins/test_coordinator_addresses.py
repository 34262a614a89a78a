"""To which servers a conf may lead a program that has a secret: none that only a table names (T19)."""

import pkgutil

import pytest

from headgate import coordinators
from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.errors import InvalidRequest
from headgate.plugins.coordinator_addresses import VARIABLE, require_known_server

TOKEN, PASSWORD = {"HEADGATE_TOKEN": "hgt_x"}, {"PGPASSWORD": "x"}
AWAY = (
    "https://evil.example/main",
    "http://127.0.0.1.evil.example/main",
    "https://127.0.0.1@evil.example/main",
    "https://evil.example:443/lakes/main",
    "https://[2001:db8::1]/main",
    "https://evil.example:x/main",
    "postgresql://127.0.0.1@evil.example/lake",
    "postgresql://127.0.0.1,evil.example/lake",
    "postgresql://127.0.0.1/lake?host=evil.example",
    "postgresql:///lake?hostaddr=203.0.113.5",
    "postgresql://127.0.0.1/lake?service=evil",
    "postgresql://a@evil.example@127.0.0.1/lake",
    "postgres://evil.example/lake",
    "postgresql://localhost?@evil.example/lake",
    "postgresql://localhost#@evil.example/lake",
    "postgresql://localhost:5432#@evil.example/lake",
    "postgresql://localhost#.evil.example/lake",
)
HERE = (
    "https://localhost:8443/main",
    "http://127.0.0.1:8080/main",
    "http://[::1]:8080/main",
    "postgresql://ana@127.0.0.1:5432/lake",
    "postgresql:///lake",
    "postgresql://localhost/lake?sslmode=require",
    "/data/lake",
)


@pytest.mark.parametrize("place", AWAY)
@pytest.mark.parametrize("environment", [TOKEN, PASSWORD], ids=["token", "password"])
def test_a_secret_goes_to_no_server_that_only_a_table_names(place: str, environment: dict[str, str]) -> None:
    with pytest.raises(InvalidRequest, match=VARIABLE):
        require_known_server(place, environment)


@pytest.mark.parametrize("place", HERE)
def test_this_machine_needs_no_name(place: str) -> None:
    require_known_server(place, TOKEN | PASSWORD)


@pytest.mark.parametrize("place", AWAY)
def test_who_has_no_secret_may_ask_anybody(place: str) -> None:
    require_known_server(place, {})


def test_a_server_is_named_with_its_port_if_it_has_one() -> None:
    named = {**TOKEN, VARIABLE: "https://lakes.example/ , postgresql://db.example:5432"}

    require_known_server("https://lakes.example/main", named)
    require_known_server("postgresql://ana@db.example:5432/lake", named)
    for other in (
        "https://lakes.example:8443/main",
        "http://lakes.example/main",
        "postgresql://db.example/lake",
    ):
        with pytest.raises(InvalidRequest):
            require_known_server(other, named)


def test_the_owner_that_comes_with_headgate_is_asked_by_this_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def open_ledger(place: str) -> MemoryLedger:
        asked.append(place)
        return MemoryLedger()

    monkeypatch.setattr(pkgutil, "resolve_name", lambda _: open_ledger)
    monkeypatch.setenv("HEADGATE_TOKEN", "hgt_x")
    monkeypatch.delenv(VARIABLE, raising=False)
    conf = {"lake": "https://owner.example/main"}

    with pytest.raises(InvalidRequest, match=r"HEADGATE_COMMIT_OWNERS=https://owner\.example"):
        coordinators.find("headgate", conf)
    assert asked == []

    monkeypatch.setenv(VARIABLE, "https://owner.example")
    assert coordinators.find("headgate", conf) is not None
    assert asked == [conf["lake"]]
