"""Which servers may the conf of a coordinator lead to? Those of this machine, or that a program was told.

The conf is stored in the table, so whoever wrote the table's log chose the address, and a client that goes
there shows it the token or the password of its environment. Where there is one, it names the servers too:

    HEADGATE_COMMIT_OWNERS=https://lakes.example,postgresql://db.example:5432
"""

import os
import pkgutil
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from headgate.catalog.targets import TOKEN_VARIABLE, is_http, is_postgresql
from headgate.errors import InvalidRequest

VARIABLE = "HEADGATE_COMMIT_OWNERS"
_PARSE_POSTGRESQL = "headgate.catalog.database.postgresql:parse_url"
"""By name, because it imports what nobody without such an owner needs."""
_SECRETS = (TOKEN_VARIABLE, "PGPASSWORD")
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_ELSEWHERE = frozenset({"host", "hostaddr", "port", "service"})
"""Parameters of a PostgreSQL address that lead to another server than the one it seems to name."""


def require_known_server(place: str, environment: Mapping[str, str] = os.environ) -> None:
    """Refuse to take a secret to a server that nobody but the log of a table names."""
    if not (is_http(place) or is_postgresql(place)):
        return
    if not any(environment.get(secret) for secret in _SECRETS) or _server(place) is None:
        return
    named, known = _server(place), environment.get(VARIABLE, "").lower().split(",")
    if named not in {each.strip().rstrip("/") for each in known}:
        raise InvalidRequest(
            f"the conf of a coordinator names the server {named}, and is written by whoever writes the "
            f"table: if this program may show its token or password there, set {VARIABLE}={named}"
        )


def _server(place: str) -> str | None:
    """The server of an address, as it has to be named; None if it is on this machine."""
    try:
        scheme, host, port, options = _parts(place)
    except ValueError:
        return place
    if _ELSEWHERE.intersection(options) or place.count("@") > 1 or "," in (host or ""):
        return place.lower()
    if host is None or host in _LOOPBACK:
        return None
    named = f"[{host}]" if ":" in host else host
    return f"{scheme}://{named}" + ("" if port is None else f":{port}")


def _parts(place: str) -> tuple[str, str | None, int | None, Iterable[str]]:
    """Scheme, host, port and parameters, as whoever connects reads them: others find another host there."""
    if is_postgresql(place):
        url = pkgutil.resolve_name(_PARSE_POSTGRESQL)(place)
        host = None if url.host is None else url.host.lower()
        return place.partition(":")[0], host, url.port, url.query
    parts = urlsplit(place)
    return parts.scheme, parts.hostname, parts.port, ()
