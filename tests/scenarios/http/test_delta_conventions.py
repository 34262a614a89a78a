"""What clients of the Delta API rely on without saying so: one test for each trap."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import TableId
from headgate.server.delta_api import DeltaApiSettings
from tests.support import delta_api
from tests.support.delta_api import (
    BASE,
    EXHAUSTED,
    INVALID,
    TAKEN,
    DeltaApi,
    DeltaTable,
    backfill,
    error_of,
    now_ms,
    publish_file,
    stage_file,
)
from tests.support.http_server import serving

REQUIRED = {
    "etag",
    "table-type",
    "table-uuid",
    "location",
    "created-time",
    "updated-time",
    "columns",
    "properties",
    "partition-columns",
}


@pytest.mark.parametrize("header", [None, "Bearer", "Bearer anything"])
def test_any_token_will_do_where_nobody_is_asked(table: DeltaTable, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}

    assert httpx.get(table.api.url + BASE + table.path, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/catalogs/unity/schemas/sales/tables/my%5Ftable",
        "/catalogs/un%69ty/schemas/s%61les/tables/my_table",
        "/catalogs/UNITY/schemas/Sales/tables/MY_table",
        "/catalogs/unity/schemas/sales/tables/my_table/",
    ],
)
def test_segments_are_decoded(api: DeltaApi, path: str) -> None:
    api.create("my_table")

    assert api.get(path).status_code == 200


@pytest.mark.parametrize("dot", ["%2E", "%1F", "."])
def test_a_dot_is_a_dot_however_it_is_sent(table: DeltaTable, dot: str) -> None:
    answered = table.api.get(f"/catalogs/unity/schemas/sales/tables/a{dot}b")

    assert error_of(answered) == INVALID
    assert "'a.b'" in answered.json()["error"]["message"]


@pytest.mark.parametrize("name", ["%00", "%2F", "..%2F..", "%ff", "a%0Ab", "x" * 300, "'; DROP TABLE tables"])
def test_odd_names_are_refused_and_nothing_breaks(table: DeltaTable, name: str) -> None:
    assert table.api.get(f"/catalogs/unity/schemas/sales/tables/{name}").status_code in (400, 404, 405)
    assert table.load()["latest-table-version"] == 0


def nulls(value: Any) -> bool:
    """Whether there is a null anywhere."""
    if isinstance(value, dict):
        return any(map(nulls, value.values()))
    return any(map(nulls, value)) if isinstance(value, list) else value is None


def test_answers_have_what_clients_require_and_no_nulls(table: DeltaTable) -> None:
    for _ in range(2):
        loaded = table.load()
        assert loaded["metadata"].keys() >= REQUIRED
        assert loaded.keys() >= {"commits", "latest-table-version"}
        assert not nulls(loaded)
        assert all(isinstance(value, str) for value in loaded["metadata"]["properties"].values())
        assert loaded["metadata"]["properties"]["delta.feature.catalogManaged"] == "supported"
        table.commit(loaded["latest-table-version"] + 1)


def test_unknown_members_of_a_request_are_ignored(table: DeltaTable) -> None:
    staged = stage_file(table.location, 1).update

    answered = table.update({**staged, "from-the-future": True})

    assert answered.status_code == 200


def test_config_names_what_can_be_asked(api: DeltaApi) -> None:
    told = api.get("/config", params={"catalog": "unity", "protocol-versions": "1.0"}).json()

    assert told["protocol-version"] == "1.0"
    assert "POST /v1/catalogs/{catalog}/schemas/{schema}/tables/{table}" in told["endpoints"]
    assert "POST /v1/catalogs/{catalog}/transactions/commit" in told["endpoints"]
    assert not any("temporary-path-credentials" in endpoint for endpoint in told["endpoints"])


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"catalog": "unity"}, 200),
        ({"catalog": "unity", "protocol-versions": "1.1,2.3"}, 200),
        ({"catalog": "unity", "protocol-versions": "2.3"}, 400),
        ({"catalog": "unity", "protocol-versions": "one"}, 400),
        ({"catalog": "unity", "protocol-versions": ""}, 400),
        ({"protocol-versions": "1.0"}, 400),
        ({"catalog": "unserved", "protocol-versions": "1.0"}, 404),
    ],
)
def test_config_agrees_on_a_version(api: DeltaApi, query: dict[str, str], status: int) -> None:
    assert api.get("/config", params=query).status_code == status


@pytest.mark.parametrize("body", [b"", b"{", b"nonsense", b"\xff", b'{"name": 7}', b"[]"])
def test_a_body_that_is_none_is_refused_in_the_dialect_of_the_api(api: DeltaApi, body: bytes) -> None:
    answered = api.http.post(
        f"{api.url}{BASE}{api.schema_path}/staging-tables",
        content=body,
        headers={"Content-Type": "application/json"},
    )

    assert error_of(answered) == INVALID


def test_every_operation_that_is_advertised_is_served(table: DeltaTable) -> None:
    told = table.api.get("/config", params={"catalog": "unity"}).json()
    paths = httpx.get(f"{table.api.url}/schema/openapi.json").json()["paths"]
    served = {
        f"{method.upper()} {path.removeprefix('/api/2.1/unity-catalog/delta')}"
        for path, methods in paths.items()
        for method in methods
    }

    assert set(told["endpoints"]) <= served | {e for e in told["endpoints"] if e.startswith("HEAD")}


def test_strictly_there_are_no_extensions(strict: DeltaApi) -> None:
    table = strict.create()
    told = strict.get("/config", params={"catalog": "unity"}).json()
    assert told.keys() == {"endpoints", "protocol-version"}
    assert not any("transactions" in endpoint for endpoint in told["endpoints"])
    for path in ("/catalogs/unity/transactions/commit", "/catalogs/unity/tables/load"):
        assert strict.post(path, {"table-changes": [], "tables": []}).status_code == 404
    content = delta_api.commit_content(now_ms() + 1, txn_id="x").decode()
    inline = {"action": "add-commit", "commit": {"version": 1, "timestamp": 1, "content": content}}
    assert error_of(table.update(inline)) == INVALID
    table.commit(1)
    taken = table.update(stage_file(table.location, 1).update)
    assert error_of(taken) == TAKEN
    assert taken.json()["error"].keys() == {"message", "type", "code"}


def test_strictly_ten_commits_may_wait_to_be_published(strict: DeltaApi) -> None:
    table = strict.create()
    staged = [table.commit(version) for version in range(1, 11)]
    eleventh = stage_file(table.location, 11)

    assert error_of(table.update(eleventh.update)) == EXHAUSTED
    assert table.update(staged[9].update).status_code == 200  # a replay needs no room
    assert len(table.load()["commits"]) == 10
    for each in staged[:6]:
        publish_file(table.location, each)
    assert table.update(eleventh.update, backfill(6)).status_code == 200
    for version in range(12, 17):
        staged.append(table.commit(version))
    assert error_of(table.update(stage_file(table.location, 17).update)) == EXHAUSTED
    for each in (*staged[6:10], eleventh, *staged[10:]):
        publish_file(table.location, each)
    assert table.update(backfill(16)).status_code == 200
    for version in range(17, 27):
        table.commit(version)
    assert error_of(table.update(stage_file(table.location, 27).update)) == EXHAUSTED


def test_nobody_is_told_to_publish_by_a_server_that_does_so_itself(
    table: DeltaTable, catalog: Catalog
) -> None:
    for version in range(1, 26):
        table.commit(version)
        assert len(table.load()["commits"]) <= DeltaApiSettings().unpublished_limit
    assert catalog.tail(TableId(table.uuid)).published >= 15


def test_a_place_with_odd_letters_is_a_url(tmp_path: Path) -> None:
    from tests.support.catalogs import a_catalog  # noqa: PLC0415

    with a_catalog("sqlite", tmp_path / "a lake with 100% ü") as catalog:
        catalog.create_schema("sales")
        with serving(catalog, name="unity") as url:
            table = DeltaApi(url).create()
            assert table.location.isascii()
            assert " " not in table.location
            table.commit(1)
            assert table.load()["latest-table-version"] == 1
