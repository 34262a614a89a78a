"""Tokens for Google Cloud Storage: a service account's, narrowed by a credential access boundary.

The boundary is an expression in CEL, in which names stand in quotes. A name with a quote must not end them,
so every name is written as a CEL string, with whatever could end it escaped.
"""

import json
from collections.abc import Mapping
from typing import Any

from joserfc import jwt
from joserfc.jwk import RSAKey

from headgate.clock import World
from headgate.errors import InvalidRequest
from headgate.server.credentials import signed_http
from headgate.server.credentials.storage_access import Access, GcsDownscoping
from headgate.server.credentials.table_place import TablePlace
from headgate.storage.credentials import StorageOperation

_SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
_ROLES = {
    StorageOperation.READ: ["inRole:roles/storage.objectViewer"],
    StorageOperation.READ_WRITE: ["inRole:roles/storage.objectAdmin"],
}
_GRANT = "urn:ietf:params:oauth:grant-type:"
_ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
_LONGEST_SECONDS = 3600
_SERVICE = "Google"


def downscope(
    access: Access, place: TablePlace, operation: StorageOperation, world: World
) -> tuple[Mapping[str, str], int]:
    """A token that reaches this table's objects and does this operation, and nothing else."""
    assert isinstance(access, GcsDownscoping)
    began_ms = world.now_ms()
    source = _account_token(access, began_ms // 1000)
    narrowed = _parsed(
        signed_http.post_form(
            f"{access.sts_endpoint}/v1/token",
            {
                "grant_type": f"{_GRANT}token-exchange",
                "subject_token_type": _ACCESS_TOKEN,
                "requested_token_type": _ACCESS_TOKEN,
                "subject_token": str(source["access_token"]),
                "options": json.dumps({"accessBoundary": access_boundary(place, operation)}),
            },
            service=_SERVICE,
        )
    )
    # The narrowed token ends with the one it was made of; the exchange need not say when.
    seconds = int(narrowed.get("expires_in", source.get("expires_in", _LONGEST_SECONDS)))
    ends_ms = began_ms + 1000 * min(seconds, _LONGEST_SECONDS)
    return {"gcs.oauth-token": str(narrowed["access_token"])}, ends_ms


def access_boundary(place: TablePlace, operation: StorageOperation) -> dict[str, object]:
    """The objects of the table, and listings of nothing but these."""
    objects = cel_string(f"projects/_/buckets/{place.host}/objects/{place.prefix}")
    listed = cel_string(place.prefix)
    expression = (
        f"resource.name.startsWith({objects}) || "
        f"api.getAttribute('storage.googleapis.com/objectListPrefix', '').startsWith({listed})"
    )
    rule = {
        "availableResource": f"//storage.googleapis.com/projects/_/buckets/{place.host}",
        "availablePermissions": _ROLES[operation],
        "availabilityCondition": {"expression": expression},
    }
    return {"accessBoundaryRules": [rule]}


def cel_string(text: str) -> str:
    """The text as a string of CEL: everything but letters, digits and a few signs by its number."""
    return (
        "'" + "".join(c if c.isascii() and (c.isalnum() or c in "-_./=") else _escaped(c) for c in text) + "'"
    )


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def _account_token(access: GcsDownscoping, now: int) -> Mapping[str, Any]:
    """The service account's own token, by a statement that it signed with its key."""
    account = _parsed(access.service_account_key.read().encode())
    claims = {
        "iss": account["client_email"],
        "scope": _SCOPE,
        "aud": account["token_uri"],
        "iat": now,
        "exp": now + _LONGEST_SECONDS,
    }
    signed = jwt.encode(
        {"alg": "RS256", "typ": "JWT"}, claims, RSAKey.import_key(str(account["private_key"]))
    )
    return _parsed(
        signed_http.post_form(
            str(account["token_uri"]),
            {"grant_type": f"{_GRANT}jwt-bearer", "assertion": signed},
            service=_SERVICE,
        )
    )


def _parsed(answer: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(answer)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InvalidRequest(
            "Google's answer, or the key of the service account, is not JSON: the server's operator has to "
            "look at the key and the addresses that are configured for this store",
            code="HEADGATE_VENDING_REFUSED",
        )
    return found
