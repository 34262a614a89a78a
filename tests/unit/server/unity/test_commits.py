"""Tables made and committed to by the older routes, as Sail and older Delta clients do it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from headgate.catalog.ports.access import Principal
from headgate.catalog.ports.commits import fingerprint
from headgate.catalog.ports.directory import TableName
from headgate.clock import SystemWorld
from headgate.protocol.log import file_names
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from tests.support import served_tables
from tests.support.http_server import EverybodyIs, serving
from tests.support.lossy_http import Loss
from tests.support.served_tables import INLINE, NAME, STAGED, ServedTable
from tests.support.tables import SCHEMA
from tests.support.unity_client import Refusal, UnityClient

COMMITS = "/delta/preview/commits"
COLUMN = {
    "name": "id",
    "type_text": "bigint",
    "type_name": "LONG",
    "type_json": json.dumps({"name": "id", "type": "long", "nullable": True, "metadata": {}}),
    "position": 0,
}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedTable]:
    with served_tables.served_lake(tmp_path / "lake") as table:
        yield table


@pytest.fixture
def client(served: ServedTable) -> UnityClient:
    return UnityClient(served.url)


def status_of(ask: Any) -> tuple[int, str]:
    with pytest.raises(Refusal) as caught:
        ask()
    return caught.value.status, caught.value.code


def stage(served: ServedTable, version: int, *, txn_id: str | None = None) -> dict[str, Any]:
    """A staged commit of nothing, written as a client does; how it is proposed."""
    moment = SystemWorld().now_ms() + version
    info = {"inCommitTimestamp": moment, "timestamp": moment, "operation": "WRITE", "txnId": txn_id}
    name = f"{version:020}.{uuid4()}.json"
    path = served.log / "_staged_commits" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"commitInfo": {key: said for key, said in info.items() if said}}) + "\n")
    return {
        "version": version,
        "timestamp": moment,
        "file_name": name,
        "file_size": path.stat().st_size,
        "file_modification_timestamp": moment,
    }


def propose(served: ServedTable, client: UnityClient, commit: dict[str, Any] | None, **more: Any) -> None:
    entry = served.entry
    asked = {"table_id": entry.table_id, "table_uri": f"file://{entry.location}", **more}
    client.post(COMMITS, **asked, **({} if commit is None else {"commit_info": commit}))


def listed(served: ServedTable, client: UnityClient, **more: Any) -> tuple[list[int], int]:
    asked = {"table_id": served.entry.table_id, "table_uri": served.entry.location, "start_version": 0}
    told = client.ask("GET", COMMITS, {**asked, **more})
    return [commit["version"] for commit in told["commits"]], told["latest_table_version"]


def published(served: ServedTable) -> int:
    return served.catalog.tail(served.entry.table_id).published


def test_a_commit_is_ratified_once_and_to_repeat_it_changes_nothing(
    served: ServedTable, client: UnityClient
) -> None:
    commit = stage(served, 1)

    for _ in range(3):
        propose(served, client, commit)
    assert listed(served, client) == ([1], 1)
    propose(served, client, stage(served, 2))
    propose(served, client, commit)  # long after another one

    assert listed(served, client) == ([1, 2], 2)


def test_a_repeated_commit_is_known_when_its_file_is_published_and_gone(
    served: ServedTable, client: UnityClient
) -> None:
    commit = stage(served, 1)
    propose(served, client, commit)
    served.opened().publish()
    (served.log / "_staged_commits" / commit["file_name"]).unlink()

    propose(served, client, commit)

    assert published(served) == served.latest == 1
    assert listed(served, client) == ([1], 1)  # as a copy: Sail asks for what is published, too


def test_a_version_is_taken_once_and_none_is_left_out(served: ServedTable, client: UnityClient) -> None:
    propose(served, client, stage(served, 1))

    taken = status_of(lambda: propose(served, client, stage(served, 1)))
    beyond = status_of(lambda: propose(served, client, stage(served, 3)))

    assert taken == (409, "COMMIT_VERSION_CONFLICT")
    assert beyond == (400, "INVALID_ARGUMENT")
    assert listed(served, client) == ([1], 1)


def test_the_body_of_a_get_says_which_commits(served: ServedTable, client: UnityClient) -> None:
    for version in range(1, 5):
        propose(served, client, stage(served, version))

    assert listed(served, client, start_version=2) == ([2, 3, 4], 4)
    assert listed(served, client, start_version=2, end_version=3) == ([2, 3], 4)
    assert listed(served, client, start_version=9) == ([], 4)
    assert status_of(lambda: client.ask("GET", COMMITS))[0] == 400
    assert status_of(lambda: client.ask("GET", COMMITS, ["no object"]))[0] == 400
    assert status_of(lambda: client.ask("GET", COMMITS, {"table_id": "nothing"})) == (404, "TABLE_NOT_FOUND")


@pytest.mark.parametrize("spelling", ["{}", "{}/", "file:{}", "file://{}", "file://{}/"])
def test_one_place_has_many_spellings(served: ServedTable, client: UnityClient, spelling: str) -> None:
    assert listed(served, client, table_uri=spelling.format(served.entry.location)) == ([], 0)


def test_another_place_is_refused(served: ServedTable, client: UnityClient) -> None:
    elsewhere = f"{served.entry.location}/../other"

    assert status_of(lambda: listed(served, client, table_uri=elsewhere)) == (400, "INVALID_ARGUMENT")
    commit = stage(served, 1)
    asked = {"table_id": served.entry.table_id, "table_uri": elsewhere, "commit_info": commit}
    assert status_of(lambda: client.post(COMMITS, **asked)) == (400, "INVALID_ARGUMENT")
    assert served.latest == 0


def test_what_is_only_inline_is_staged_for_who_lists_the_log_first(
    served: ServedTable, client: UnityClient
) -> None:
    served.append(1, settings=INLINE)
    served.append(2, settings=STAGED)
    served.append(3, settings=INLINE)
    asked = {"table_id": served.entry.table_id, "start_version": 1}

    first, again = client.ask("GET", COMMITS, asked), client.ask("GET", COMMITS, asked)

    assert [commit["version"] for commit in first["commits"]] == [1, 2, 3]
    assert [commit["file_name"] for commit in first["commits"]] == [
        commit["file_name"] for commit in again["commits"]
    ]
    held = {commit.version: commit.sha256 for commit in served.catalog.tail(served.entry.table_id).commits}
    for commit in first["commits"]:
        content = (served.log / "_staged_commits" / commit["file_name"]).read_bytes()
        assert len(content) == commit["file_size"]
        assert fingerprint(content) == held[commit["version"]]


def test_a_report_of_what_is_published_is_believed_as_far_as_it_is_true(
    served: ServedTable, client: UnityClient
) -> None:
    commit = stage(served, 1)
    propose(served, client, commit)

    assert status_of(lambda: propose(served, client, None, latest_backfilled_version=1))[0] == 400
    assert published(served) == 0
    content = (served.log / "_staged_commits" / commit["file_name"]).read_bytes()
    served.published_file(1).write_bytes(content)
    for _ in range(2):
        propose(served, client, None, latest_backfilled_version=1)
    assert published(served) == 1
    assert status_of(lambda: propose(served, client, None, latest_backfilled_version=2))[0] == 400
    assert status_of(lambda: propose(served, client, None))[0] == 400
    propose(served, client, stage(served, 2), latest_backfilled_version=1)
    assert (published(served), served.latest) == (1, 2)


@pytest.mark.parametrize(
    "change",
    [
        {"file_name": "../../00000000000000000000.json"},
        {"file_name": "00000000000000000002.6f1c24a0-0000-4000-8000-000000000000.json"},
        {"file_name": "00000000000000000001.6f1c24a0-0000-4000-8000-000000000000.json"},
        {"file_name": ""},
        {"version": 0},
        {"version": -1},
        {"version": 2**70},
        {"timestamp": 0},
        {"file_size": -1},
    ],
    ids=str,
)
def test_what_is_no_commit_is_refused(
    served: ServedTable, client: UnityClient, change: dict[str, Any]
) -> None:
    commit = {**stage(served, 1), **change}

    assert status_of(lambda: propose(served, client, commit)) == (400, "INVALID_ARGUMENT")
    assert served.latest == 0


def test_a_table_is_staged_written_and_named(served: ServedTable, client: UnityClient) -> None:
    staged = client.post("/staging-tables", name="made", catalog_name="main", schema_name="s1")
    place = staged["staging_location"].removeprefix("file://")
    create.write_version_0(locate(place), TableDefinition(SCHEMA), managed=True, world=SystemWorld())
    asked = {
        "name": "made", "catalog_name": "main", "schema_name": "s1", "table_type": "MANAGED",
        "data_source_format": "DELTA", "columns": [], "storage_location": f"file:{place}/",
    }  # fmt: skip

    first = client.post("/tables", **asked)
    again = client.post("/tables", **asked)

    assert first["table_id"] == again["table_id"] == staged["id"]
    assert first["properties"]["delta.feature.catalogManaged"] == "supported"
    assert [column["name"] for column in first["columns"]] == ["id", "writer"]
    assert status_of(lambda: client.post("/tables", **{**asked, "name": "t"})) == (
        409,
        "TABLE_ALREADY_EXISTS",
    )
    again = {"name": "made", "catalog_name": "main", "schema_name": "s1"}
    assert status_of(lambda: client.post("/staging-tables", **again)) == (409, "TABLE_ALREADY_EXISTS")
    nowhere = {**again, "schema_name": "nowhere"}
    assert status_of(lambda: client.post("/staging-tables", **nowhere)) == (404, "SCHEMA_NOT_FOUND")


@pytest.mark.parametrize("lost", [False, True])
def test_a_table_that_is_named_first_gets_its_version_0_from_the_server(
    served: ServedTable, client: UnityClient, lost: bool
) -> None:
    staged = client.post("/staging-tables", name="made", catalog_name="main", schema_name="s1")
    asked = {
        "name": "made", "catalog_name": "main", "schema_name": "s1", "table_type": "MANAGED",
        "columns": [COLUMN, {**COLUMN, "name": "day", "position": 1, "partition_index": 0,
                             "type_json": COLUMN["type_json"].replace("id", "day")}],
        "storage_location": staged["staging_location"], "comment": "made elsewhere",
    }  # fmt: skip

    if lost:
        served.way.lose("POST", "/tables", Loss.ERROR)
        with pytest.raises(Refusal):
            client.post("/tables", **asked)
    made = client.post("/tables", **asked)

    assert made["table_id"] == staged["id"]
    assert made["properties"]["io.unitycatalog.tableId"] == staged["id"]
    assert made["properties"]["delta.feature.catalogManaged"] == "supported"
    assert made["comment"] == "made elsewhere"
    assert [column["partition_index"] for column in made["columns"]] == [None, 0]
    told = served.catalog.load(TableName("s1", "made")).tail.description
    assert told is not None
    assert told.metadata.configuration["io.unitycatalog.tableId"] == staged["id"]
    assert [str(entry.name) for entry in served.catalog.tables()] == ["s1.made", "s1.t"]


@pytest.mark.parametrize(
    "change",
    [
        {"table_type": "VIEW"},
        {"table_type": "EXTERNAL", "storage_location": None},
        {"table_type": "EXTERNAL", "storage_location": "file:///nowhere/at/all"},
        {"data_source_format": "PARQUET"},
        {"columns": []},
        {"columns": [{**COLUMN, "type_json": "{"}]},
        {"columns": [{**COLUMN, "type_json": '{"name":"id"}'}]},
        {"storage_location": None},
        {"storage_location": "file:///etc"},
        {"storage_location": "s3://bucket/elsewhere"},
    ],
    ids=str,
)
def test_what_cannot_be_a_table_here_is_refused(
    served: ServedTable, client: UnityClient, change: dict[str, Any]
) -> None:
    staged = client.post("/staging-tables", name="made", catalog_name="main", schema_name="s1")
    asked = {
        "name": "made", "catalog_name": "main", "schema_name": "s1", "table_type": "MANAGED",
        "columns": [COLUMN], "storage_location": staged["staging_location"],
    }  # fmt: skip

    assert status_of(lambda: client.post("/tables", **{**asked, **change})) == (400, "INVALID_ARGUMENT")
    assert [str(entry.name) for entry in served.catalog.tables()] == ["s1.t"]


def test_who_did_not_reserve_a_place_cannot_name_it(served: ServedTable, client: UnityClient) -> None:
    staged = client.post("/staging-tables", name="made", catalog_name="main", schema_name="s1")
    served.catalog.granting.grant("create", "s1", "ada")
    asked = {
        "name": "made", "catalog_name": "main", "schema_name": "s1", "table_type": "MANAGED",
        "columns": [COLUMN], "storage_location": staged["staging_location"],
    }  # fmt: skip

    with serving(served.catalog, authenticator=EverybodyIs(Principal("ada"))) as url:
        ada = UnityClient(url)
        assert status_of(lambda: ada.post("/tables", **asked)) == (404, "TABLE_NOT_FOUND")
        told = {"table_id": served.entry.table_id, "start_version": 0}
        assert status_of(lambda: ada.ask("GET", COMMITS, told)) == (404, "TABLE_NOT_FOUND")
        served.catalog.granting.grant("read", str(NAME), "ada")
        assert ada.ask("GET", COMMITS, told)["latest_table_version"] == 0
        status, code = status_of(lambda: propose(served, ada, stage(served, 1)))
    assert (status, code) == (
        400,
        "INVALID_ARGUMENT",
    )  # what is not 400, clients in Java try again for minutes
    assert served.latest == 0


def test_the_folder_of_staged_commits_is_there_before_anybody_asks(
    served: ServedTable, client: UnityClient
) -> None:
    staged = client.post("/staging-tables", name="made", catalog_name="main", schema_name="s1")

    assert Path(staged["staging_location"].removeprefix("file://"), file_names.STAGED_FOLDER).is_dir()
