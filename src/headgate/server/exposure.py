"""Who can reach a server, and is that safe? Decided before it listens, by rows; the first that fits refuses.

Alone on its machine a server may do without TLS, and without asking who calls. Bound to any other address it
needs both: certificates of its own, or the word that a proxy in front of it has them.
"""

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass

from headgate.catalog.targets import is_postgresql
from headgate.errors import InvalidRequest
from headgate.server.settings import ServerSettings


@dataclass(frozen=True, slots=True)
class UnsafeSetup:
    """A way to set up a server that is refused."""

    name: str
    applies: Callable[[ServerSettings], bool]
    refusal: str


def is_loopback(host: str) -> bool:
    """Whether only the own machine reaches this address; of a name nobody can be sure, but for localhost."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def has_tls(settings: ServerSettings) -> bool:
    """Whether the server itself speaks TLS."""
    return settings.tls_certificate is not None and settings.tls_key is not None


UNSAFE_SETUPS: tuple[UnsafeSetup, ...] = (
    UnsafeSetup(
        "half a certificate",
        lambda made: (made.tls_certificate is None) is not (made.tls_key is None),
        "TLS takes a certificate and its key: name both files, --tls-certificate and --tls-key",
    ),
    UnsafeSetup(
        "open to others without authentication",
        lambda made: not made.auth and not is_loopback(made.host),
        "without authentication everybody who reaches the server owns its lakes: bind it to "
        "127.0.0.1, or leave "
        "--no-auth out",
    ),
    UnsafeSetup(
        "without authentication behind a proxy",
        lambda made: not made.auth and made.behind_proxy,
        "a proxy brings others than this machine to the server, and without authentication they "
        "would own its "
        "lakes: leave --no-auth out",
    ),
    UnsafeSetup(
        "open to others without TLS",
        lambda made: not is_loopback(made.host) and not has_tls(made) and not made.behind_proxy,
        "on an address that others reach tokens would travel in the clear: bind it to 127.0.0.1, name a "
        "certificate with --tls-certificate and --tls-key, or say --behind-proxy if a proxy does TLS",
    ),
    UnsafeSetup(
        "several processes on one SQLite file",
        lambda made: made.workers > 1 and not all(is_postgresql(lake.place) for lake in made.lakes),
        "a lake in a folder is served by one process, which writes its database fastest alone: "
        "leave --workers "
        "out, or serve a postgresql:// lake",
    ),
    UnsafeSetup(
        "nothing to serve",
        lambda made: not made.lakes,
        "there is no lake to serve: name a folder or a postgresql:// address, or [[lakes]] in a "
        "file with --config",
    ),
)


def require_safe_setup(settings: ServerSettings) -> None:
    """Refuse to listen in a way that would give the lakes away, or would not work."""
    unsafe = next((row for row in UNSAFE_SETUPS if row.applies(settings)), None)
    if unsafe is not None:
        raise InvalidRequest(f"the server does not start: {unsafe.refusal}", code="HEADGATE_UNSAFE_SERVER")
