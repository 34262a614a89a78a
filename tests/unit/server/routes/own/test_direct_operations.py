"""An operation is answered past the framework, and exactly as the framework's own route answers it."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.wire.lake_description import BASE_PATH, CALL_ID, MAX_REQUEST_BYTES
from headgate.server import audit
from headgate.server.operations import logs
from headgate.server.routes.own import operation_routes
from tests.support.catalogs import a_catalog
from tests.support.operated_server import Answer, NamedTokens, OperatedServer, operated
from tests.support.tables import create_managed
from tests.support.waiting import until

LAKE = f"{BASE_PATH}/lakes/main"
AROUND = f"{BASE_PATH}/lakes//main"
"""The same lake, as nobody spells it: the framework finds it all the same."""

REQUESTS: dict[str, tuple[str, object, str | None]] = {
    "an answer": ("commits/tail", {"table_id": "TABLE"}, "owner"),
    "nothing there": ("commits/tail", {"table_id": "nosuch"}, "owner"),
    "nobody known": ("commits/tail", {"table_id": "TABLE"}, None),
    "not for this caller": ("commits/tail", {"table_id": "TABLE"}, "eve"),
    "for the owner alone": ("copies/write_if_changed", {}, "eve"),
    "a field that is not there": ("commits/tail", {"table": "x"}, "owner"),
    "something that changes": ("copies/write_if_changed", {}, "owner"),
}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    with a_catalog("sqlite", tmp_path_factory.mktemp("lake")) as opened:
        yield opened


@pytest.fixture(scope="module")
def table_id(catalog: Catalog) -> str:
    return str(create_managed(catalog).table_id)


@pytest.fixture(scope="module")
def server(catalog: Catalog) -> Iterator[OperatedServer]:
    with operated(catalog, authenticator=NamedTokens()) as running:
        yield running


def _ask(server: OperatedServer, lake: str, name: str, table_id: str) -> Answer:
    path, content, caller = REQUESTS[name]
    body = json.dumps(content).replace("TABLE", table_id).encode()
    headers = {CALL_ID: "c" * 32, "X-Request-Id": "one"}
    if caller is not None:
        headers["Authorization"] = f"Bearer {caller}"
    return server.ask(f"{lake}/{path}", method="POST", body=body, headers=headers)


def _shown(answer: Answer) -> tuple[int, dict[str, str], Any]:
    headers = {name: value for name, value in answer.headers.items() if name != "date"}
    return answer.status, headers, answer.json


def _written(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """What was written down of a request, but for how long it took and how its path was spelled."""
    until(lambda: any(each.name == logs.ACCESS.name for each in caplog.records))  # it follows the answer
    names = (logs.ACCESS.name, audit.AUDIT.name)
    told = [vars(each)[logs.FIELDS] for each in caplog.records if each.name in names]
    caplog.clear()
    return [
        {name: value for name, value in line.items() if name not in ("milliseconds", "path")} for line in told
    ]


@pytest.mark.parametrize("name", REQUESTS)
def test_both_ways_answer_and_write_down_the_same(
    server: OperatedServer, table_id: str, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    for logger in (audit.AUDIT, logs.ACCESS):
        caplog.set_level(logging.INFO, logger.name)
    direct = _shown(_ask(server, LAKE, name, table_id))
    first = _written(caplog)
    around = _shown(_ask(server, AROUND, name, table_id))

    assert direct == around
    assert first == _written(caplog)
    assert first[-1]["route"] == f"{BASE_PATH}/lakes/{{lake}}/{REQUESTS[name][0]}"


def test_the_framework_is_asked_for_nothing_by_the_usual_way(
    server: OperatedServer, table_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> dict[str, str]:
        raise AssertionError("a handler of the framework was called")

    monkeypatch.setattr(operation_routes, "call_headers", refuse)

    assert _ask(server, LAKE, "an answer", table_id).status == 200
    assert _ask(server, AROUND, "an answer", table_id).status == 500


def test_another_method_and_another_operation_are_the_frameworks_to_refuse(server: OperatedServer) -> None:
    owner = {"Authorization": "Bearer owner"}

    assert server.ask(f"{LAKE}/commits/tail", headers=owner).status == 405
    assert server.ask(f"{LAKE}/commits/nosuch", method="POST", body=b"{}", headers=owner).status == 404


def test_a_body_larger_than_any_commit_is_refused(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.server.routes.own.direct_operations.MAX_REQUEST_BYTES", 100)
    with operated(catalog, body_bytes=2 * MAX_REQUEST_BYTES) as server:
        refused = server.ask(f"{LAKE}/commits/tail", method="POST", body=b" " * 101)

    assert (refused.status, refused.json["code"]) == (413, "HEADGATE_BODY_TOO_LARGE")
