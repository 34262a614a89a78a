"""The threats that a server adds to those of a catalog: each attack fails, and its guard is why.

As in ``tests/contract/test_threats.py`` an attack says whether it succeeded, and a guard is taken away by a
test. The server is a real one, in a thread of this process, which so meets it without its guard.
"""

import json
import logging
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from select import select
from typing import Any
from unittest.mock import patch

import pytest
from litestar import Request, post

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.handover import AdoptionStatus
from headgate.catalog.store import grant_store, transfer_store
from headgate.errors import HeadgateError
from headgate.protocol.actions import Version
from headgate.server import exposure
from headgate.server.auth import oidc
from headgate.server.auth.oidc import TokenVerifier
from headgate.server.credentials import (
    CredentialVendor,
    S3StaticKeys,
    Secret,
    StorageAccess,
    table_place,
    vend_for_table,
    vendor,
)
from headgate.server.operations import json_shape, limits, logs, strange_pages
from headgate.server.operations.quotas import Quota
from headgate.server.routes.own import authority
from headgate.server.settings import LakeSettings, ServerSettings
from headgate.server.webhooks import targets
from headgate.storage.credentials import StorageOperation
from tests.support.catalogs import a_catalog
from tests.support.issuers import NOW, Issuer, trusted
from tests.support.operated_server import Answer, NamedTokens, OperatedServer, operated
from tests.support.tables import create_managed
from tests.support.waiting import PATIENCE_SECONDS, until
from tests.support.world import StillWorld

ECHO = "/api/headgate/v1/echo"
OWN = "/api/headgate/v1/lakes/main"
EVE, OWNER = {"Authorization": "Bearer eve"}, {"Authorization": "Bearer owner"}
HIDDEN, MISSING = "s.hidden", "s.missing"


@post(ECHO, status_code=200)
async def _echo(request: Request) -> dict[str, int]:  # type: ignore[type-arg]
    return {"bytes": len(await request.body())}


@dataclass(frozen=True)
class Scene:
    """A lake with a table that eve may not see, one that she may append to, and a place to serve it."""

    catalog: Catalog
    folder: Path

    def serve(self, **settings: Any) -> AbstractContextManager[OperatedServer]:
        return operated(self.catalog, authenticator=NamedTokens(), routes=(_echo,), **settings)

    @property
    def eve(self) -> Catalog:
        return self.catalog.acting_as("eve")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("scene")
    with a_catalog("sqlite", folder / "lake") as catalog:
        create_managed(catalog, TableName("s", "hidden"))
        create_managed(catalog, TableName("s", "mine"))
        catalog.granting.grant("READ", "s.mine", "eve")
        catalog.granting.grant("CREATE", "s", "eve")
        yield Scene(catalog, folder)


def _raw_status(server: OperatedServer, sent: bytes) -> int:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as line:
        line.sendall(sent)
        return int(line.recv(64).split()[1])


def _ask(server: OperatedServer, path: str, body: dict[str, Any]) -> Answer:
    return server.ask(f"{OWN}/{path}", method="POST", body=json.dumps(body).encode(), headers=EVE)


# --- T8, T9, T10: what is sent, and how much


def t8_a_token_of_an_issuer_that_never_ends(_: Scene) -> bool:
    issuer = Issuer()
    verifier = TokenVerifier((trusted(),), StillWorld(NOW * 1000), issuer.fetch)
    with suppress(HeadgateError):
        return verifier.verify(issuer.token(exp=NOW + 10**9)).principal == "ana"
    return False


def t9_a_large_body_of_nobody(scene: Scene) -> bool:
    """Without a token, and without ever sending what was announced: memory and a place, for free."""
    with scene.serve(small_body_bytes=1_000, body_seconds=0.2) as server:
        head = b"POST %b HTTP/1.1\r\nHost: h\r\nContent-Length: 2000\r\n\r\nabc" % ECHO.encode()
        return _raw_status(server, head) != 401


def t9_an_endless_body_of_nobody(scene: Scene) -> bool:
    with scene.serve(small_body_bytes=1_000, body_seconds=0.2) as server:
        head = b"POST %b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
        return _raw_status(server, head % ECHO.encode()) != 401


def t9_lists_in_lists(scene: Scene) -> bool:
    with scene.serve(json_depth=10) as server:
        return server.ask(ECHO, method="POST", body=b"[" * 50 + b"]" * 50).status == 200


def t9_more_values_than_anybody_needs(scene: Scene) -> bool:
    with scene.serve(json_values=10) as server:
        return server.ask(ECHO, method="POST", body=b"[" + b"0," * 50 + b"0]").status == 200


def t9_a_body_that_grows_when_it_is_unpacked(scene: Scene) -> bool:
    with scene.serve() as server:
        packed = {"Content-Encoding": "gzip"}
        return server.ask(ECHO, method="POST", body=b"x", headers=packed).status == 200


def t10_all_places_for_one(scene: Scene) -> bool:
    """She has them all once her streams of events take them."""
    with scene.serve(streams_per_principal=1, heartbeat_seconds=0.05, events_seconds=0.01) as server:
        asked = {"Accept": "text/event-stream", **EVE}
        head = "".join(f"{name}: {value}\r\n" for name, value in asked.items())
        sent = f"GET {OWN}/events HTTP/1.1\r\nHost: h\r\n{head}\r\n".encode()
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as first:
            first.sendall(sent)
            assert b"200" in first.recv(64)
            return _raw_status(server, sent) == 200


def _starved(scene: Scene, *headers: bytes) -> bool:
    """Whether others go without an answer while so many bodies, of which one byte came, are waited for."""
    head = b"\r\n".join((b"POST %b HTTP/1.1" % ECHO.encode(), b"Host: h", b"Content-Length: 9", *headers))
    with scene.serve(requests=6, requests_per_principal=2, body_seconds=600) as server, ExitStack() as lines:
        drain = server.operations.drain
        for _ in range(6):
            line = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS)
            lines.enter_context(line)
            held = drain.in_flight
            line.sendall(head + b"\r\n\r\n{")
            until(lambda: drain.in_flight > held or bool(select([line], [], [], 0)[0]))  # noqa: B023
        return server.ask(ECHO, method="POST", body=b"{}", headers=OWNER).status == 503


def t10_all_places_for_bodies_of_one(scene: Scene) -> bool:
    return _starved(scene, b"Authorization: Bearer eve")


def t10_all_places_for_bodies_of_nobody(scene: Scene) -> bool:
    return _starved(scene)


# --- T11: text of callers


def t11_a_line_of_the_log(_: Scene) -> bool:
    forged = "ada\n2026-11-18T00:00:00Z info headgate.audit owner dropped everything"
    record = logging.LogRecord("headgate.access", logging.INFO, "", 0, "request", None, None)
    setattr(record, logs.FIELDS, {"principal": forged})
    return len(logs.TextLines().format(record).splitlines()) > 1


# --- T12: credentials


def _keys_of(place: str, location: str) -> bool:
    os.environ["HEADGATE_TEST_KEY"] = "k"
    key = Secret.from_environment("HEADGATE_TEST_KEY")
    vending = CredentialVendor((StorageAccess(place, S3StaticKeys(key, key, key, key)),))
    with suppress(HeadgateError):
        return bool(vending.vend(location, StorageOperation.READ_WRITE).config)
    return False


def t12_keys_of_a_whole_bucket(_: Scene) -> bool:
    return _keys_of("s3://lake", "s3://lake/")


def t12_keys_of_the_neighbour(_: Scene) -> bool:
    return _keys_of("s3://lake/tables", "s3://lake/tables2/t")


def t12_keys_of_what_is_above(_: Scene) -> bool:
    return _keys_of("s3://lake/tables", "s3://lake/tables/a/%2e%2e/%2e%2e/other")


def t12_keys_to_write_for_who_reads(scene: Scene) -> bool:
    mine = scene.catalog.resolve(TableName("s", "mine"))
    with suppress(HeadgateError):
        operation = StorageOperation.READ_WRITE
        vend_for_table(CredentialVendor(), scene.eve, mine.table_id, mine.location, operation)
        return True
    return False


# --- T13, T14, T17: who may do what


def t14_the_name_of_a_table_that_is_hidden(scene: Scene) -> bool:
    """The same question about a table that is hidden, and one that is not there, in each of the APIs."""
    unity = "/api/2.1/unity-catalog"
    paths = (
        f"{unity}/tables/main.{{}}",
        f"{unity}/delta/v1/catalogs/main/schemas/s/tables/{{}}",
        f"{unity}/delta/v1/catalogs/main/schemas/s/tables/{{}}/credentials?operation=READ",
        f"{unity}/permissions/table/main.{{}}",
    )
    with scene.serve() as server:
        answers = [
            {
                _nameless(server.ask(path.format(name[shorter:]), headers=EVE), name)
                for name in (HIDDEN, MISSING)
            }
            for path, shorter in zip(paths, (0, 2, 2, 0), strict=True)
        ]
    return any(len(told) > 1 for told in answers)


def _nameless(answer: Answer, name: str) -> tuple[int, bytes]:
    body = answer.body.replace(answer.headers["x-request-id"].encode(), b"")
    for word in (name, name.partition(".")[2]):
        body = body.replace(word.encode(), b"*")
    return answer.status, body


def t17_a_place_that_is_part_of_somebodys_table(scene: Scene) -> bool:
    hidden = scene.catalog.resolve(TableName("s", "hidden"))
    with suppress(HeadgateError):
        place = f"{hidden.location}/part"
        claim = scene.eve.adoptions.claim(TableName("s", "stolen"), place, Version(0), "eve")
        return scene.eve.adoptions.settle(claim.table_id) is AdoptionStatus.OPEN
    return False


def t17_a_table_brought_in_somebody_elses_name(scene: Scene) -> bool:
    """She would make the lake's owner answer for what she brings; the catalog asks nobody in one process."""
    place = {"name": {"schema": "s", "table": "gift"}, "place": "/nowhere/gift", "base": 0}
    with scene.serve() as server:
        told = _ask(server, "adoptions/claim", {**place, "proposer": "owner"})
    return "for yourself" not in told.json["message"]


# --- T16, T18, T20: where a server is, and whom it calls


def t16_a_webhook_into_the_own_network(_: Scene) -> bool:
    with suppress(HeadgateError):
        url = "https://innocent.example/"
        return targets.pin_target(url, private=False, resolve=lambda *_: ("169.254.169.254",)) is not None
    return False


def _posted_by_a_page(scene: Scene, **headers: str) -> bool:
    """A program that somebody runs without tokens, and a page that is open in the same person's browser."""
    with operated(scene.catalog, routes=(_echo,), auth=False) as server:
        return server.ask(ECHO, method="POST", body=b"{}", headers=headers).status == 200


def t18_a_page_that_posts_to_the_own_machine(scene: Scene) -> bool:
    return _posted_by_a_page(scene, Origin="https://evil.example")


def t18_a_page_whose_name_was_bound_to_the_own_machine(scene: Scene) -> bool:
    return _posted_by_a_page(scene, Host="evil.example", Origin="https://evil.example")


def t18_a_page_of_nowhere(scene: Scene) -> bool:
    return _posted_by_a_page(scene, Origin="null")


def t20_a_server_that_everybody_owns(_: Scene) -> bool:
    made = ServerSettings(lakes=(LakeSettings("main", "/lake"),), host="0.0.0.0", auth=False)
    with suppress(HeadgateError):
        exposure.require_safe_setup(made)
        return True
    return False


# --- the guards

Guard = Callable[[], AbstractContextManager[Any]]


def _let_pass(module: Any, name: str, answer: Any = None) -> Guard:
    return lambda: patch.object(module, name, lambda *_, **__: answer)


def _bare_place(location: str) -> table_place.TablePlace:
    scheme, _, rest = location.partition("://")
    host, _, key = rest.partition("/")
    return table_place.TablePlace(scheme, host, key)


_KNOWN_FIRST = _let_pass(limits, "may_be_large", answer=False)
_PAGES = _let_pass(strange_pages, "require_own_page")

THREATS: dict[Callable[[Scene], bool], Guard] = {
    t8_a_token_of_an_issuer_that_never_ends: lambda: patch.object(oidc, "MAX_LIFETIME_SECONDS", 10**12),
    t9_a_large_body_of_nobody: _KNOWN_FIRST,
    t9_an_endless_body_of_nobody: _KNOWN_FIRST,
    t9_lists_in_lists: _let_pass(json_shape, "is_deeper", answer=False),
    t9_more_values_than_anybody_needs: _let_pass(json_shape, "has_more_values", answer=False),
    t9_a_body_that_grows_when_it_is_unpacked: _let_pass(limits, "require_modest_head"),
    t10_all_places_for_bodies_of_one: _let_pass(limits, "has_body", answer=False),
    t10_all_places_for_bodies_of_nobody: _let_pass(limits, "has_body", answer=False),
    t10_all_places_for_one: lambda: patch.object(Quota, "take", lambda *_: lambda: None),
    t11_a_line_of_the_log: lambda: patch.object(logs, "_one_line", lambda text: text),
    t12_keys_of_a_whole_bucket: lambda: patch.object(vendor, "parse_place", _bare_place),
    t12_keys_of_the_neighbour: lambda: patch.object(
        table_place, "_spelled", lambda location: location.rstrip("/")
    ),
    t12_keys_of_what_is_above: lambda: patch.object(vendor, "parse_place", _bare_place),
    t12_keys_to_write_for_who_reads: lambda: patch.object(Catalog, "credentials", lambda *_: ()),
    t14_the_name_of_a_table_that_is_hidden: lambda: patch.object(
        grant_store, "visible_tables", lambda _, __, table_ids: frozenset(table_ids)
    ),
    t16_a_webhook_into_the_own_network: _let_pass(targets, "is_public", answer=True),
    t17_a_place_that_is_part_of_somebodys_table: _let_pass(
        transfer_store, "overlapping_locations", answer=[]
    ),
    t17_a_table_brought_in_somebody_elses_name: lambda: patch.dict(
        authority.GUARDS,  # type: ignore[arg-type]
        {"adoptions/claim": lambda asked: asked.answer()},
    ),
    t18_a_page_that_posts_to_the_own_machine: _PAGES,
    t18_a_page_whose_name_was_bound_to_the_own_machine: _PAGES,
    t18_a_page_of_nowhere: _PAGES,
    t20_a_server_that_everybody_owns: lambda: patch.object(exposure, "UNSAFE_SETUPS", ()),
}


@pytest.mark.parametrize("attack", THREATS, ids=lambda attack: attack.__name__)
def test_the_attack_fails(scene: Scene, attack: Callable[[Scene], bool]) -> None:
    assert not attack(scene)


@pytest.mark.parametrize("attack", THREATS, ids=lambda attack: attack.__name__)
def test_each_guard_is_needed(scene: Scene, attack: Callable[[Scene], bool]) -> None:
    with THREATS[attack]():
        assert attack(scene)


def test_every_threat_that_a_catalog_alone_does_not_meet_is_here() -> None:
    numbers = {attack.__name__.split("_")[0] for attack in THREATS}

    assert numbers == {"t8", "t9", "t10", "t11", "t12", "t14", "t16", "t17", "t18", "t20"}


# --- what has no guard to take away


def test_t19_what_a_server_runs_is_named_in_no_request(scene: Scene) -> None:
    """Policies and handlers are registered by the program that serves; a request can only name a rule."""
    with scene.serve() as server:
        owner = {"Authorization": "Bearer owner"}
        rule = json.dumps({"rule": "os.system", "value": "id", "on": "s.mine"}).encode()
        told = server.ask(f"{OWN}/granting/set_rule", method="POST", body=rule, headers=owner)

    assert told.status == 400


def test_own_pages_and_programs_are_served(scene: Scene) -> None:
    with operated(scene.catalog, routes=(_echo,), auth=False) as server:
        same = {"Host": f"127.0.0.1:{server.port}", "Origin": f"http://127.0.0.1:{server.port}"}
        named = {"Host": f"localhost:{server.port}"}
        answers = [server.ask(ECHO, method="POST", body=b"{}", headers=each) for each in ({}, same, named)]

    assert [answer.status for answer in answers] == [200, 200, 200]


def test_who_is_known_may_send_a_large_body(scene: Scene) -> None:
    with scene.serve(small_body_bytes=10) as server:
        known = server.ask(ECHO, method="POST", body=b"x" * 100, headers=EVE)
        unknown = server.ask(ECHO, method="POST", body=b"x" * 100)

    assert (known.status, unknown.status) == (200, 401)


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 3\r\nContent-Length: 30",
        b"Content-Length: 3\r\nTransfer-Encoding: chunked",
        b"Content-Length: +3",
        b"Content-Length: 3, 30",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        b"Transfer-Encoding: xchunked",
    ],
)
def test_a_body_whose_end_can_be_read_in_two_ways_hides_no_second_request(scene: Scene, head: bytes) -> None:
    """A proxy that reads it otherwise must not be talked into passing on what it never looked at."""
    with scene.serve() as server:
        second = b"GET %b/events HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer owner\r\n\r\n" % OWN.encode()
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as line:
            line.sendall(
                b"POST %b HTTP/1.1\r\nHost: h\r\n%b\r\n\r\n0\r\n\r\n%b" % (ECHO.encode(), head, second)
            )
            line.shutdown(socket.SHUT_WR)
            received = b""
            while part := line.recv(65_536):
                received += part

    assert b'"events"' not in received
