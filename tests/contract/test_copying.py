"""Objects copied from any store to any other: whole, or not at all."""

import secrets
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from obstore.store import MemoryStore
from typing_extensions import Buffer

from headgate import Lake, Publish, Settings
from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.directory import TableName
from headgate.clock import SystemWorld
from headgate.errors import ObjectNotFound, StorageError, StorageUnavailable
from headgate.storage import copy
from headgate.storage.copy import ObjectCopy
from headgate.storage.local import LocalStore
from headgate.storage.locate import locate
from headgate.storage.object_store import ObjectStore
from headgate.storage.store import Store
from headgate.table.alter.create import TableDefinition
from tests.support import s3, tables
from tests.support.faulty_store import DictStore

PART_BYTES = 64 * 1024
LARGE = secrets.token_bytes(2 * PART_BYTES + 5)
Make = Callable[[str], Store]


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    with s3.server() as url:
        yield url


@pytest.fixture
def makes(tmp_path: Path, server_url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Make]:
    """Stores by kind; those of one kind are on one disk, or in one bucket."""
    told = {
        "AWS_ENDPOINT_URL": server_url, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s",
    }  # fmt: skip
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    bucket, memory = s3.make_bucket(server_url), MemoryStore()
    return {
        "local": lambda name: LocalStore(str(tmp_path / name)),
        "s3": lambda name: locate(f"s3://{bucket}/a%20lake/{name}"),
        "memory": lambda _: ObjectStore(memory),
        "dict": lambda _: DictStore(),
    }


@pytest.mark.parametrize("source", ["local", "s3", "memory", "dict"])
@pytest.mark.parametrize("target", ["local", "s3", "memory", "dict"])
def test_objects_are_copied_whole(makes: dict[str, Make], source: str, target: str) -> None:
    theirs, ours = makes[source]("so urce"), makes[target]("target")
    contents = {"p=a b/ü%25": b"small", "x/empty": b"", "large": LARGE}
    for path, content in contents.items():
        theirs.put(path, content)

    copy.copy_objects(
        ours, [ObjectCopy(theirs, path, f"new/{path}", len(data)) for path, data in contents.items()]
    )

    assert {path: ours.read(f"new/{path}") for path in contents} == contents
    assert {path: theirs.read(path) for path in contents} == contents


@pytest.mark.parametrize("source", ["local", "s3", "memory"])
@pytest.mark.parametrize("target", ["local", "s3", "memory"])
def test_what_is_not_there_is_not_copied(makes: dict[str, Make], source: str, target: str) -> None:
    ours = makes[target]("target")

    for size in (0, 5):
        with pytest.raises(ObjectNotFound, match="nothing"):
            copy.copy_objects(ours, [ObjectCopy(makes[source]("source"), "nothing", "copy", size)])

    assert list(ours.list_from("")) == []


def test_within_a_bucket_no_byte_comes_here(makes: dict[str, Make]) -> None:
    theirs, ours = makes["s3"]("source"), makes["s3"]("target")
    theirs.put("a", b"content")

    with patch.object(ObjectStore, "read", side_effect=AssertionError):
        copy.copy_objects(ours, [ObjectCopy(theirs, "a", "b", 7)])

    assert ours.read("b") == b"content"


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy, "PART_BYTES", PART_BYTES)


class Failing(DictStore):
    """Takes in some objects and then no more."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._left, self._counting = most, threading.Lock()

    def put(self, path: str, data: Buffer) -> None:
        with self._counting:
            self._left -= 1
            if self._left < 0:
                raise StorageUnavailable(f"put {path!r}: no space", path=path, operation="put")
        super().put(path, data)


def test_the_first_failure_ends_it() -> None:
    theirs, ours = DictStore(), Failing(3)
    for number in range(100):
        theirs.put(str(number), b"x")

    with pytest.raises(StorageError, match="no space"):
        copy.copy_objects(ours, [ObjectCopy(theirs, str(number), str(number), 1) for number in range(100)])

    assert len(list(ours.list_from(""))) == 3


def test_a_source_that_breaks_off_leaves_no_half_file(tmp_path: Path) -> None:
    class Breaking(DictStore):
        def read(self, path: str, *, last: int | None = None, at: range | None = None) -> bytes:
            if at is not None and at.start:
                raise StorageUnavailable("no answer", path=path, operation="read")
            return super().read(path, last=last, at=at)

    theirs, ours = Breaking(), LocalStore(str(tmp_path))
    theirs.put("a", LARGE)

    with pytest.raises(StorageUnavailable):
        copy.copy_objects(ours, [ObjectCopy(theirs, "a", "a", len(LARGE))])

    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_lake_in_a_bucket_clones_both_ways(makes: dict[str, Make], tmp_path: Path) -> None:
    """The place that is granted is encoded, as a URL is, and so are the paths of its files."""
    place = getattr(makes["s3"]("warehouse"), "place", "").partition(" ")[0]
    database = open_catalog(tmp_path)._database
    catalog = Catalog(database, warehouse=f"{place}/ware%20house", locate=locate, world=SystemWorld())
    with Lake(catalog, settings=Settings(publish=Publish.NOW), world=SystemWorld()) as lake:
        lake.create_schema("s")
        table = lake._creation.create(TableName("s", "t"), TableDefinition(tables.SCHEMA))
        add = tables.parquet_file(str(tmp_path / "made"), "f1.parquet", [1])
        table.log.store.put("f1.parquet", (tmp_path / "made" / "f1.parquet").read_bytes())
        table.log.commit(tables.append_change(add), base=table.log.snapshot())

        deep, shallow = lake.clone("s.t", "s.d"), lake.clone("s.t", "s.s", shallow=True)

        assert shallow.log.snapshot().files.columns["path"].to_pylist() == [f"{table.location}/f1.parquet"]
        (copy,) = deep.log.snapshot().files.columns["path"].to_pylist()
        assert deep.log.store.head(copy).size == add.size
        assert [report.findings for report in lake.check()] == [(), (), ()]
