"""Which addresses a webhook may call (T16): what is public, by https, at the address that was looked at."""

import ipaddress
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from headgate.errors import InvalidRequest, NotAllowed
from headgate.server.webhooks import targets

PUBLIC = "93.184.215.14"
PRIVATE = (
    "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1", "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "2002:7f00:1::", "2002:a00:1::", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
)  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_what_is_not_public_is_refused(address: str) -> None:
    with pytest.raises(NotAllowed, match="private"):
        targets.pin_target("https://hook.example/x", private=False, resolve=lambda *_: (address,))


@pytest.mark.parametrize("address", PRIVATE)
def test_one_private_address_among_public_ones_is_enough(address: str) -> None:
    with pytest.raises(NotAllowed):
        targets.pin_target("https://hook.example/x", private=False, resolve=lambda *_: (PUBLIC, address))


@pytest.mark.parametrize("address", [PUBLIC, "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e"])
def test_what_is_public_is_called_at_the_address_looked_at(address: str) -> None:
    assert targets.is_public(ipaddress.ip_address(address))
    pinned = targets.pin_target("https://hook.example/x?y=1", private=False, resolve=lambda *_: (address,))

    assert (pinned.address, pinned.host, pinned.port, pinned.path) == (address, "hook.example", 443, "/x?y=1")


@pytest.mark.parametrize(
    "url", ["http://hook.example", "ftp://hook.example", "file:///etc/passwd", "hook.example", ""]
)
def test_only_https(url: str) -> None:
    with pytest.raises(NotAllowed, match="https"):
        targets.pin_target(url, private=False, resolve=lambda *_: (PUBLIC,))


@pytest.mark.parametrize(
    "url", ["https://u:p@hook.example", "https://", "https:///x", "https://hook.example/#x"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequest):
        targets.pin_target(url, private=False, resolve=lambda *_: (PUBLIC,))


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1/x", "https://[::1]/x", "https://localhost/x", "https://0x7f.1/x"]
)
def test_the_own_machine_is_refused_however_it_is_spelled(url: str) -> None:
    with pytest.raises(NotAllowed):
        targets.pin_target(url, private=False)


@pytest.fixture
def redirecting() -> Iterator[tuple[int, list[str]]]:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_response(307)
            self.send_header("Location", "/secret")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port, asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_redirects_are_not_followed_and_the_name_is_not_asked_again(
    redirecting: tuple[int, list[str]],
) -> None:
    port, asked = redirecting
    pinned = targets.pin_target(
        f"http://hook.example:{port}/x", private=True, resolve=lambda *_: ("127.0.0.1",)
    )

    assert targets.post(pinned, b"{}", {}) == 307
    assert asked == ["/x"]
