"""Which lake of which server is meant by an address? The last part of its path, or the only lake there is.

http://127.0.0.1:8080          the lake that is served there, if it is one
https://lakes.example/main     the lake ``main``
https://example/lakes/main     the same, behind a proxy that puts the server below ``/lakes``
"""

import os
import re
from urllib.parse import SplitResult, quote, unquote, urlsplit

import msgspec

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.ledger import Ledger
from headgate.catalog.rest.calls import LakeCalls, pause_before
from headgate.catalog.rest.rest_catalog import RestCatalog
from headgate.catalog.rest.transport import AnswerLost, HttpAnswer, HttpTransport, NotSent
from headgate.catalog.targets import TOKEN_VARIABLE, CatalogTarget
from headgate.catalog.wire.lake_description import API_VERSION, BASE_PATH, LakeDescription, ServedNames
from headgate.catalog.wire.wire_errors import decode_error
from headgate.errors import CatalogUnavailable, InvalidRequest, LakeNotFound
from headgate.settings import HttpSettings

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_OPENING_ATTEMPTS = 6
_PAGE_OF_LAKE = re.compile(r"(?P<below>.*)/console/lakes/(?P<lake>[^/]+)")


def open_rest(target: CatalogTarget) -> LakeCatalog:
    """The catalog behind an address, on behalf of whoever the token is of."""
    settings = target.settings.http
    root, lake = _parse_address(target.place)
    if target.warehouse is not None:
        raise InvalidRequest("a lake behind a server has its warehouse already: leave warehouse out")
    check_token_is_safe(root, target.token, settings)
    transport = HttpTransport(root, target.token, settings)
    name = lake or _only_lake(transport, settings)
    found = msgspec.json.decode(
        _ask(transport, f"/lakes/{quote(name, safe='')}", settings), type=LakeDescription
    )
    if found.api_version != API_VERSION:
        raise InvalidRequest(
            f"the server at {root} speaks version {found.api_version!r} of the API, and this client "
            f"{API_VERSION!r}: update the older one"
        )
    return RestCatalog(LakeCalls(transport, found.name, settings.attempts), found)


def open_coordinator_ledger(place: str) -> Ledger:
    """The ledger of a lake behind a server, for the conf of a coordinator, which has no secret in it.

    Whoever asks is known by the token in the environment of its process.
    """
    return open_rest(CatalogTarget(place, token=os.environ.get(TOKEN_VARIABLE))).ledger


def split_address(place: str) -> SplitResult:
    """The parts of an address, of which the port is one."""
    try:
        parts = urlsplit(place)
        _ = parts.port
    except ValueError as exc:
        raise InvalidRequest(f"that is no address of a server: {exc}") from exc
    return parts


def _parse_address(place: str) -> tuple[str, str]:
    parts = split_address(place)
    if parts.username or parts.password or not parts.hostname or parts.query or parts.fragment:
        raise InvalidRequest(
            "a lake behind a server is addressed as http(s)://host:port/lake, without user, password or "
            "anything behind the lake's name: give the token as the argument named so, or in HEADGATE_TOKEN"
        )
    below, _, lake = parts.path.rstrip("/").rpartition("/")
    page = _PAGE_OF_LAKE.match(parts.path)
    if page is not None:
        raise InvalidRequest(
            f"that is the address of a page for people; the lake is at "
            f"{parts.scheme}://{parts.netloc}{page['below']}/{page['lake']}"
        )
    return f"{parts.scheme}://{parts.netloc}{below}", unquote(lake)


def check_token_is_safe(root: str, token: str | None, settings: HttpSettings) -> None:
    """Refuse to send a token to another machine for everybody on the way to read."""
    parts = urlsplit(root)
    if token is None or parts.scheme == "https" or parts.hostname in _LOOPBACK or settings.allow_plain_token:
        return
    raise InvalidRequest(
        f"to {root} the token would travel for everybody to read: use https://, or, in a network where "
        "nobody listens, Settings(http=HttpSettings(allow_plain_token=True))"
    )


def _only_lake(transport: HttpTransport, settings: HttpSettings) -> str:
    names = msgspec.json.decode(_ask(transport, "/lakes", settings), type=ServedNames).lakes
    if len(names) != 1:
        raise LakeNotFound(
            f"{transport.root} serves {len(names)} lakes: say which one behind the address, "
            f"{transport.root}/<lake>, of {', '.join(sorted(names)) or 'those there will be'}"
        )
    return names[0]


def _ask(transport: HttpTransport, path: str, settings: HttpSettings) -> bytes:
    """What a GET answers, asked a few times: whoever opens a lake may have mistyped its address."""
    attempts = min(settings.attempts, _OPENING_ATTEMPTS)
    for attempt in range(attempts):
        pause_before(attempt)
        try:
            return _content(transport.root, transport.exchange("GET", BASE_PATH + path))
        except (NotSent, AnswerLost, CatalogUnavailable) as exc:
            if attempt + 1 == attempts:
                raise CatalogUnavailable(
                    f"there is no answer from {transport.root}: {exc}. See whether the server runs and the "
                    "address is right, and try again"
                ) from exc
    raise AssertionError("a client tries at least once")


def _content(root: str, answer: HttpAnswer) -> bytes:
    if answer.status == 200:
        return answer.content
    error = decode_error(answer.content)
    if error is not None:
        raise error
    if answer.status >= 500:
        raise AnswerLost(f"it answered {answer.status}")
    if answer.status < 400:
        raise InvalidRequest(
            f"{root} sends callers to another address ({answer.status}), and no token goes along: connect to "
            "that address"
        )
    raise InvalidRequest(
        f"{root} answered {answer.status}, and not as a Headgate server does: correct the address"
    )
