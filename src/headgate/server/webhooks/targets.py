"""May a webhook call this address? Only by https, and only what is public, unless the settings allow more.

The name is resolved once and every address it has is looked at; the connection goes to the address that was
looked at, so another answer of the name service a moment later changes nothing. Redirects are not followed.
"""

import ipaddress
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import urllib3

from headgate.errors import InvalidRequest, NotAllowed

_SECONDS = 10.0
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PinnedTarget:
    """An address that was looked at, and the name it is called by."""

    scheme: str
    host: str
    port: int
    path: str
    address: str


def resolve_host(host: str, port: int) -> tuple[str, ...]:
    """Every address that the name has now."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as exc:
        raise NotAllowed(f"the webhook's host {host!r} has no address: {exc}", operation="webhook") from exc
    return tuple(dict.fromkeys(str(each[4][0]) for each in found))


def pin_target(url: str, *, private: bool, resolve: Resolve = resolve_host) -> PinnedTarget:
    """The one address that a webhook may call; ``NotAllowed`` if any that its name has is out of bounds."""
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise InvalidRequest(
            "the address of a webhook has no user, password or fragment: its calls are signed"
        )
    if parts.scheme != "https" and not (private and parts.scheme == "http"):
        raise NotAllowed("a webhook is called by https, and no other way", operation="webhook")
    if not parts.hostname:
        raise InvalidRequest("the address of a webhook names a host: https://host/path")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    addresses = resolve(parts.hostname, port)
    for text in addresses:
        if not private and not is_public(ipaddress.ip_address(text.partition("%")[0])):
            raise NotAllowed(
                f"the webhook's host {parts.hostname!r} is in a private network or on this machine, "
                "and is not called: "
                "private_webhooks in the settings of the server allows it",
                operation="webhook",
            )
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return PinnedTarget(parts.scheme, parts.hostname, port, path, addresses[0])


def is_public(address: Address) -> bool:
    """Whether an address, and every one that is hidden in it, is of the public internet."""
    return all(each.is_global and not each.is_multicast for each in _hidden_addresses(address))


def _hidden_addresses(address: Address) -> Iterator[Address]:
    yield address
    if isinstance(address, ipaddress.IPv4Address):
        return
    for hidden in (address.ipv4_mapped, address.sixtofour, *(address.teredo or ())):
        if hidden is not None:
            yield hidden
    if address in _NAT64:
        yield ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)


def post(target: PinnedTarget, body: bytes, headers: dict[str, str]) -> int:
    """Send a body to the pinned address, and nowhere else; the status of the answer, which is not read."""
    timeout = urllib3.Timeout(connect=_SECONDS, read=_SECONDS)
    if target.scheme == "https":
        pool: urllib3.HTTPConnectionPool = urllib3.HTTPSConnectionPool(
            target.address,
            target.port,
            timeout=timeout,
            server_hostname=target.host,
            assert_hostname=target.host,
        )
    else:
        pool = urllib3.HTTPConnectionPool(target.address, target.port, timeout=timeout)
    named = f"[{target.host}]" if ":" in target.host else target.host
    with pool:
        answer = pool.urlopen(
            "POST",
            target.path,
            body=body,
            headers={**headers, "Host": f"{named}:{target.port}"},
            redirect=False,
            retries=False,
            preload_content=False,
        )
        status = answer.status
        answer.close()
    return status
