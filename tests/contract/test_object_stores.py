"""Between the port ``Store`` and a server that speaks S3: settings, statuses, and whether to trust it."""

from collections.abc import Callable, Iterator

import pytest

from headgate.errors import (
    AccessDenied,
    InvalidRequest,
    ObjectExists,
    ObjectNotFound,
    StorageUnavailable,
    UnsafeStore,
)
from headgate.protocol.log import file_names
from headgate.storage import conditional_put_probe
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.opened_table import OpenedTable
from tests.support import s3, tables
from tests.support.s3_proxy import Fault, Proxy, Request, passing, proxy


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    with s3.server() as url:
        yield url


@pytest.fixture(scope="module")
def wire(server_url: str) -> Iterator[Proxy]:
    with proxy(server_url) as running:
        yield running


@pytest.fixture
def bucket(server_url: str, wire: Proxy, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a new bucket that the environment leads to, as users set it."""
    for key, value in {
        "AWS_ENDPOINT_URL": wire.url, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s",
    }.items():  # fmt: skip
        monkeypatch.setenv(key, value)
    yield f"s3://{s3.make_bucket(server_url)}"
    wire.settle()


def first_put(fault: Fault) -> Callable[[Request], Fault]:
    waiting = [fault]
    return lambda request: waiting.pop() if request.method == "PUT" and waiting else Fault.PASS


def test_a_store_is_found_by_its_url_and_the_environment(bucket: str) -> None:
    locate(f"{bucket}/some/table").put_if_absent("a/b", b"x")

    assert [item.path for item in locate(bucket).list_from("")] == ["some/table/a/b"]
    assert locate(bucket.replace("s3:", "s3a:")).read("some/table/a/b") == b"x"
    with pytest.raises(InvalidRequest, match="hdfs"):
        locate("hdfs://host/a")


def test_the_timeout_of_the_environment_counts(
    bucket: str, wire: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_TIMEOUT", "200ms")
    wire.play(first_put(Fault.STALL))

    with pytest.raises(ObjectExists):  # its own: asked again after a timeout
        locate(bucket).put_if_absent("a", b"x")


@pytest.mark.parametrize("fault", [Fault.UNAVAILABLE, Fault.CUT, Fault.CONFLICT], ids=lambda f: f.name)
def test_a_conditional_put_that_was_not_performed_is_repeated(bucket: str, wire: Proxy, fault: Fault) -> None:
    wire.play(first_put(fault))

    locate(bucket).put_if_absent("a", b"x")

    assert locate(bucket).read("a") == b"x"


@pytest.mark.parametrize("fault", [Fault.LOSE_REPLY, Fault.FAIL_AFTERWARDS], ids=lambda f: f.name)
def test_after_a_lost_answer_nothing_but_existence_is_claimed(bucket: str, wire: Proxy, fault: Fault) -> None:
    waiting = [fault]
    wire.play(
        lambda request: (
            Fault.PASS if request.method != "PUT" else waiting.pop() if waiting else Fault.FORBIDDEN
        )
    )

    with pytest.raises(StorageUnavailable):  # never AccessDenied: the first request created the object
        locate(bucket).put_if_absent("a", b"x")

    assert locate(bucket).read("a") == b"x"


def test_409_is_not_mistaken_for_an_object_that_exists(server_url: str, wire: Proxy) -> None:
    store = s3.connect(wire.url, s3.make_bucket(server_url))
    wire.play(lambda request: Fault.CONFLICT if request.method == "PUT" else Fault.PASS)

    for put in (store.put_if_absent, store.put):
        with pytest.raises(StorageUnavailable, match="409"):
            put("a", b"x")

    wire.play(passing)
    store.put_if_absent("a", b"x")
    with pytest.raises(ObjectExists):
        store.put_if_absent("a", b"y")


def test_what_is_refused_at_once_is_refused(bucket: str, wire: Proxy) -> None:
    with pytest.raises(ObjectNotFound, match="bucket or container does not exist"):
        locate("s3://bucket-that-nobody-made").put_if_absent("a", b"x")

    wire.play(lambda _: Fault.FORBIDDEN)
    with pytest.raises(AccessDenied, match="check the store's credentials") as caught:
        locate(bucket).put_if_absent("a", b"x")

    assert len(wire.seen) == 1
    assert "\n" not in caught.value.message


def made(bucket: str) -> tuple[Store, OpenedTable]:
    store = locate(bucket)
    tables.create_filesystem(store)
    return store, tables.open_filesystem(bucket)


def test_a_store_that_ignores_the_condition_is_refused_before_anything_is_written(
    bucket: str, wire: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, table = made(bucket)
    base, before = table.snapshot(), list(store.list_from(""))
    monkeypatch.setattr(conditional_put_probe, "_proven", set())
    wire.play(lambda request: Fault.UNCONDITIONAL if request.method == "PUT" else Fault.PASS)

    with pytest.raises(UnsafeStore, match="nothing was committed") as caught:
        table.commit(tables.append_change(tables.named_file("ours")), base=base)
    with pytest.raises(UnsafeStore):
        tables.create_filesystem(locate(f"{bucket}/another"))

    assert bucket in caught.value.message
    assert list(store.list_from("")) == before


def test_a_store_that_was_told_not_to_use_conditions_is_refused(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CONDITIONAL_PUT", "disabled")

    with pytest.raises(UnsafeStore, match="AWS_CONDITIONAL_PUT"):
        tables.create_filesystem(locate(bucket))


def test_a_store_is_proven_once_and_nothing_of_the_proof_stays(bucket: str, wire: Proxy) -> None:
    store, table = made(bucket)

    asked = [
        (request.method, request.path) for request, _ in wire.seen if file_names.PROBE_FOLDER in request.path
    ]
    wire.play(passing)
    table.commit(tables.append_change(tables.named_file("a")), base=table.snapshot())
    made(f"{bucket}/another")

    assert [method for method, _ in asked].count("PUT") == 2
    assert [request for request, _ in wire.seen if file_names.PROBE_FOLDER in request.path] == []
    assert [item for item in store.list_from("") if file_names.PROBE_FOLDER in item.path] == []


@pytest.mark.parametrize("fault", [Fault.LOSE_REPLY, Fault.CONFLICT, Fault.UNAVAILABLE], ids=lambda f: f.name)
def test_a_fault_during_the_proof_accuses_nobody(bucket: str, wire: Proxy, fault: Fault) -> None:
    wire.play(first_put(fault))

    store, table = made(bucket)

    assert table.snapshot().version == 0
    assert [item for item in store.list_from("") if file_names.PROBE_FOLDER in item.path] == []


def test_a_writer_without_the_right_to_delete_can_commit(bucket: str, wire: Proxy) -> None:
    wire.play(lambda request: Fault.FORBIDDEN if request.method in ("DELETE", "POST") else Fault.PASS)

    _, table = made(bucket)

    assert table.commit(tables.append_change(tables.named_file("a")), base=table.snapshot()) == 1
