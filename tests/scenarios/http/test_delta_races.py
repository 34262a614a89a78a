"""What nobody tests: processes that race, die, publish twice, drop and rename under each other's feet."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import InlineCommit, Proposal, Ratified, TableId
from headgate.catalog.ports.directory import TableName
from headgate.protocol.actions import TxnId, Version
from headgate.storage.locate import locate
from headgate.table.commit import publish
from tests.support import delta_api, postgresql
from tests.support.delta_api import (
    NO_TABLE,
    NOT_MET,
    TAKEN,
    DeltaApi,
    DeltaTable,
    error_of,
    file_path,
    now_ms,
    publish_file,
    published,
    stage_file,
)
from tests.support.http_server import serving
from tests.support.waiting import PATIENCE_SECONDS

WORKERS, COMMITS = 4, 6
ROOT = Path(__file__).parents[3]


def start(module: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """What these come to, begun at the same moment."""
    gate = threading.Barrier(len(works))

    def run(work: Callable[[], Any]) -> Any:
        gate.wait(PATIENCE_SECONDS)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


def inline(table: DeltaTable, version: int, txn_id: str) -> Proposal:
    content = delta_api.commit_content(now_ms() + version, txn_id=txn_id)
    return Proposal(TableId(table.uuid), Version(version), TxnId(txn_id), InlineCommit(content))


def test_processes_that_race_agree_on_one_history(table: DeltaTable, catalog: Catalog) -> None:
    workers = [
        start(
            "tests.support.delta_api_worker",
            table.api.url,
            table.name,
            table.uuid,
            table.location,
            str(COMMITS),
        )
        for _ in range(WORKERS)
    ]
    notes: list[dict[str, Any]] = []
    for worker in workers:
        said, _ = worker.communicate(timeout=600)
        assert worker.returncode == 0
        notes += map(json.loads, said.splitlines())

    commits = [note for note in notes if note["what"] == "commit"]
    ratified = {note["version"]: note["file"] for note in commits}
    assert len(commits) == len(ratified) == WORKERS * COMMITS  # nobody was told what another was told
    assert sorted(ratified) == list(range(1, WORKERS * COMMITS + 1))
    table_id = TableId(table.uuid)
    lost = {note["file"] for note in notes if note["what"] == "lost"}
    assert catalog.publications.ratified_names(table_id, lost | set(ratified.values())) == set(
        ratified.values()
    )
    assert all(note["statuses"] == [409] for note in notes if note["what"] == "lost")
    # In real time: who began after a commit was acknowledged sees it, and comes after it.
    for commit in commits:
        for note in notes:
            if note["began"] > commit["ended"]:
                assert note["version"] >= commit["version"] + (note["what"] == "commit")
    publish.publish(locate(table.location), catalog, table_id)
    for version, name in ratified.items():
        staged = file_path(table.location) / "_delta_log/_staged_commits" / name
        assert published(table.location, version).read_bytes() == staged.read_bytes()


def test_one_request_sent_by_many_at_once_is_one_commit(table: DeltaTable) -> None:
    staged = stage_file(table.location, 1)

    answers = at_once(*[lambda: httpx_update(table, staged) for _ in range(8)])

    assert [answered.status_code for answered in answers] == [200] * 8
    assert table.load()["latest-table-version"] == 1


def test_of_many_for_one_version_one_wins(table: DeltaTable) -> None:
    files = [stage_file(table.location, 1) for _ in range(8)]

    answers = at_once(*[lambda each=each: httpx_update(table, each) for each in files])

    won = [each for each, answered in zip(files, answers, strict=True) if answered.status_code == 200]
    assert len(won) == 1
    assert [error_of(answered) for answered in answers if answered.status_code != 200] == [TAKEN] * 7
    assert [commit["file-name"] for commit in table.load()["commits"]] == [won[0].file_name]


def httpx_update(table: DeltaTable, staged: delta_api.StagedFile) -> httpx.Response:
    """An update by a client of its own."""
    own = DeltaTable(DeltaApi(table.api.url), table.name, table.uuid, table.location)
    return own.update(staged.update)


@dataclass(frozen=True)
class Place:
    """Where a catalog is that several processes open."""

    database: str
    folder: Path

    def open(self) -> Catalog:
        if self.database == "sqlite":
            return open_catalog(self.folder)
        return postgresql.open_shared_catalog(
            self.database, warehouse=str(self.folder), settings=postgresql.SMALL
        )

    @contextmanager
    def dying_server(self, deadly: str) -> Iterator[DeltaApi]:
        """A server in a process that dies as soon as its catalog has done this."""
        server = start("tests.support.dying_catalog", self.database, str(self.folder), deadly)
        assert server.stdout is not None
        assert server.stdin is not None
        try:
            yield DeltaApi(server.stdout.readline().strip())
            assert server.wait(PATIENCE_SECONDS) == -signal.SIGKILL
        finally:
            server.kill()
            server.wait(PATIENCE_SECONDS)
            server.stdout.close()
            server.stdin.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "sqlite":
        yield Place("sqlite", tmp_path / "lake")
        return
    with postgresql.server().database() as name:
        yield Place(postgresql.server().url(name), tmp_path / "lake")


def test_a_server_killed_between_ratification_and_answer_loses_and_doubles_nothing(place: Place) -> None:
    with closing(place.open()) as catalog:
        catalog.create_schema("sales")
        with place.dying_server("propose") as dying:
            table = dying.create()
            staged = stage_file(table.location, 1)
            with pytest.raises(httpx.HTTPError):
                table.update(staged.update)
        with serving(catalog, name="unity") as again:
            table.api = DeltaApi(again)
            assert table.update(staged.update).status_code == 200
            assert error_of(table.update(stage_file(table.location, 1).update)) == TAKEN
            table.commit(2)
            assert [commit["version"] for commit in table.load()["commits"]] == [2, 1]


def test_a_server_killed_after_a_transaction_was_ratified_has_made_it_once(place: Place) -> None:
    with closing(place.open()) as catalog:
        catalog.create_schema("sales")
        with place.dying_server("propose_group") as dying:
            tables = [dying.create(name) for name in ("orders", "stock")]
            changes = [
                {
                    "identifier": {"schema": "sales", "name": table.name},
                    "requirements": [{"type": "assert-table-uuid", "uuid": table.uuid}],
                    "updates": [stage_file(table.location, 1).update],
                }
                for table in tables
            ]
            with pytest.raises(httpx.HTTPError):
                dying.post("/catalogs/unity/transactions/commit", {"table-changes": changes})
        with serving(catalog, name="unity") as again:
            answered = DeltaApi(again).post("/catalogs/unity/transactions/commit", {"table-changes": changes})
            assert answered.status_code == 200
            latest = [each["table"]["latest-table-version"] for each in answered.json()["tables"]]
            assert latest == [1, 1]


def test_a_server_killed_after_a_table_was_registered_has_made_it_once(place: Place) -> None:
    with closing(place.open()) as catalog:
        catalog.create_schema("sales")
        with place.dying_server("register") as dying:
            staging = dying.stage("orders")
            delta_api.write_version_0(staging)
            body = delta_api.create_body("orders", staging)
            with pytest.raises(httpx.HTTPError):
                dying.post(f"{dying.schema_path}/tables", body)
        with serving(catalog, name="unity") as again:
            answered = DeltaApi(again).post(f"{dying.schema_path}/tables", body)
            assert answered.status_code == 200
            assert answered.json()["metadata"]["table-uuid"] == staging["table-id"]
            assert len(catalog.tables("sales")) == 1


def test_a_server_killed_between_publication_and_its_record_publishes_again(place: Place) -> None:
    with closing(place.open()) as catalog:
        catalog.create_schema("sales")
        with place.dying_server("mark_published") as dying:
            table = dying.create()
            proposal = inline(table, 1, "held")
            assert catalog.propose(proposal) == Ratified(Version(1))
            with pytest.raises(httpx.HTTPError):
                table.load()
        with serving(catalog, name="unity") as again:
            table.api = DeltaApi(again)
            assert table.load()["commits"] == []
            assert isinstance(proposal.content, InlineCommit)
            assert published(table.location, 1).read_bytes() == proposal.content.content


def test_a_client_that_died_before_it_published_holds_nobody_up(table: DeltaTable) -> None:
    dead = stage_file(table.location, 1)
    table.update(dead.update).raise_for_status()  # and is never heard of again

    other = DeltaTable(DeltaApi(table.api.url), table.name, table.uuid, table.location)
    loaded = other.load()
    (listed,) = loaded["commits"]
    assert listed["file-name"] == dead.file_name
    publish_file(table.location, dead)  # as a reader does for others
    other.commit(2, backfilled=1)
    assert [commit["version"] for commit in other.load()["commits"]] == [2]


def test_publishers_at_once_publish_each_version_once(table: DeltaTable, catalog: Catalog) -> None:
    contents = {}
    for version in range(1, 10):
        if version % 3:
            proposal = inline(table, version, f"txn-{version}")
            assert catalog.propose(proposal) == Ratified(Version(version))
            assert isinstance(proposal.content, InlineCommit)
            contents[version] = proposal.content.content
        else:
            staged = stage_file(table.location, version)
            answered = table.update(staged.update, **{"inline-commits": "true"})
            assert answered.status_code == 200, answered.text
            contents[version] = staged.content
    assert catalog.tail(TableId(table.uuid)).published == 0

    answers = at_once(
        *[lambda: DeltaTable(DeltaApi(table.api.url), "orders", table.uuid, table.location).load()] * 4,
        lambda: publish.publish(locate(table.location), catalog, TableId(table.uuid)),
    )

    for answered in answers[:4]:
        assert answered["latest-table-version"] == 9
        assert answered["commits"] == []
    assert {v: published(table.location, v).read_bytes() for v in contents} == contents


def test_inline_commits_made_while_somebody_loads_are_never_seen_before_they_are_files(
    table: DeltaTable, catalog: Catalog
) -> None:
    stop, problems = threading.Event(), list[str]()

    def write() -> None:
        try:
            for version in range(1, 31):
                assert catalog.propose(inline(table, version, f"txn-{version}")) == Ratified(Version(version))
        except Exception as exc:
            problems.append(repr(exc))
        finally:
            stop.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not stop.is_set():
        loaded = table.load()
        latest, listed = loaded["latest-table-version"], [each["version"] for each in loaded["commits"]]
        assert listed == list(range(latest, latest - len(listed), -1))
        assert all(published(table.location, v).exists() for v in range(1, latest - len(listed) + 1))
        assert all("file-name" in each for each in loaded["commits"])
    thread.join(PATIENCE_SECONDS)
    assert problems == []
    assert table.load()["latest-table-version"] == 30


def test_a_commit_and_a_drop_at_once(table: DeltaTable, catalog: Catalog) -> None:
    staged = stage_file(table.location, 1)

    answered, _ = at_once(
        lambda: httpx_update(table, staged),
        lambda: httpx.delete(f"{table.api.url}{delta_api.BASE}{table.path}", timeout=PATIENCE_SECONDS),
    )

    back = catalog.undrop(TableName("sales", "orders"))
    latest = catalog.tail(back.table_id).latest
    if answered.status_code == 200:
        assert latest == 1
    else:
        assert error_of(answered) == NO_TABLE
        assert latest == 0


def test_a_commit_and_a_rename_at_once(table: DeltaTable, catalog: Catalog) -> None:
    staged = stage_file(table.location, 1)

    answered, renamed = at_once(
        lambda: httpx_update(table, staged),
        lambda: DeltaApi(table.api.url).post(f"{table.path}/rename", {"new-name": "sold"}),
    )

    assert renamed.status_code == 204
    moved = DeltaTable(table.api, "sold", table.uuid, table.location)
    assert answered.status_code == 200 or error_of(answered) == NO_TABLE
    assert moved.load()["latest-table-version"] == (1 if answered.status_code == 200 else 0)
    assert moved.update(staged.update).status_code == 200
    assert moved.load()["latest-table-version"] == 1


def test_a_client_of_a_dropped_table_meets_the_next_of_its_name_at_once(
    table: DeltaTable, api: DeltaApi
) -> None:
    stale = stage_file(table.location, 1)
    staging = api.stage("orders2")
    delta_api.write_version_0(staging)
    body = delta_api.create_body("orders", staging)

    def recreate() -> httpx.Response:
        other = DeltaApi(api.url)
        other.http.delete(f"{api.url}{delta_api.BASE}{table.path}").raise_for_status()
        return other.post(f"{api.schema_path}/tables", body)

    answered, made = at_once(lambda: httpx_update(table, stale), recreate)

    assert made.status_code == 200, made.text
    assert answered.status_code == 200 or error_of(answered) in (NO_TABLE, NOT_MET)
    again = DeltaTable(api, "orders", staging["table-id"], staging["location"])
    assert again.load()["latest-table-version"] == 0


def test_many_who_make_one_table_make_one(api: DeltaApi, catalog: Catalog) -> None:
    stagings = [api.stage("orders") for _ in range(4)]
    for staging in stagings:
        delta_api.write_version_0(staging)

    answers = at_once(
        *[
            lambda staging=staging: DeltaApi(api.url).post(
                f"{api.schema_path}/tables", delta_api.create_body("orders", staging)
            )
            for staging in stagings
        ]
    )

    assert sorted(answered.status_code for answered in answers) == [200, 409, 409, 409]
    assert len(catalog.tables("sales")) == 1


def test_a_purged_table_is_gone_for_who_publishes_it(table: DeltaTable, catalog: Catalog) -> None:
    for version in range(1, 4):
        assert catalog.propose(inline(table, version, f"t{version}")) == Ratified(Version(version))

    def purge() -> None:
        catalog.drop(TableName("sales", "orders"))
        catalog.disposal.condemn(TableId(table.uuid))

    answered, _ = at_once(lambda: DeltaApi(table.api.url).get(table.path), purge)

    assert answered.status_code in (200, 404)
    if answered.status_code == 200:
        assert answered.json()["latest-table-version"] == 3
        assert published(table.location, 3).exists()
    assert error_of(table.api.get(table.path)) == NO_TABLE
