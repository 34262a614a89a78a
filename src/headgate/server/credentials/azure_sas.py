"""Shared access signatures for Azure: of one directory, signed by a key that belongs to a person or service.

Three steps: the service principal gets a token, the token gets a user delegation key, and that key signs.
The signature covers a directory (``sr=d``) and everything below it, to the depth that is named in it.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlencode
from xml.etree import ElementTree as ET

from headgate.clock import World
from headgate.errors import InvalidRequest
from headgate.server.credentials import signed_http
from headgate.server.credentials.storage_access import Access, AzureDelegation
from headgate.server.credentials.table_place import TablePlace
from headgate.storage.credentials import StorageOperation

_VERSION = "2020-12-06"
_SCOPE = "https://storage.azure.com/.default"
_PERMISSIONS = {StorageOperation.READ: "rl", StorageOperation.READ_WRITE: "racwdl"}
_SKEW = timedelta(minutes=5)
"""A signature that begins now is not valid yet for a store whose clock is behind."""
_UNUSED = 5
"""Headers that a signature could prescribe to answers: none."""
_SERVICE = "Azure"


@dataclass(frozen=True, slots=True)
class AzurePlace:
    """A directory of a container of an account."""

    account: str
    container: str
    directory: str


def parse_azure(place: TablePlace) -> AzurePlace:
    """``abfss://container@account.dfs.core.windows.net/directory`` taken apart."""
    container, _, host = place.host.partition("@")
    account = host.partition(".")[0]
    if not container or not account:
        raise InvalidRequest(
            f"{place.scheme}://{place.host}/… does not name an account: credentials of Azure are minted for "
            "abfss://container@account.dfs.core.windows.net/…"
        )
    return AzurePlace(account, container, place.key)


def sign_directory(
    access: Access, place: TablePlace, operation: StorageOperation, world: World
) -> tuple[Mapping[str, str], int]:
    """A signature for the table's directory and this operation."""
    assert isinstance(access, AzureDelegation)
    found = parse_azure(place)
    now = datetime.fromtimestamp(world.now_ms() // 1000, UTC)
    start, end = now - _SKEW, now + timedelta(seconds=access.seconds)
    key = _delegation_key(access, found.account, start, end)
    fields = _fields(found, _PERMISSIONS[operation], _moment(start), _moment(end), key)
    signed = hmac.new(base64.b64decode(key["Value"]), _text_to_sign(found, fields).encode(), hashlib.sha256)
    token = urlencode({**fields, "sig": base64.b64encode(signed.digest()).decode()}, quote_via=quote)
    return {"azure.sas-token": token, "azure.account-name": found.account}, int(end.timestamp() * 1000)


def _moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _delegation_key(
    access: AzureDelegation, account: str, start: datetime, end: datetime
) -> Mapping[str, str]:
    token = _token(access)
    endpoint = access.blob_endpoint or f"https://{account}.blob.core.windows.net"
    wanted = ET.Element("KeyInfo")
    ET.SubElement(wanted, "Start").text = _moment(start)
    ET.SubElement(wanted, "Expiry").text = _moment(end)
    answer = signed_http.post(
        f"{endpoint}/?restype=service&comp=userdelegationkey",
        ET.tostring(wanted, encoding="utf-8", xml_declaration=True),
        {"Authorization": f"Bearer {token}", "x-ms-version": _VERSION, "Content-Type": "application/xml"},
        service=_SERVICE,
    )
    try:
        return {child.tag: child.text or "" for child in ET.fromstring(answer.decode("utf-8-sig"))}
    except (ET.ParseError, UnicodeDecodeError) as exc:
        raise _not_understood() from exc


def _token(access: AzureDelegation) -> str:
    answer = signed_http.post_form(
        f"{access.authority}/{quote(access.tenant_id, safe='')}/oauth2/v2.0/token",
        {
            "grant_type": "client_credentials",
            "client_id": access.client_id,
            "client_secret": access.client_secret.read(),
            "scope": _SCOPE,
        },
        service=_SERVICE,
    )
    try:
        return str(json.loads(answer)["access_token"])
    except (ValueError, KeyError, TypeError) as exc:
        raise _not_understood() from exc


def _fields(
    place: AzurePlace, permissions: str, start: str, end: str, key: Mapping[str, str]
) -> dict[str, str]:
    try:
        return {
            "sp": permissions,
            "st": start,
            "se": end,
            "skoid": key["SignedOid"],
            "sktid": key["SignedTid"],
            "skt": key["SignedStart"],
            "ske": key["SignedExpiry"],
            "sks": key["SignedService"],
            "skv": key["SignedVersion"],
            "spr": "https",
            "sv": _VERSION,
            "sr": "d",
            "sdd": str(place.directory.count("/") + 1),
        }
    except KeyError as exc:
        raise _not_understood() from exc


def _text_to_sign(place: AzurePlace, fields: Mapping[str, str]) -> str:
    resource = f"/blob/{place.account}/{place.container}/{place.directory}"
    key = [fields[name] for name in ("skoid", "sktid", "skt", "ske", "sks", "skv")]
    authorised = unauthorised = correlation = address = snapshot = encryption = ""
    return "\n".join(
        (
            *(fields["sp"], fields["st"], fields["se"], resource, *key),
            *(authorised, unauthorised, correlation, address, fields["spr"], fields["sv"], fields["sr"]),
            *(snapshot, encryption, *[""] * _UNUSED),
        )
    )


def _not_understood() -> InvalidRequest:
    return InvalidRequest(
        "Azure's answer is not the token or the key that was asked for: the server's operator has to look at "
        "the addresses that are configured for this store",
        code="HEADGATE_VENDING_REFUSED",
    )
