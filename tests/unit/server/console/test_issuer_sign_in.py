"""Somebody signs in at an issuer's page: only who began comes in, as who a token of the issuer says."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

import headgate
from headgate.errors import InvalidRequest
from headgate.server.auth.code_flow import PendingSignIn
from headgate.server.console.session import PENDING_SECONDS, SessionSeal, new_key
from headgate.server.settings import ServerSettings
from headgate.server.trusted_issuers import TrustedIssuer, check_issuer
from tests.support.code_issuer import CLIENT_ID, CodeIssuer, code_issuer
from tests.support.console_client import ConsoleClient
from tests.support.console_lakes import console_server
from tests.support.operated_server import Answer

BEGIN = "/console/sign-in/issuer?number=0&next=/console/lakes/main/events"


@dataclass(frozen=True)
class Scene:
    """A console, and an issuer that it trusts."""

    url: str
    issuer: CodeIssuer

    def begin(self, client: ConsoleClient) -> dict[str, str]:
        """What the issuer is asked when somebody is sent there."""
        answer = client.get(BEGIN)
        assert answer.status == 303, answer.body.decode()
        assert answer.headers["location"].startswith(f"{self.issuer.url}/authorize?")
        return dict(parse_qsl(urlsplit(answer.headers["location"]).query))

    def come_back(self, client: ConsoleClient, asked: dict[str, str], **changed: str) -> Answer:
        """The browser comes back from the issuer."""
        back = urlsplit(self.issuer.authorize({**asked, **changed}))
        return client.get(f"{back.path}?{back.query}")


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("issued") / "main"
    with headgate.connect(folder) as lake:
        lake.create_schema("s")
        lake.create_table("s.t", "id INT")
        lake.grant("READ", on="s.t", to="carol")
    with code_issuer() as issuer:
        trusted = TrustedIssuer(issuer=issuer.url, audiences=(CLIENT_ID,), client_id=CLIENT_ID)
        with console_server({"main": folder}, (trusted,)) as server:
            yield Scene(server.url, issuer)


@pytest.fixture
def scene(issued: Scene) -> Iterator[Scene]:
    yield issued
    issued.issuer.claims.clear()


def test_who_signs_in_at_the_issuer_sees_what_they_may(scene: Scene) -> None:
    client = ConsoleClient(scene.url)
    assert "Sign in with 127.0.0.1" in client.get("/console/sign-in").body.decode()

    answer = scene.come_back(client, scene.begin(client))

    assert answer.status == 200
    assert 'content="0;url=/console/lakes/main/events"' in answer.body.decode()
    page = client.get("/console/lakes/main/tables").body.decode()
    assert "carol" in page and "s.t" in page


def test_the_issuer_is_told_no_secret_and_asked_for_a_code(scene: Scene) -> None:
    asked = scene.begin(ConsoleClient(scene.url))

    assert asked["response_type"] == "code" and asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == f"{scene.url}/console/sign-in/issuer/back"
    assert asked.keys() == {
        "response_type", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method",
    }  # fmt: skip


def test_who_did_not_begin_does_not_come_in(scene: Scene) -> None:
    """An address with somebody else's code, that a page leads to, signs nobody in as somebody else."""
    victim, attacker = ConsoleClient(scene.url), ConsoleClient(scene.url)
    asked = scene.begin(attacker)

    assert scene.come_back(victim, asked).status == 401
    scene.begin(victim)
    assert scene.come_back(victim, asked).status == 401
    assert victim.get("/console/lakes/main").status == 303


def test_an_answer_to_another_question_is_refused(scene: Scene) -> None:
    client = ConsoleClient(scene.url)

    assert scene.come_back(client, scene.begin(client), state="another").status == 401
    assert scene.come_back(client, scene.begin(client), nonce="another").status == 401
    assert client.get("/console/sign-in/issuer/back?error=access_denied").status == 401
    assert client.get("/console/lakes/main").status == 303


def test_a_code_that_was_stolen_on_its_way_is_worth_nothing(scene: Scene) -> None:
    client = ConsoleClient(scene.url)

    assert scene.come_back(client, scene.begin(client), code_challenge="of somebody else").status == 503
    assert client.get("/console/lakes/main").status == 303


@pytest.mark.parametrize(
    "claims", [{"aud": "another"}, {"iss": "https://another.example"}, {"exp": 1}, {"sub": "owner"}],
    ids=["audience", "issuer", "ended", "owner"],
)  # fmt: skip
def test_a_token_that_is_not_good_begins_no_session(scene: Scene, claims: dict[str, object]) -> None:
    client = ConsoleClient(scene.url)
    scene.issuer.claims.update(claims)

    assert scene.come_back(client, scene.begin(client)).status == 401
    assert client.get("/console/lakes/main").status == 303


@pytest.mark.parametrize("path", ["/console/sign-in/issuer?number=1", "/console/sign-in/issuer?number=-1"])
def test_nobody_is_sent_to_an_issuer_that_is_not_there(scene: Scene, path: str) -> None:
    assert ConsoleClient(scene.url).get(path).status == 404


def test_it_leads_nowhere_else(scene: Scene) -> None:
    client = ConsoleClient(scene.url)
    answer = client.get("/console/sign-in/issuer?number=0&next=https://evil.example/")
    asked = dict(parse_qsl(urlsplit(answer.headers["location"]).query))

    assert 'content="0;url=/"' in scene.come_back(client, asked).body.decode()


def test_the_cookie_of_what_was_begun_ends_soon_and_is_no_session(tmp_path: Path) -> None:
    seal = SessionSeal(new_key(), ServerSettings(behind_proxy=True))
    pending = PendingSignIn("i", "s", "n", "v", "r", "/", 1_000)
    cookie = seal.pending_cookie(pending)

    assert (
        cookie.httponly and cookie.secure and cookie.samesite == "lax" and cookie.max_age == PENDING_SECONDS
    )
    assert cookie.key.startswith("__Host-") and cookie.key != seal.cookie_name
    assert seal.open_pending({cookie.key: cookie.value or ""}, 999) == pending
    assert seal.open_pending({cookie.key: cookie.value or ""}, 1_000) is None
    assert seal.open({seal.cookie_name: cookie.value or ""}, 0) is None


def test_a_client_that_is_no_audience_is_refused_at_the_start() -> None:
    with pytest.raises(InvalidRequest, match="name it among the audiences"):
        check_issuer(TrustedIssuer(issuer="https://id.example", audiences=("a",), client_id="b"))
