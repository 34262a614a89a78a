"""The owner's token: made once, for the owner of the server alone, and never taken from where others look."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_one_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    admin_token.ensure_token(path)
    os.chown(path, 12_345, -1)

    with pytest.raises(InvalidRequest, match="another user"):
        admin_token.ensure_token(path)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    admin_token.ensure_token(elsewhere)
    (tmp_path / "token").symlink_to(elsewhere)

    with pytest.raises(InvalidRequest):
        admin_token.ensure_token(tmp_path / "token")


TOKEN = "hgt_" + "x" * 40


def secret_volume(folder: Path, mode: int = 0o440) -> Path:
    """A file as Kubernetes mounts one of a Secret, on a mount that can still be written to."""
    dated = folder / "..2026_11_19_14_00_00.1"
    dated.mkdir()
    (dated / "admin-token").write_text(TOKEN)
    (dated / "admin-token").chmod(mode)
    (folder / "..data").symlink_to(dated.name)
    (folder / "admin-token").symlink_to(Path("..data") / "admin-token")
    return folder / "admin-token"


def test_a_secret_of_kubernetes_is_taken_where_it_is_mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = secret_volume(tmp_path)
    with pytest.raises(InvalidRequest, match="a link, and not on a mount that is read-only"):
        admin_token.ensure_token(path)

    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))

    assert admin_token.ensure_token(path) == TOKEN


@pytest.mark.parametrize("mode", [0o444, 0o460, 0o442, 0o644])
def test_but_not_if_others_can_read_or_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    path = secret_volume(tmp_path, mode)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))

    with pytest.raises(InvalidRequest, match="others can") as refused:
        admin_token.ensure_token(path)
    assert TOKEN not in str(refused.value)


def test_nor_if_a_group_can_that_is_not_the_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = secret_volume(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    monkeypatch.setattr(os, "getegid", lambda: 54_321)
    monkeypatch.setattr(os, "getgroups", lambda: [54_321])

    with pytest.raises(InvalidRequest, match="others can"):
        admin_token.ensure_token(path)


def test_a_link_to_where_the_same_file_system_can_be_written_to_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount = tmp_path / "mount"
    mount.mkdir()
    admin_token.ensure_token(tmp_path / "elsewhere")
    (mount / "token").symlink_to(tmp_path / "elsewhere")

    def found_by(place: Path) -> SimpleNamespace:
        return SimpleNamespace(f_flag=os.ST_RDONLY if place.resolve().is_relative_to(mount) else 0)

    monkeypatch.setattr(os, "statvfs", found_by)

    with pytest.raises(InvalidRequest, match="a link"):
        admin_token.ensure_token(mount / "token")


def test_a_link_that_leaves_the_mount_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system here")
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    with tempfile.TemporaryDirectory(dir=memory) as elsewhere:
        admin_token.ensure_token(Path(elsewhere) / "token")
        (tmp_path / "token").symlink_to(Path(elsewhere) / "token")

        with pytest.raises(InvalidRequest, match="a link"):
            admin_token.ensure_token(tmp_path / "token")


_IN_A_POD = """
import os, subprocess, sys
from pathlib import Path
from headgate.server import admin_token
from tests.unit.server.test_admin_token import secret_volume
place = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=3777", "secret", place], check=True)
file = secret_volume(place)
os.chown(place, 0, 10001)
os.chown(file, 0, 10001)
subprocess.run(["mount", "-o", "remount,ro", place], check=True)
os.setgroups([10001])
os.setgid(0)
os.setuid(10001)
print(admin_token.ensure_token(file))
"""


def test_a_secret_on_a_real_mount_for_a_real_user() -> None:
    """Root's, of the pod's group, 0440, on memory that is mounted read-only; the server is somebody else."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        pytest.skip("mounts of one's own take more than this user may do")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        command = ["unshare", "-m", sys.executable, "-c", _IN_A_POD, folder]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ran.stdout.strip() == TOKEN, ran.stderr


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
