"""``headgate serve``: what it says, what it refuses, how it stops, and that a kill loses nothing."""

import json
import signal
import socket
import stat
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.directory import TableName
from headgate.cli.main import app
from headgate.server.settings import ROWS
from tests.support import postgresql, proposals
from tests.support.lakes import build_lake
from tests.support.serve_process import serve_process
from tests.support.tables import create_managed
from tests.support.waiting import until

EVENTS = "/api/headgate/v1/lakes/main/events"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    build_lake(tmp_path / "lake")
    return tmp_path / "lake"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["serve", *map(str, arguments)])


def _published(lake: Path) -> int:
    with closing(open_catalog(lake)) as catalog:
        return catalog.tail(catalog.resolve(TableName("sales", "orders")).table_id).published


def test_every_setting_has_its_flag_in_the_help() -> None:
    shown = run("--help").stdout

    assert not [row.flag for row in ROWS if row.flag.partition("/")[0] not in shown]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--host", "0.0.0.0"), "travel in the clear"),
        (("--host", "0.0.0.0", "--no-auth", "--behind-proxy"), "without authentication"),
        (("--no-auth", "--behind-proxy"), "without authentication"),
        (("--tls-key", "k.pem"), "a certificate and its key"),
        (("--workers", "2"), "served by one process"),
        (("--threads", "0"), "threads is more than 0"),
        (("--config", "none.toml"), "cannot be read"),
    ],
)
def test_what_is_not_safe_does_not_start(lake: Path, flags: tuple[str, ...], said: str) -> None:
    done = run(lake, *flags)

    assert done.exit_code == 1
    assert said in " ".join(done.stderr.split())
    assert not (lake / "admin-token").exists()


def test_a_folder_without_a_lake_is_not_made_into_one_unasked(tmp_path: Path) -> None:
    done = run(tmp_path / "typo")

    assert (done.exit_code, (tmp_path / "typo").exists()) == (3, False)
    assert "--create" in done.stderr


def test_a_port_that_is_taken_is_refused(lake: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = run(lake, "--port", str(other.getsockname()[1]))

    assert done.exit_code == 1
    assert "choose another" in " ".join(done.stderr.split())


def test_it_serves_publishes_what_was_left_and_stops_in_good_order(lake: Path, tmp_path: Path) -> None:
    before = _published(lake)
    with serve_process(str(lake), tmp_path) as server:
        token_file = lake / "admin-token"
        said = " ".join(server.said)
        health, ready = server.ask("/health").status, server.ask("/ready").status
        events = server.ask(EVENTS).json["events"]
        server.headers.clear()
        stranger = server.ask(EVENTS).status
        until(lambda: _published(lake) == 2)
        code = server.stop()
        lines = [json.loads(line) for line in server.log.read_text().splitlines()]

    assert (before, health, ready, stranger, code) == (0, 200, 200, 401, 0)
    assert len(events) > 0
    assert stat.S_IMODE(token_file.stat().st_mode) == 0o600
    assert str(token_file) in said
    assert server.token is not None
    assert server.token not in said + server.log.read_text()
    assert {line["status"] for line in lines if line["message"] == "request"} == {200, 401}


def test_a_kill_loses_nothing(lake: Path, tmp_path: Path) -> None:
    """What was ratified before the process was killed is there, and published, when the next one runs."""
    with serve_process(str(lake), tmp_path, "--publish-seconds", "3600") as server:
        until(lambda: _published(lake) == 2)
        before = server.ask(EVENTS).json
        with closing(open_catalog(lake)) as catalog:
            table_id = catalog.resolve(TableName("sales", "orders")).table_id
            for version in (3, 4, 5):
                catalog.propose(proposals.inline(table_id, version, f"k{version}"))
        server.stop(signal.SIGKILL)
    left = _published(lake)
    with serve_process(str(lake), tmp_path, port=server.port) as again:
        until(lambda: _published(lake) == 5)
        after = again.ask(f"{EVENTS}?after={before['cursor']}").json
        same_token = again.token == server.token
        assert again.stop() == 0

    assert left == 2
    assert [event["version"] for event in after["events"] if event["kind"] == "commit"] == [3, 4, 5]
    assert same_token


def test_several_processes_serve_one_database(tmp_path: Path) -> None:
    postgres = postgresql.server()
    with postgres.database() as name:
        with closing(postgres.catalog(name, tmp_path / "warehouse")) as catalog:
            create_managed(catalog)
        config = tmp_path / "server.toml"
        config.write_text('[server]\nworkers = 2\nlog_format = "text"\n')
        flags = (
            "--config",
            str(config),
            "--admin-token-file",
            str(tmp_path / "token"),
            "--drain-seconds",
            "5",
        )
        with serve_process(postgres.url(name), tmp_path, *flags) as server:
            seen = {server.ask(EVENTS).status for _ in range(20)}
            code = server.stop()

    assert (seen, code) == ({200}, 0)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port))


def test_a_stop_waits_for_the_streams_and_ends_them(lake: Path, tmp_path: Path) -> None:
    with (
        serve_process(str(lake), tmp_path, "--no-auth") as server,
        socket.create_connection(("127.0.0.1", server.port)) as line,
    ):
        host = f"Host: 127.0.0.1:{server.port}"
        line.sendall(f"GET {EVENTS} HTTP/1.1\r\n{host}\r\nAccept: text/event-stream\r\n\r\n".encode())
        received = b""
        while b": alive" not in received:
            part = line.recv(65_536)
            assert part, received
            received += part
        code = server.stop(signal.SIGINT)
        while part := line.recv(65_536):
            received += part

    assert code == 0
    assert received.endswith(b"0\r\n\r\n")
