"""Very many tables, versions and files are shown a page at a time, and never all at once.

With HEADGATE_TESTS_CONSOLE_SCALE there are 10,000 tables, 100,000 versions and a million files.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import headgate
from headgate.table.opened_table import OpenedTable
from tests.support.console_client import ConsoleClient, signed_in
from tests.support.console_lakes import ADMIN, console_server, multiply_tables, multiply_versions
from tests.support.tables import append_change, named_file

IS_LARGE = "HEADGATE_TESTS_CONSOLE_SCALE" in os.environ
TABLES, VERSIONS, FILES = (10_000, 100_000, 1_000_000) if IS_LARGE else (1_000, 2_000, 1_000)
ROUNDS = 5 if IS_LARGE else 1
LAKE = "/console/lakes/main"


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleClient]:
    folder = tmp_path_factory.mktemp("many")
    with headgate.connect(folder) as lake:
        lake.create_schema("big")
        lake.create_table("big.a", "id INT").append([{"id": 1}])
    multiply_tables(folder, TABLES)
    multiply_versions(folder, VERSIONS)
    with console_server({"main": folder}) as server:
        yield signed_in(server.url, ADMIN)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("", f"{TABLES + 1:,} tables"),
        ("/tables?q=t_00012", "10 tables"),
        (f"/tables?number={TABLES // 40 + 1}", f"page {TABLES // 40 + 1} of"),
        ("/tables/big.a/versions", f"versions/{VERSIONS + 1}"),
        (f"/tables/big.a/versions?before={VERSIONS // 2}", f"versions/{VERSIONS // 2 - 1}"),
        ("/events", "Older"),
        (f"/events?before={VERSIONS // 2}", "Newer"),
        ("/transactions", "No transaction"),
        ("/conflicts", "Nothing was refused"),
        ("/rules", "Nothing was refused"),
        ("/grants", "No grant is shown"),
        ("/maintenance", "Nobody holds one"),
    ],
)
def test_a_page_of_very_many_is_a_page(owner: ConsoleClient, path: str, shown: str) -> None:
    taken = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        answer = owner.get(LAKE + path)
        taken.append((time.perf_counter() - began) * 1000)
    print(f"{path or '/'}: {min(taken):.0f} ms at best of {ROUNDS}, {len(answer.body):,} bytes")

    assert answer.status == 200, answer.body.decode()
    assert shown in answer.body.decode()
    assert len(answer.body) < 100_000


def test_the_files_of_a_large_table_are_drawn(tmp_path: Path) -> None:
    with headgate.connect(tmp_path) as lake:
        lake.create_schema("big")
        table = lake.create_table("big.files", "id INT, day STRING", partition_by=["day"])
        table.append([{"id": 1, "day": "0"}])
        _name_again(table.log, FILES)
    with console_server({"main": tmp_path}) as server:
        owner, path = signed_in(server.url, ADMIN), f"{LAKE}/tables/big.files"
        for _ in range(2):
            began = time.perf_counter()
            answer = owner.part(f"{path}/files")
            print(f"{FILES:,} files: {(time.perf_counter() - began) * 1000:.0f} ms")
            assert answer.status == 200, answer.body.decode()
        assert f"{FILES + 1:,}" in answer.body.decode()
        assert owner.get(f"{path}/versions/2").status == 200


def _name_again(table: OpenedTable, count: int) -> None:
    """Add so many files to a table, in one commit and a checkpoint, none of which exists."""
    adds = tuple(
        msgspec.structs.replace(
            named_file(f"day={n % 50}/{n}.parquet"), partition_values={"day": str(n % 50)}, size=1 + n
        )
        for n in range(count)
    )
    table.commit(append_change(*adds), base=table.snapshot())
    table.checkpoint()
