"""TLS of the client, against real servers with certificates of the tests: whom it trusts, and whom not."""

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from headgate.catalog.rest.connections import KeptConnections, NotAnswered, NotConnected
from headgate.catalog.rest.transport import HttpTransport
from headgate.catalog.targets import CatalogTarget
from headgate.errors import CatalogUnavailable, InvalidRequest
from headgate.plugins import catalogs
from headgate.settings import HttpSettings, Settings
from tests.support.waiting import PATIENCE_SECONDS, until

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)
TOKEN = "hgt_a_secret_of_somebody"


@dataclass(frozen=True)
class Authority:
    """Signs certificates, in a folder."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def file(self) -> str:
        path = self.folder / "ca.pem"
        path.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))
        return str(path)

    def sign(
        self, *names: str, begins: datetime.datetime = NOW - DAY, ends: datetime.datetime = NOW + DAY
    ) -> ssl.SSLContext:
        """What a server needs that has a certificate for these names."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = _certificate(names[0], self.certificate.subject, key, begins, ends).add_extension(
            x509.SubjectAlternativeName([_general(name) for name in names]), critical=False
        )
        chain = self.folder / "server.pem"
        chain.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + made.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        return context


def _certificate(
    name: str,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    begins: datetime.datetime,
    ends: datetime.datetime,
) -> x509.CertificateBuilder:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
    )


def _general(name: str) -> x509.GeneralName:
    with suppress(ValueError):
        return x509.IPAddress(ipaddress.ip_address(name))
    return x509.DNSName(name)


def new_authority(folder: Path) -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "an authority of a test")])
    made = _certificate("an authority of a test", name, key, NOW - 9 * DAY, NOW + 9 * DAY).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    folder.mkdir(exist_ok=True)
    return Authority(folder, key, made.sign(key, hashes.SHA256()))


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return new_authority(tmp_path / "authority")


@dataclass
class TlsServer:
    """Says what it was told to, one answer a request, and keeps what it heard."""

    port: int
    heard: list[bytes] = field(default_factory=list)
    connections: int = 0


Saying = Callable[[ssl.SSLSocket], None]


@contextmanager
def tls_server(
    context: ssl.SSLContext | None, *connections: Sequence[bytes | Saying], host: str = "127.0.0.1"
) -> Iterator[TlsServer]:
    """For each connection what is answered to its requests; without a context it knows no TLS."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listener:
        server = TlsServer(listener.getsockname()[1])

        def serve() -> None:
            for answers in connections:
                try:
                    line, _ = listener.accept()
                except OSError:
                    return
                server.connections += 1
                line.settimeout(PATIENCE_SECONDS)
                with line, suppress(OSError):
                    _converse(
                        line if context is None else context.wrap_socket(line, server_side=True), answers
                    )

        def _converse(line: socket.socket, answers: Sequence[bytes | Saying]) -> None:
            with line:
                for answer in answers:
                    heard = b""
                    while b"\r\n\r\n" not in heard and not (heard and context is None):
                        part = line.recv(65_536)
                        if not part:
                            return
                        heard += part
                    server.heard.append(heard)
                    if callable(answer):
                        answer(line)  # type: ignore[arg-type]
                    else:
                        line.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE_SECONDS)


def kept(
    server: TlsServer, ca_file: str | None, *, host: str = "127.0.0.1", seconds: float = PATIENCE_SECONDS
) -> KeptConnections:
    return KeptConnections(
        f"https://{host}:{server.port}",
        most=4,
        connect_seconds=PATIENCE_SECONDS,
        answer_seconds=seconds,
        ca_file=ca_file,
    )


def ask(server: TlsServer, ca_file: str | None, **options: str) -> bytes:
    return (
        kept(server, ca_file, **options)
        .exchange("POST", "/x", {"Authorization": f"Bearer {TOKEN}"}, b"{}")
        .content
    )  # type: ignore[arg-type]


def refused(server: TlsServer, ca_file: str | None, **options: str) -> str:
    """Why; and nothing was told to a server that is not trusted."""
    with pytest.raises(NotConnected) as why:
        ask(server, ca_file, **options)
    assert server.heard == []
    return str(why.value)


def test_a_server_is_trusted_by_the_file_of_its_authority(authority: Authority) -> None:
    with tls_server(authority.sign("127.0.0.1"), [OK, OK, OK]) as server:
        connections = kept(server, authority.file)
        answers = [connections.exchange("POST", "/x", {}, b"{}").content for _ in range(3)]

    assert answers == [b"{}"] * 3
    assert server.connections == 1


def test_or_by_the_certificates_of_the_system(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", authority.file)

    with tls_server(authority.sign("127.0.0.1"), [OK]) as server:
        assert ask(server, None) == b"{}"


def test_whom_nobody_known_has_signed_is_refused(authority: Authority, tmp_path: Path) -> None:
    other = new_authority(tmp_path / "other")

    for ca_file in (None, other.file):
        with tls_server(authority.sign("127.0.0.1"), [OK]) as server:
            told = refused(server, ca_file)
        assert "certificate" in told
        assert "ca_file" in told


def test_a_certificate_for_another_name_is_refused(authority: Authority) -> None:
    for name, host in (
        ("lakes.example", "127.0.0.1"),
        ("127.0.0.1", "localhost"),
        ("*.localhost", "localhost"),
    ):
        with tls_server(authority.sign(name), [OK]) as server:
            told = refused(server, authority.file, host=host)
        assert f"it is not for {host}:{server.port}" in told


@pytest.mark.parametrize(
    ("begins", "ends", "why"),
    [(NOW - 2 * DAY, NOW - DAY, "is over"), (NOW + DAY, NOW + 2 * DAY, "has not come")],
    ids=["expired", "early"],
)
def test_a_certificate_is_good_for_its_time_alone(
    authority: Authority, begins: datetime.datetime, ends: datetime.datetime, why: str
) -> None:
    with tls_server(authority.sign("127.0.0.1", begins=begins, ends=ends), [OK]) as server:
        assert why in refused(server, authority.file)


def test_an_old_protocol_is_refused(authority: Authority) -> None:
    context = authority.sign("127.0.0.1")
    with pytest.warns(DeprecationWarning):
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")

    with tls_server(context, [OK]) as server:
        refused(server, authority.file)


def test_a_server_without_tls_is_told_from_one_that_is_away(authority: Authority) -> None:
    plain = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
    with tls_server(None, [plain]) as server, pytest.raises(NotConnected) as why:
        ask(server, authority.file)

    assert "does not speak TLS" in str(why.value)
    assert TOKEN.encode() not in b"".join(server.heard)


def test_what_cannot_be_trusted_says_so_to_the_user(authority: Authority) -> None:
    settings = Settings(http=HttpSettings(attempts=1))
    with tls_server(authority.sign("127.0.0.1"), [OK]) as server:
        target = CatalogTarget(f"https://127.0.0.1:{server.port}/main", token=TOKEN, settings=settings)
        with pytest.raises(CatalogUnavailable, match=r"certificate is not accepted.*ca_file") as told:
            catalogs.open_catalog(target)

    assert TOKEN not in str(told.value)


@pytest.mark.skipif(not socket.has_ipv6, reason="there is no IPv6 here")
def test_an_address_of_ipv6(authority: Authority) -> None:
    with tls_server(authority.sign("::1"), [OK], host="::1") as server:
        assert ask(server, authority.file, host="[::1]") == b"{}"

    assert b"Host: [::1]:%d\r\n" % server.port in server.heard[0]


# --- answers over TLS


def test_an_answer_that_is_cut_off_is_none(authority: Authority) -> None:
    """Whoever sits on the line can end it, and must not end a body whose length nobody told."""

    def cut(line: ssl.SSLSocket) -> None:
        line.sendall(b'HTTP/1.1 200 OK\r\n\r\n{"commits": []')
        line.shutdown(socket.SHUT_RDWR)  # without the word of TLS that this is the end

    with tls_server(authority.sign("127.0.0.1"), [cut]) as server, pytest.raises(NotAnswered):
        ask(server, authority.file)


def test_a_body_without_a_length_ends_with_the_word_of_tls(authority: Authority) -> None:
    def end(line: ssl.SSLSocket) -> None:
        line.sendall(b"HTTP/1.1 200 OK\r\n\r\nall of it")
        with suppress(OSError):
            line.unwrap()

    with tls_server(authority.sign("127.0.0.1"), [end]) as server:
        assert ask(server, authority.file) == b"all of it"


def test_what_comes_behind_an_answer_is_not_taken_for_the_next(authority: Authority) -> None:
    """It is in the buffer of TLS then, where nobody sees it who only looks whether the line is quiet."""
    long = b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n" + b"x" * 20_000
    stray = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"

    with tls_server(authority.sign("127.0.0.1"), [long + stray, OK], [OK]) as server:
        connections = kept(server, authority.file)
        assert len(connections.exchange("GET", "/1", {}, None).content) == 20_000
        answer = connections.exchange("GET", "/2", {}, None)

    assert answer.content == b"{}"


def test_a_connection_that_the_server_ended_is_not_used_again(authority: Authority) -> None:
    with tls_server(authority.sign("127.0.0.1"), [OK], [OK]) as server:
        connections = kept(server, authority.file)
        connections.exchange("POST", "/1", {}, b"")
        until(lambda: not connections._idle[0].is_quiet())
        connections.exchange("POST", "/2", {}, b"")

    assert server.connections == 2


# --- where a token goes


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("to_http", [False, True], ids=["https", "http"])
def test_no_redirection_takes_the_token_along(authority: Authority, status: int, to_http: bool) -> None:
    context = authority.sign("127.0.0.1")
    with tls_server(None if to_http else context, [OK]) as other:
        place = f"http{'' if to_http else 's'}://127.0.0.1:{other.port}/api/headgate/v1/lakes/main"
        away = b"HTTP/1.1 %d Moved\r\nLocation: %b\r\nContent-Length: 0\r\n\r\n" % (status, place.encode())
        with tls_server(context, [away]) as server:
            settings = Settings(http=HttpSettings(ca_file=authority.file, attempts=1))
            target = CatalogTarget(f"https://127.0.0.1:{server.port}/main", token=TOKEN, settings=settings)
            with pytest.raises(InvalidRequest, match="sends callers to another address"):
                catalogs.open_catalog(target)

    assert other.connections == 0
    assert TOKEN.encode() in server.heard[0]


def test_a_proxy_of_the_environment_is_not_asked(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tls_server(None, [OK]) as proxy, tls_server(authority.sign("127.0.0.1"), [OK]) as server:
        for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert ask(server, authority.file) == b"{}"

    assert proxy.connections == 0


def test_a_token_is_in_no_text_of_the_client(authority: Authority) -> None:
    transport = HttpTransport("https://127.0.0.1:1", TOKEN, HttpSettings(ca_file=authority.file))

    assert TOKEN not in repr(transport)
    with pytest.raises(InvalidRequest, match="for everybody to read"):
        catalogs.open_catalog(CatalogTarget("http://lakes.example/main", token=TOKEN))


@pytest.mark.parametrize(
    "place", ["https://host:99999/a", "https://host:x/a", "https://[::1/a", "uc+https://host:99999/a"]
)
def test_what_is_no_address_is_refused_as_that(place: str) -> None:
    with pytest.raises(InvalidRequest):
        catalogs.open_catalog(CatalogTarget(place))
