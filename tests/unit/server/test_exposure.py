"""The start-up matrix (T20): no combination of address, TLS, proxy and authentication gives a lake away."""

import itertools

import pytest

from headgate.errors import InvalidRequest
from headgate.server import exposure
from headgate.server.exposure import UNSAFE_SETUPS, is_loopback
from headgate.server.settings import LakeSettings, ServerSettings

LOCAL = LakeSettings("main", "/data/lake")
SHARED = LakeSettings("main", "postgresql://db/x")
HOSTS = {"127.0.0.1": True, "::1": True, "localhost": True, "127.8.8.8": True}
OPEN_HOSTS = (
    "0.0.0.0",
    "::",
    "10.1.2.3",
    "192.168.1.1",
    "203.0.113.5",
    "catalog.example",
    "localhost.example",
)
CERTIFICATES = ((None, None), ("c.pem", "k.pem"), ("c.pem", None), (None, "k.pem"))


def _starts(**settings: object) -> bool:
    made = ServerSettings(**{"lakes": (LOCAL,), **settings})  # type: ignore[arg-type]
    try:
        exposure.require_safe_setup(made)
    except InvalidRequest as refused:
        assert refused.code == "HEADGATE_UNSAFE_SERVER"
        return False
    return True


@pytest.mark.parametrize("host", [*HOSTS, *OPEN_HOSTS])
def test_the_matrix(host: str) -> None:
    for (certificate, key), proxy, auth in itertools.product(CERTIFICATES, (False, True), (False, True)):
        starts = _starts(host=host, tls_certificate=certificate, tls_key=key, behind_proxy=proxy, auth=auth)

        whole = (certificate is None) is (key is None)
        has_tls = certificate is not None and key is not None
        safe = (auth and (has_tls or proxy)) if host in OPEN_HOSTS else (auth or not proxy)
        assert starts is (whole and safe), (host, certificate, key, proxy, auth)


@pytest.mark.parametrize("host", [*HOSTS, *OPEN_HOSTS])
def test_only_the_own_machine_is_loopback(host: str) -> None:
    assert is_loopback(host) is (host in HOSTS)


def test_a_default_server_listens_on_the_own_machine_and_asks_who_calls() -> None:
    made = ServerSettings()

    assert (made.host, made.auth, made.behind_proxy) == ("127.0.0.1", True, False)


def test_several_processes_take_postgresql() -> None:
    assert not _starts(workers=2)
    assert not _starts(workers=2, lakes=(SHARED, LOCAL))
    assert _starts(workers=2, lakes=(SHARED,))


def test_there_must_be_a_lake() -> None:
    assert not _starts(lakes=())


def test_every_rule_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any one of the rules, something starts that must not."""
    bad = (
        {"tls_certificate": "c.pem"},
        {"auth": False, "host": "0.0.0.0", "behind_proxy": False, "tls_certificate": "c", "tls_key": "k"},
        {"auth": False, "behind_proxy": True},
        {"host": "0.0.0.0"},
        {"workers": 2},
        {"lakes": ()},
    )
    for row in UNSAFE_SETUPS:
        monkeypatch.setattr(
            exposure, "UNSAFE_SETUPS", tuple(each for each in UNSAFE_SETUPS if each is not row)
        )
        assert any(_starts(**settings) for settings in bad), row.name
