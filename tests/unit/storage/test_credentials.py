"""What a catalog vends is used where it counts, renewed before it ends, and never shown."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from typing_extensions import override

from headgate.clock import SystemWorld
from headgate.errors import AccessDenied, CatalogUnavailable, NotAllowed, StorageError
from headgate.storage.credentials import (
    NO_EXPIRY_MS,
    CredentialCache,
    StorageOperation,
    VendedCredential,
    credential_for,
)
from headgate.storage.locate import locate
from tests.support import s3
from tests.support.waiting import until

READ = StorageOperation.READ
HOUR = 3_600_000
CANARY = "canary-secret"


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    with s3.server() as url:
        yield url


class SetClock(SystemWorld):
    now = 1_000_000_000_000

    @override
    def now_ms(self) -> int:
        return self.now


@dataclass
class Catalog:
    """Vends a new credential for an hour whenever it is asked, unless it fails."""

    world: SetClock
    asked: int = 0
    failure: Exception | None = None
    lasts: int = HOUR
    vended: list[VendedCredential] = field(default_factory=list)

    def fetch(self) -> tuple[VendedCredential, ...]:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        self.vended.append(_vended("s3://b/t", expires_ms=self.world.now + self.lasts))
        return (self.vended[-1],)


def _vended(prefix: str, *, expires_ms: int = NO_EXPIRY_MS, **config: str) -> VendedCredential:
    return VendedCredential(prefix, READ, expires_ms, {k.replace("_", "-", 9): v for k, v in config.items()})


def test_a_credential_is_asked_for_once_and_again_before_it_ends() -> None:
    world = SetClock()
    catalog, cache = Catalog(world), CredentialCache(world)

    first = [cache.get("t", READ, catalog.fetch) for _ in range(3)]
    world.now += HOUR - 6 * 60_000
    same = cache.get("t", READ, catalog.fetch)
    world.now += 2 * 60_000
    renewed = cache.get("t", READ, catalog.fetch)

    assert first == [same] * 3
    assert catalog.asked == 2
    assert renewed == (catalog.vended[1],)


def test_a_short_credential_is_not_asked_for_at_every_use() -> None:
    world = SetClock()
    catalog, cache = Catalog(world, lasts=60_000), CredentialCache(world)

    for _ in range(5):
        cache.get("t", READ, catalog.fetch)
    world.now += 50_000
    cache.get("t", READ, catalog.fetch)

    assert catalog.asked == 2


def test_a_renewal_that_fails_is_no_failure_while_there_is_time() -> None:
    world = SetClock()
    catalog, cache = Catalog(world), CredentialCache(world)
    first = cache.get("t", READ, catalog.fetch)
    world.now += HOUR - 60_000
    catalog.failure = CatalogUnavailable("away")

    assert [cache.get("t", READ, catalog.fetch) for _ in range(5)] == [first] * 5
    assert catalog.asked == 2  # and not at every use
    world.now += 60_000
    with pytest.raises(CatalogUnavailable):
        cache.get("t", READ, catalog.fetch)


def test_who_may_no_longer_read_gets_nothing_more() -> None:
    world = SetClock()
    catalog, cache = Catalog(world), CredentialCache(world)
    cache.get("t", READ, catalog.fetch)
    world.now += HOUR - 60_000
    catalog.failure = NotAllowed("no longer")

    with pytest.raises(NotAllowed):
        cache.get("t", READ, catalog.fetch)


def test_tables_and_operations_are_kept_apart() -> None:
    world = SetClock()
    catalog, cache = Catalog(world), CredentialCache(world)
    cache.get("t", READ, catalog.fetch)
    cache.get("t", StorageOperation.READ_WRITE, catalog.fetch)
    cache.get("u", READ, catalog.fetch)
    cache.forget("t")
    cache.get("t", READ, catalog.fetch)
    cache.get("u", READ, catalog.fetch)

    assert catalog.asked == 4


@pytest.mark.parametrize(
    ("location", "prefix"),
    [
        ("s3://b/t", "s3://b/t"),
        ("s3a://b/t/x", "s3://b/t"),
        ("s3://b/t2", "s3://b"),
        ("s3://b/t/in/deep", "s3://b/t/in"),
        ("s3://c/t", None),
        ("gs://b/t", None),
    ],
)
def test_the_credential_with_the_longest_prefix_counts(location: str, prefix: str | None) -> None:
    known = tuple(_vended(each) for each in ("s3://b", "s3://b/t", "s3://b/t/in/"))

    found = credential_for(known, location)

    assert (found.prefix.rstrip("/") if found else None) == prefix


def test_a_store_is_reached_with_what_is_vended_and_not_with_the_environment(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    place = f"s3://{s3.make_bucket(store)}/lake/t"
    config = {
        "s3.access-key-id": "k", "s3.secret-access-key": CANARY, "s3.endpoint": store,
        "client.region": "us-east-1", "s3.path-style-access": "true",
    }  # fmt: skip
    asked = []

    def source() -> tuple[VendedCredential, ...]:
        # Ends at once, so that it is asked for again at every request.
        asked.append(1)
        return (VendedCredential(place, READ, SystemWorld().now_ms() + 1000, config),)

    files = locate(place.replace("s3:", "s3a:"), source)
    before = len(asked)
    files.put("a", b"x")
    files.put_if_absent("b", b"y")

    assert [item.path for item in files.list_from("")] == ["a", "b"]
    until(lambda: files.read("a") == b"x" and len(asked) > before + 2)  # obstore asks again after a moment
    assert CANARY not in repr(files) + repr(source())


def test_a_store_whose_credentials_are_no_longer_vended_says_so(store: str) -> None:
    place = f"s3://{s3.make_bucket(store)}/t"
    vended = [
        VendedCredential(
            place, READ, SystemWorld().now_ms() + 1000,
            {"s3.access-key-id": "k", "s3.secret-access-key": CANARY, "s3.endpoint": store},
        )
    ]  # fmt: skip
    files = locate(place, lambda: tuple(vended))
    files.put("a", b"x")
    vended[:] = [_vended("s3://elsewhere/t")]

    with pytest.raises(StorageError) as refused:
        until(lambda: bool(files.put("b", b"x")))  # type: ignore[func-returns-value]

    assert CANARY not in f"{refused.value} {refused.value!r}"


def test_without_anything_vended_a_client_uses_its_own(tmp_path: object) -> None:
    assert locate("s3://bucket/t", tuple) is not None
    assert locate("s3://bucket/t", lambda: (_vended("s3://bucket/t"),)) is not None
    with pytest.raises(AccessDenied, match="vends no credential"):
        locate("s3://bucket/t", lambda: (_vended("s3://other/t", x="y"),))
