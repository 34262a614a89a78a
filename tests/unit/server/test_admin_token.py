"""The owner's token: made once, for the owner of the server alone, and never taken from where others look."""

import os
import stat
import threading
from pathlib import Path

import pytest

from headgate.catalog.ports.access import secret_digest
from headgate.clock import SystemWorld
from headgate.errors import InvalidRequest, NotAuthenticated
from headgate.server import admin_token
from headgate.server.auth.credentials import CredentialAuthenticator
from headgate.server.lakes import ServedLakes


def test_it_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"
    old = os.umask(0)
    try:
        first = admin_token.ensure_token(path)
    finally:
        os.umask(old)

    assert admin_token.ensure_token(path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(first) >= 43


def test_two_files_have_two_tokens(tmp_path: Path) -> None:
    assert admin_token.ensure_token(tmp_path / "a") != admin_token.ensure_token(tmp_path / "b")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o666])
def test_one_that_others_can_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    token = admin_token.ensure_token(path)
    path.chmod(mode)

    with pytest.raises(InvalidRequest, match="others can") as refused:
        admin_token.ensure_token(path)
    assert token not in str(refused.value)


def test_an_empty_file_is_no_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.touch(mode=0o600)

    with pytest.raises(InvalidRequest, match="no token"):
        admin_token.ensure_token(path)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    admin_token.ensure_token(elsewhere)
    (tmp_path / "token").symlink_to(elsewhere)

    with pytest.raises(InvalidRequest):
        admin_token.ensure_token(tmp_path / "token")


def test_many_who_start_at_once_have_the_same_token(tmp_path: Path) -> None:
    found: list[str] = []

    def start() -> None:
        found.append(admin_token.ensure_token(tmp_path / "token"))

    threads = [threading.Thread(target=start) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 16
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Bearer x", "basic secret", "secret", "Bearer secre"]
)
def test_only_who_has_the_token_is_the_owner(header: str | None) -> None:
    authenticator = CredentialAuthenticator(ServedLakes(()), SystemWorld(), secret_digest("secret"))

    assert authenticator.authenticate("Bearer secret").principal == "owner"
    with pytest.raises(NotAuthenticated):
        authenticator.authenticate(header)
