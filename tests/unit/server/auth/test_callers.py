"""A real server that asks who calls: by which tokens it knows whom, how long, and what it tells of them."""

import base64
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.access import CreatedToken, CredentialKind, TokenScope, secret_digest
from headgate.catalog.ports.directory import TableName
from headgate.catalog.wire.lake_description import ACTING_AS
from headgate.clock import SystemWorld
from headgate.errors import InvalidRequest, NotAuthenticated
from headgate.server.app import ServerParts, create_app
from headgate.server.auth.credentials import CredentialAuthenticator
from headgate.server.auth.oidc import TokenVerifier
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.server.operations.metered_catalog import meter
from headgate.server.operations.parts import make_operations
from headgate.server.settings import ServerSettings
from headgate.settings import Settings
from headgate.table.commit.background import PostCommitScheduler
from tests.support.catalogs import a_catalog
from tests.support.http_server import running
from tests.support.issuers import NOW, Issuer, trusted
from tests.support.proposals import inline
from tests.support.tables import create_managed
from tests.support.world import StillWorld

HOUR = 3_600_000
ADMIN = "hgt_the-admin-token-of-this-test-0123456789abcdef"
CANARY = "canary-4711"


@dataclass
class Served:
    """Two lakes behind a real server, and what is needed to look at it from both sides."""

    url: str
    main: Catalog
    other: Catalog
    world: StillWorld
    issuer: Issuer

    def call(self, method: str, path: str, token: str | None = ADMIN, **more: Any) -> httpx.Response:
        headers = {} if token is None else {"Authorization": f"Bearer {token}".strip()}
        return httpx.request(method, self.url + path, headers=headers | more.pop("headers", {}), **more)

    def me(self, token: str | None) -> Any:
        return self.call("GET", "/api/headgate/v1/me", token)

    def token(self, principal: str = "ana", **more: Any) -> CreatedToken:
        return self.main.tokens.create(principal, ttl_ms=HOUR, **more)


def _lake(name: str, catalog: Catalog) -> ServedLake:
    settings = Settings()
    return ServedLake(name, catalog, PostCommitScheduler(settings, catalog.copies.write_if_due), settings)


@contextmanager
def two_lakes(folder: Path) -> Iterator[tuple[Catalog, Catalog]]:
    with a_catalog("sqlite", folder / "main") as main, a_catalog("sqlite", folder / "other") as other:
        yield main, other


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    issuer, world = Issuer(), StillWorld(NOW * 1000)
    with two_lakes(tmp_path_factory.mktemp("lakes")) as (main, other):
        lakes = ServedLakes((_lake("main", main), _lake("other", other)))
        knows = CredentialAuthenticator(
            lakes, world, secret_digest(ADMIN), TokenVerifier((trusted(),), world, issuer.fetch)
        )
        with running(create_app(ServerParts(lakes, knows))) as url:
            yield Served(url, main, other, world, issuer)


def test_each_kind_of_token_is_known(served: Served) -> None:
    scoped = served.token(scope=TokenScope(read_only=True, schema="sales"))
    client = served.token("etl", kind=CredentialKind.CLIENT)
    access = served.main.tokens.exchange(client.token.token_id, client.secret, ttl_ms=HOUR)

    assert served.me(ADMIN).json() == {"principal": "owner", "lake": None, "read_only": False, "schema": None}
    assert served.me(scoped.secret).json() == {
        "principal": "ana",
        "lake": "main",
        "read_only": True,
        "schema": "sales",
    }
    assert served.me(access.secret).json()["principal"] == "etl"
    assert served.me(served.issuer.token(sub="bob")).json()["principal"] == "bob"


def _wrong(served: Served) -> dict[str, str | None]:
    client = served.token("etl", kind=CredentialKind.CLIENT)
    return {
        "none": None,
        "empty": "",
        "made up": "hgt_" + "x" * 43,
        "almost the admin's": ADMIN[:-1],
        "a client's secret": client.secret,
        "a client's id": client.token.token_id,
        "the digest that is kept": secret_digest(ADMIN),
        "ended": served.issuer.token(exp=NOW - 100),
        "forged": served.issuer.forged(),
        "endless": "hgt_" + "x" * 20_000,
    }


WRONG = ("none", "empty", "made up", "almost the admin's", "a client's secret", "a client's id")
WRONG += ("the digest that is kept", "ended", "forged", "endless")


@pytest.mark.parametrize("what", WRONG)
def test_who_is_not_known_is_refused_in_words_that_tell_nothing(served: Served, what: str) -> None:
    answer = served.me(_wrong(served)[what])

    assert answer.status_code in ((401, 431, 400) if what == "endless" else (401,))
    if answer.status_code == 401:
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["code"] == "HEADGATE_NOT_AUTHENTICATED"


@pytest.mark.parametrize("scheme", ["Basic", "Token", ""])
def test_another_scheme_is_no_bearer_token(served: Served, scheme: str) -> None:
    headers = {"Authorization": f"{scheme} {ADMIN}".strip()}

    assert httpx.get(f"{served.url}/api/headgate/v1/me", headers=headers).status_code == 401


def test_a_token_of_one_lake_opens_no_other(served: Served) -> None:
    """Even one of an owner: whoever owns a lake could make itself the owner of all."""
    token = served.token("owner")

    assert served.call("GET", "/api/headgate/v1/lakes/main/tokens", token.secret).status_code == 200
    hidden = served.call("GET", "/api/headgate/v1/lakes/other/tokens", token.secret)
    missing = served.call("GET", "/api/headgate/v1/lakes/nosuch/tokens", token.secret)
    assert hidden.status_code == missing.status_code == 404
    same = [{**each.json(), "requestId": None} for each in (hidden, missing)]
    assert str(same[0]).replace("other", "…") == str(same[1]).replace("nosuch", "…")
    assert served.call("GET", "/api/headgate/v1/lakes/other/tokens").status_code == 200


def test_metrics_tell_a_token_of_one_lake_nothing_of_the_others(tmp_path: Path) -> None:
    with two_lakes(tmp_path) as (main, other):
        operations = make_operations(ServerSettings(behind_proxy=True))
        lakes = ServedLakes(
            tuple(
                ServedLake(name, meter(name, catalog, operations.metrics), _lake(name, catalog).after_commit)
                for name, catalog in (("main", main), ("secret-lake", other))
            )
        )
        for lake in lakes:
            table_id = create_managed(lake.catalog, TableName("s", "t")).table_id
            lake.catalog.propose(inline(table_id, 1, lake.name))
        knows = CredentialAuthenticator(lakes, SystemWorld(), secret_digest(ADMIN))
        token = main.tokens.create("ana", ttl_ms=HOUR).secret
        with running(create_app(ServerParts(lakes, knows, operations=operations))) as url:
            of_one, of_all = (
                httpx.get(f"{url}/metrics", headers={"Authorization": f"Bearer {each}"}).text
                for each in (token, ADMIN)
            )

    assert "secret-lake" in of_all
    assert "secret-lake" not in of_one
    assert 'headgate_proposals_total{lake="main",outcome="ratified"} 1.0' in of_one
    assert "headgate_requests_in_flight 1.0" in of_one


def test_a_token_taken_back_elsewhere_is_good_for_seconds_at_most(served: Served) -> None:
    token = served.token()
    assert served.me(token.secret).status_code == 200
    served.main.tokens.revoke(token.token.token_id)

    served.world.now += 2_000

    assert served.me(token.secret).status_code == 401


def test_a_token_taken_back_here_is_good_no_more(served: Served) -> None:
    token = served.token()
    assert served.me(token.secret).status_code == 200

    gone = served.call("DELETE", f"/api/headgate/v1/lakes/main/tokens/{token.token.token_id}")

    assert gone.json() == {"revoked": True}
    assert served.me(token.secret).status_code == 401


def test_a_token_of_an_issuer_is_not_remembered_beyond_its_end(served: Served) -> None:
    token = served.issuer.token(exp=served.world.now / 1000 + 1)
    assert served.me(token).status_code == 200

    served.world.now += 1_000 + 60_000

    assert served.me(token).status_code == 401


def test_nobody_remembers_tokens_for_long(served: Served) -> None:
    with pytest.raises(InvalidRequest, match="at most"):
        CredentialAuthenticator(ServedLakes(()), served.world, remembered_ms=5_001)


def test_what_is_remembered_is_bounded(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.server.auth.credentials._MOST_REMEMBERED", 3)
    knows = CredentialAuthenticator(ServedLakes((_lake("main", served.main),)), served.world)
    for _ in range(8):
        knows.authenticate(f"Bearer {served.token('many').secret}")

    assert len(knows._known) <= 3
    with pytest.raises(NotAuthenticated):
        knows.authenticate("Bearer hgt_nothing")
    assert len(knows._known) <= 3


# --- tokens by API


def test_tokens_are_made_listed_and_taken_back(served: Served) -> None:
    asked = {"principal": "carl", "ttl_seconds": 60, "read_only": True, "schema": "sales", "label": "x"}
    made = served.call("POST", "/api/headgate/v1/lakes/main/tokens", json=asked)
    assert made.status_code == 201
    secret = made.json()["secret"]
    assert served.me(secret).json()["principal"] == "carl"

    listed = served.call("GET", "/api/headgate/v1/lakes/main/tokens", secret)

    assert [each["token_id"] for each in listed.json()["tokens"]] == [made.json()["token_id"]]
    assert "secret" not in listed.text
    assert secret not in served.call("GET", "/api/headgate/v1/lakes/main/tokens").text


def test_who_has_a_token_makes_others_for_itself_and_for_no_more(served: Served) -> None:
    mine = served.token("dora", scope=TokenScope(read_only=True)).secret
    path = "/api/headgate/v1/lakes/main/tokens"

    assert served.call("POST", path, mine, json={"read_only": True}).json()["principal"] == "dora"
    assert served.call("POST", path, mine, json={}).status_code == 403
    assert served.call("POST", path, mine, json={"principal": "owner"}).status_code == 403
    assert served.call("POST", path, mine, json={"principal": "bob", "read_only": True}).status_code == 403


@pytest.mark.parametrize(
    "body", ["", "{", "[]", '{"nope": 1}', '{"ttl_seconds": "x"}', '{"ttl_seconds": -1}']
)
def test_what_is_no_request_for_a_token_is_a_400(served: Served, body: str) -> None:
    answer = served.call("POST", "/api/headgate/v1/lakes/main/tokens", content=body)

    assert answer.status_code == 400
    assert {"code", "message"} <= set(answer.json())


# --- the wall, from outside


def _operation(served: Served, path: str, token: str, **more: Any) -> httpx.Response:
    return served.call("POST", f"/api/headgate/v1/lakes/main/{path}", token, **more)


def test_who_names_itself_is_not_let_off_the_scope_of_its_token(served: Served) -> None:
    served.main.create_schema("theirs")
    served.main.granting.grant("create", "theirs", "hal")
    token = served.token("hal", scope=TokenScope(read_only=True)).secret
    staged = {"name": {"schema": "theirs", "table": "t"}}

    for headers in ({}, {ACTING_AS: "hal"}):
        assert _operation(served, "tables/stage", token, json=staged, headers=headers).status_code == 403
    for other in ("owner", "ana", "group:x"):
        answer = _operation(served, "tables/stage", token, json=staged, headers={ACTING_AS: other})
        assert answer.status_code in (400, 403)
    assert _operation(served, "tables/stage", served.token("hal").secret, json=staged).status_code == 200


def test_t14_what_is_hidden_is_answered_like_what_is_missing(served: Served) -> None:
    made = create_managed(served.main, TableName("secret", "plans"))
    token = served.token("ivy").secret
    real, missing = (made.table_id, "secret", "plans"), ("0" * 8, "nosuch", "nothere")
    asks: tuple[tuple[str, str, Any], ...] = (
        ("POST", "/api/headgate/v1/lakes/main/commits/tail", lambda i, s, t: {"table_id": i}),
        (
            "POST",
            "/api/headgate/v1/lakes/main/readers/load",
            lambda i, s, t: {"name": {"schema": s, "table": t}},
        ),
        ("POST", "/api/headgate/v1/lakes/main/permissions/permitted_kinds", lambda i, s, t: {"table_id": i}),
        ("POST", "/api/headgate/v1/lakes/main/names/check_may_purge", lambda i, s, t: {"table_id": i}),
        ("GET", "/api/2.1/unity-catalog/tables/main.{1}.{2}", None),
        ("GET", "/api/2.1/unity-catalog/schemas/main.{1}", None),
        ("GET", "/api/2.1/unity-catalog/delta/v1/catalogs/main/schemas/{1}/tables/{2}", None),
        ("DELETE", "/api/2.1/unity-catalog/delta/v1/catalogs/main/schemas/{1}/tables/{2}", None),
        ("DELETE", "/api/2.1/unity-catalog/tables/main.{1}.{2}", None),
    )
    for method, path, body in asks:
        told = []
        for known in (real, missing):
            more = {} if body is None else {"json": body(*known)}
            same = {"X-Request-Id": "same"}
            answer = served.call(method, path.format(*known), token, headers=same, **more)
            text = answer.text
            for word in known:
                text = text.replace(word, "…")
            told.append((answer.status_code, text))
        assert told[0] == told[1], path
        assert told[0][0] == 404, (path, told[0])


# --- client credentials

OAUTH = "/api/1.0/unity-control/oauth/token"
GRANT = {"grant_type": "client_credentials", "scope": "all-apis"}


def _basic(client_id: str, secret: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()}


@pytest.mark.parametrize("way", ["basic", "form"])
def test_a_client_gets_a_token_for_its_secret(served: Served, way: str) -> None:
    client = served.other.tokens.create("etl", ttl_ms=HOUR * 9, kind=CredentialKind.CLIENT)
    known = {"client_id": client.token.token_id, "client_secret": client.secret}
    if way == "basic":
        headers = _basic(client.token.token_id, client.secret)
        answer = served.call("POST", OAUTH, None, data=GRANT, headers=headers)
    else:
        answer = served.call("POST", OAUTH, None, data=GRANT | known)

    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["token_type"], told["expires_in"]) == ("Bearer", 3600)
    assert answer.headers["cache-control"] == "no-store"
    assert served.me(told["access_token"]).json()["principal"] == "etl"
    assert served.me(told["access_token"]).json()["lake"] == "other"


def _refused(client: CreatedToken) -> dict[str, tuple[dict[str, Any], int, str]]:
    client_id, secret = client.token.token_id, client.secret
    body = "grant_type=client_credentials&grant_type=client_credentials"
    form = {"content-type": "application/x-www-form-urlencoded"}
    return {
        "wrong secret": ({"data": GRANT, "headers": _basic(client_id, "hgs_x")}, 401, "invalid_client"),
        "wrong id": ({"data": GRANT, "headers": _basic("x", secret)}, 401, "invalid_client"),
        "nobody": ({"data": GRANT}, 401, "invalid_client"),
        "not base64": ({"data": GRANT, "headers": {"Authorization": "Basic ?"}}, 401, "invalid_client"),
        "no colon": ({"data": GRANT, "headers": {"Authorization": "Basic eA=="}}, 401, "invalid_client"),
        "another grant": ({"data": {"grant_type": "password"}}, 400, "unsupported_grant_type"),
        "no grant": ({"data": {"scope": "x"}}, 400, "invalid_request"),
        "twice": ({"content": body, "headers": form}, 400, "invalid_request"),
        "both ways": (
            {"data": GRANT | {"client_secret": secret}, "headers": _basic(client_id, secret)},
            400,
            "invalid_request",
        ),
        "no form": ({"content": b"grant_type", "headers": form}, 400, "invalid_request"),
    }


@pytest.mark.parametrize(
    "what",
    (
        *("wrong secret", "wrong id", "nobody", "not base64", "no colon", "another grant", "no grant"),
        *("twice", "both ways", "no form"),
    ),
)
def test_what_is_no_client_gets_none(served: Served, what: str) -> None:
    client = served.token("etl", kind=CredentialKind.CLIENT)
    request, status, error = _refused(client)[what]

    answer = served.call("POST", OAUTH, None, **request)

    assert (answer.status_code, answer.json()) == (status, {"error": error})
    assert ("www-authenticate" in answer.headers) is (status == 401)


# --- audit, and secrets in what is written


def _audited(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [json.loads(each.getMessage()) for each in caplog.records if each.name == "headgate.audit"]


def test_changing_and_refused_calls_are_written_down(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "headgate.audit")
    token = served.token("fay")
    path = "/api/headgate/v1/lakes/main/tokens"

    served.call("GET", path, token.secret)
    served.call("POST", path, token.secret, json={})
    served.call("POST", path, token.secret, json={"principal": "bob"})
    served.call("GET", path, None)
    served.call("GET", "/api/headgate/v1/lakes/nosuch/tokens", token.secret)

    told = [(each["principal"], each["method"], each["status"], each["outcome"]) for each in _audited(caplog)]
    assert told == [
        ("fay", "POST", 201, "done"),
        ("fay", "POST", 403, "refused"),
        (None, "GET", 401, "refused"),
        ("fay", "GET", 404, "refused"),
    ]
    first = _audited(caplog)[0]
    assert (first["path"], first["token_id"]) == (path, token.token.token_id)
    assert set(first) == {
        "principal", "token_id", "method", "path", "status", "outcome", "request_id", "from",
    }  # fmt: skip


def test_t11_nobody_writes_a_line_of_the_audit_log(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "headgate.audit")

    served.call("DELETE", '/api/headgate/v1/lakes/x%0d%0a{"principal":"owner"}%e2%80%a8/tokens/%1b[2J')

    (line,) = [each.getMessage() for each in caplog.records if each.name == "headgate.audit"]
    assert line.isprintable()
    assert line.isascii()
    assert json.loads(line)["principal"] == "owner"


def test_t15_no_secret_is_in_any_log_or_error(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = served.token("etl", kind=CredentialKind.CLIENT)
    token = served.token("gus", label="theirs")
    jwt = served.issuer.token(sub=CANARY)
    broken = served.issuer.token(sub=CANARY, exp=1)
    secrets = [token.secret, client.secret, ADMIN, jwt, broken, "hgt_" + CANARY * 4, CANARY * 3]
    path = "/api/headgate/v1/lakes/main/tokens"
    answers = []
    for secret in secrets:
        answers += [
            served.call("GET", path, secret),
            served.call("GET", f"{path}?access_token={secret}", None),
            served.call("DELETE", f"{path}/{secret}", secret),
            served.call("POST", path, secret, json={"schema": secret}),
            served.call("POST", path, secret, json={secret: 1}),
            served.call("POST", OAUTH, None, data=GRANT | {"client_secret": secret}),
            served.call("POST", OAUTH, None, data=GRANT, headers=_basic(secret, secret)),
        ]
    errors = "".join(answer.text for answer in answers if answer.status_code >= 400)
    logged = "\n".join(each.getMessage() + str(each.exc_info or "") for each in _of_ours(caplog))

    for secret in (token.secret, client.secret, jwt, broken):
        assert secret not in errors
        assert secret not in logged
    assert ADMIN not in logged


def _of_ours(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [each for each in caplog.records if not each.name.startswith(("httpx", "httpcore", "asyncio"))]
