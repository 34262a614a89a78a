"""Very many tables, versions and files are shown a page at a time, never all at once, and soon.

With HEADGATE_TESTS_CONSOLE_SCALE there are 10,000 tables, 100,000 versions and a million files.
"""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import headgate
from headgate.catalog.ports.access import Principal, Privilege
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.server.console import commit_reader, file_figures
from headgate.server.console.views import files_view
from headgate.storage.local import LocalStore
from headgate.table.read import snapshot
from headgate.table.read.snapshot import Snapshot
from tests.support.console_client import ConsoleClient, signed_in
from tests.support.console_lakes import ADMIN, ConsoleServer, console_server
from tests.support.large_lakes import ROWS_OF_A_FILE, multiply_files, multiply_tables, multiply_versions

IS_LARGE = "HEADGATE_TESTS_CONSOLE_SCALE" in os.environ
TABLES, VERSIONS, FILES = (10_000, 100_000, 1_000_000) if IS_LARGE else (1_000, 600, 5_000)
PEOPLE = 2_000 if IS_LARGE else 300
ROUNDS = 3
LAKE = "/console/lakes/main"
NEWEST = VERSIONS + 1
PAGES = (
    ("", f"{TABLES + 2:,} tables"),
    ("/activity", "Commits per minute"),
    ("/tables?q=t_00012", "10 tables"),
    ("/tables?q=t_0", "page 1 of"),
    (f"/tables?number={TABLES // 40 + 1}", f"page {TABLES // 40 + 1} of"),
    ("/events", "Older"),
    (f"/events?before={VERSIONS // 2}", "Newer"),
    (f"/events?before={VERSIONS // 2}&kind=refusal", "Newer"),
    ("/transactions", "No transaction"),
    ("/conflicts", "Nothing was refused"),
    ("/rules", "Nothing was refused"),
    ("/grants", "person-"),
    ("/grants?q=person-000001&number=3&who=person-0000012", "person-0000012"),
    ("/maintenance", "Nobody holds one"),
    ("/adopt", "Adopt"),
    ("/tables/big.versions", "Columns"),
    ("/tables/big.versions/rows", "Rows"),
    ("/tables/big.versions/files", "Files"),
    ("/tables/big.versions/versions", f"versions/{NEWEST}"),
    (f"/tables/big.versions/versions?before={VERSIONS // 2}", f"versions/{VERSIONS // 2 - 1}"),
    (f"/tables/big.versions/versions/{NEWEST}", f"many-{VERSIONS}"),
    (f"/tables/big.versions/versions/{VERSIONS // 2}", "Actions"),
    ("/tables/big.versions/compare", "Files added"),
    (f"/tables/big.versions/compare?older=0&newer={NEWEST}", "Files are not counted"),
    (f"/tables/big.versions/compare?older={VERSIONS // 2}&newer={NEWEST}", "Files are not counted"),
    ("/tables/big.versions/maintenance", "Leases"),
    ("/tables/big.versions/check", "Check it"),
    ("/tables/big.versions/release", "Release"),
    ("/tables/big.files", "Columns"),
    ("/tables/big.files/rows", "Rows"),
    ("/tables/big.files/files", "Files"),
    ("/tables/big.files/versions", "versions/2"),
    ("/tables/big.files/versions/2", "Transaction"),
    ("/tables/big.files/compare?older=0&newer=2", "The definition is the same"),
    ("/tables/big.files/maintenance", "Leases"),
    ("/tables/big.files/check", "Check it"),
    ("/tables/big.files/release", "Release"),
)
PARTS = (
    ("/tables?q=t_00012", "10 tables"),
    ("/tables/big.versions/rows", "version"),
    ("/tables/big.versions/files", "Files at version"),
    ("/tables/big.versions/maintenance", ""),
    ("/tables/big.files/rows", "version"),
    ("/tables/big.files/files", f"{FILES + 1:,}"),
    (f"/tables/big.files/files?number={FILES // 100}", f"Page {FILES // 100:,} of"),
    ("/tables/big.files/maintenance", ""),
)
"""What pages fetch by themselves."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleServer]:
    folder = tmp_path_factory.mktemp("many")
    with headgate.connect(folder) as lake:
        lake.create_schema("big")
        lake.create_table("big.versions", "id INT").append([{"id": 1}])
        properties = {"delta.enableDeletionVectors": "true"}
        files = lake.create_table(
            "big.files", "id INT, day STRING", partition_by=["day"], properties=properties
        )
        files.append([{"id": number, "day": "today"} for number in range(ROWS_OF_A_FILE)])
        for number in range(PEOPLE):
            lake.grant("READ", on="big.files", to=f"person-{number:07}")
            lake.add_member(f"group-{number % 50}", f"person-{number:07}")
    multiply_files(folder, "big.files", FILES)
    multiply_versions(folder, "big.versions", VERSIONS)
    multiply_tables(folder, TABLES)
    gc.collect()
    gc.freeze()  # a server has not made its lakes itself, and does not look through what that left
    with console_server({"main": folder}) as found:
        yield found
        gc.unfreeze()
        print(f"{TABLES:,} tables, {VERSIONS:,} versions, {FILES:,} files\n{found.times.told()}")


@pytest.fixture(scope="module")
def owner(server: ConsoleServer) -> ConsoleClient:
    return signed_in(server.url, ADMIN)


def look(get: Callable[[str], Any], path: str, shown: str) -> None:
    answer = get(LAKE + path)
    assert answer.status == 200, answer.body.decode()
    assert shown in answer.body.decode()
    assert len(answer.body) < 100_000


def test_a_lake_is_shown_before_all_that_happened_is_in_order(
    server: ConsoleServer, owner: ConsoleClient
) -> None:
    look(owner.get, "", f"{TABLES + 2:,} tables")
    assert ("still putting it in order" in owner.get(f"{LAKE}/events").body.decode()) is IS_LARGE

    server.catalog.events.list_pending()  # as the publisher of a server does when it starts
    assert "still putting it in order" not in owner.get(f"{LAKE}/events").body.decode()


@pytest.mark.parametrize(("path", "shown"), PAGES, ids=[path or "overview" for path, _ in PAGES])
def test_a_page_of_very_many_is_a_page(owner: ConsoleClient, path: str, shown: str) -> None:
    look(owner.get, path, shown)


@pytest.mark.parametrize(("path", "shown"), PARTS, ids=[path for path, _ in PARTS])
def test_a_part_of_a_page_of_very_many_is_a_part(owner: ConsoleClient, path: str, shown: str) -> None:
    look(owner.part, path, shown)


def test_no_page_takes_the_server_long(server: ConsoleServer, owner: ConsoleClient) -> None:
    for _ in range(ROUNDS):
        for path, shown in PAGES:
            look(owner.get, path, shown)
        for path, shown in PARTS:
            look(owner.part, path, shown)

    assert server.times.slow() == server.times.slow_at_first() == [], server.times.told()


def test_who_comes_next_reads_no_log_again(
    server: ConsoleServer, owner: ConsoleClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is anything counted again: bob gets the files that the owner has looked at."""
    server.catalog.granting.grant(Privilege.READ, "big.files", Principal("bob"))
    bob, path = signed_in(server.url, server.tokens["bob"]), f"{LAKE}/tables/big.files/files"
    owner.part(path)
    for module, name in ((snapshot, "_from_segment"), (files_view, "files_view")):
        monkeypatch.setattr(module, name, None)

    assert f"{FILES + 1:,}" in bob.part(path).body.decode()
    assert "Read it" not in bob.get(path).body.decode()


def test_of_a_large_commit_only_the_beginning_is_read(
    server: ConsoleServer, owner: ConsoleClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, read = LocalStore.read, dict[str, int]()

    def noted(store: LocalStore, path: str, **asked: Any) -> bytes:
        content = whole(store, path, **asked)
        read[path] = max(read.get(path, 0), len(content))
        return content

    monkeypatch.setattr(LocalStore, "read", noted)
    monkeypatch.setattr(commit_reader, "LARGEST_READ", 100_000)
    monkeypatch.setattr(commit_reader, "_BEGINNING", 4_096)
    path, commit = f"{LAKE}/tables/big.files", file_names.published_path(Version(2))

    assert owner.get(f"{path}/versions").body.decode().count(">WRITE<") == 2
    assert "larger than 8 MiB" in owner.get(f"{path}/versions/2").body.decode()
    assert "Files are not counted" in owner.get(f"{path}/compare?older=0&newer=2").body.decode()
    assert read[commit] == 4_096

    monkeypatch.setattr(commit_reader, "_BEGINNING", 10)
    assert ">unnamed<" in owner.get(f"{path}/versions").body.decode()


def calls(run: Callable[[], object]) -> int:
    """How many functions are called in Python, those of libraries too."""
    count = 0

    def note(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


@dataclass(frozen=True)
class Calls:
    """How many functions are called to look at files, and to turn a page."""

    first: int
    page: int


@pytest.mark.parametrize("kind", ["partition_by", "cluster_by"])
def test_ten_times_the_files_are_not_ten_times_the_calls(tmp_path: Path, kind: str) -> None:
    """They stay columns: what is done file by file would be seen as calls."""
    small, large = (calls_for_files(tmp_path / str(count), kind, count) for count in (1_000, 10_000))

    assert large.first < 2 * small.first
    assert large.page == small.page


def calls_for_files(folder: Path, kind: str, count: int) -> Calls:
    found = large_snapshot(folder, kind, count)
    view = file_figures.make_view(found)
    first = calls(lambda: file_figures.make_view(found))
    assert view.shares is not None and sum(view.shares.values) == count + 1
    assert (view.partitions is None, view.clustering is None) == (
        kind != "partition_by",
        kind == "partition_by",
    )
    return Calls(first, calls(lambda: view.listed.page(3)))


def large_snapshot(folder: Path, kind: str, count: int) -> Snapshot:
    with headgate.connect(folder) as lake:
        lake.create_schema("big")
        layout: dict[str, Any] = {kind: ["day" if kind == "partition_by" else "id"]}
        properties = {"delta.enableDeletionVectors": "true"}
        table = lake.create_table("big.files", "id INT, day STRING", properties=properties, **layout)
        table.append([{"id": number, "day": "today"} for number in range(ROWS_OF_A_FILE)])
    multiply_files(folder, "big.files", count)
    with headgate.connect(folder) as lake:
        return lake.table("big.files").log.snapshot()
