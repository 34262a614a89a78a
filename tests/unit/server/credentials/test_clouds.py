"""Azure and Google: the requests have the shape that their services document, and what is signed is right."""

import base64
import hashlib
import hmac
import json
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl
from xml.etree import ElementTree as ET

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from headgate.clock import SystemWorld
from headgate.errors import CatalogUnavailable, InvalidRequest
from headgate.server.credentials import (
    AzureDelegation,
    CredentialVendor,
    GcsDownscoping,
    Secret,
    StorageAccess,
)
from headgate.server.credentials.gcs_tokens import access_boundary, cel_string
from headgate.server.credentials.table_place import parse_place
from headgate.storage.credentials import StorageOperation
from tests.support.token_services import Asked, token_services

READ, READ_WRITE = StorageOperation.READ, StorageOperation.READ_WRITE
CANARY = "canary-secret"
DELEGATION_KEY = base64.b64encode(b"delegation key of 32 bytes......").decode()
_KEY_XML = f"""﻿<?xml version="1.0" encoding="utf-8"?><UserDelegationKey><SignedOid>oid</SignedOid>
<SignedTid>tid</SignedTid><SignedStart>2026-01-01T00:00:00Z</SignedStart>
<SignedExpiry>2026-01-01T01:00:00Z</SignedExpiry><SignedService>b</SignedService>
<SignedVersion>2020-12-06</SignedVersion><Value>{DELEGATION_KEY}</Value></UserDelegationKey>"""


def azure(asked: Asked) -> tuple[int, bytes]:
    if asked.path == "/tenant/oauth2/v2.0/token":
        return 200, b'{"access_token": "entra-token", "expires_in": 3599}'
    return 200, _KEY_XML.encode()


@pytest.mark.parametrize(("operation", "permissions"), [(READ, "rl"), (READ_WRITE, "racwdl")])
def test_azure_signs_one_directory(
    operation: StorageOperation, permissions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_LAKE_SECRET", CANARY)
    with token_services(azure) as services:
        access = AzureDelegation(
            "tenant", "client", Secret.from_environment("AZURE_LAKE_SECRET"),
            authority=services.url, blob_endpoint=services.url,
        )  # fmt: skip
        root = "abfss://lake@acct.dfs.core.windows.net"
        vended = CredentialVendor((StorageAccess(root, access),)).vend(f"{root}/tables/t%201", operation)

    token, key = services.asked
    assert parse_qs(token.body.decode())["client_secret"] == [CANARY]
    assert parse_qs(token.body.decode())["scope"] == ["https://storage.azure.com/.default"]
    assert key.path == "/?restype=service&comp=userdelegationkey"
    assert key.headers["Authorization"] == "Bearer entra-token"
    assert {child.tag for child in ET.fromstring(key.body)} == {"Start", "Expiry"}

    fields = dict(parse_qsl(vended.config["azure.sas-token"]))
    assert (fields["sr"], fields["sdd"], fields["sp"], fields["spr"]) == ("d", "2", permissions, "https")
    text = "\n".join(
        [permissions, fields["st"], fields["se"], "/blob/acct/lake/tables/t 1", "oid", "tid",
         "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", "b", "2020-12-06", "", "", "", "", "https",
         "2020-12-06", "d", "", "", "", "", "", "", ""]
    )  # fmt: skip
    expected = hmac.new(base64.b64decode(DELEGATION_KEY), text.encode(), hashlib.sha256).digest()
    assert fields["sig"] == base64.b64encode(expected).decode()
    assert SystemWorld().now_ms() < vended.expires_ms <= SystemWorld().now_ms() + 3_600_000
    assert fields["sig"] not in repr(vended)


@pytest.fixture
def account(tmp_path: Path) -> tuple[Path, RSAKey]:
    key = RSAKey.generate_key(2048)
    return tmp_path / "account.json", key


def google(asked: Asked) -> tuple[int, bytes]:
    if asked.path == "/token":
        return 200, b'{"access_token": "wide-token", "expires_in": 1800}'
    return 200, b'{"access_token": "narrow-token", "token_type": "Bearer"}'


def test_google_narrows_the_token_of_a_service_account(account: tuple[Path, RSAKey]) -> None:
    path, key = account
    with token_services(google) as services:
        told = {
            "client_email": "lake@project.iam",
            "token_uri": f"{services.url}/token",
            "private_key": key.as_pem(private=True).decode(),
        }
        path.write_text(json.dumps(told))
        access = GcsDownscoping(Secret.from_file(str(path)), sts_endpoint=services.url)
        vended = CredentialVendor((StorageAccess("gs://lake", access),)).vend("gs://lake/tables/t1", READ)

    signed, exchanged = (parse_qs(each.body.decode()) for each in services.asked)
    claims = jwt.decode(signed["assertion"][0], key, algorithms=["RS256"]).claims
    assert (claims["iss"], claims["aud"]) == ("lake@project.iam", f"{services.url}/token")
    assert exchanged["subject_token"] == ["wide-token"]
    assert exchanged["grant_type"] == ["urn:ietf:params:oauth:grant-type:token-exchange"]
    (rule,) = json.loads(exchanged["options"][0])["accessBoundary"]["accessBoundaryRules"]
    assert rule["availableResource"] == "//storage.googleapis.com/projects/_/buckets/lake"
    assert rule["availablePermissions"] == ["inRole:roles/storage.objectViewer"]
    assert rule["availabilityCondition"]["expression"] == (
        "resource.name.startsWith('projects/_/buckets/lake/objects/tables/t1/') || "
        "api.getAttribute('storage.googleapis.com/objectListPrefix', '').startsWith('tables/t1/')"
    )
    assert vended.config == {"gcs.oauth-token": "narrow-token"}
    assert vended.expires_ms <= SystemWorld().now_ms() + 1_800_000
    assert "narrow-token" not in repr(vended)


@pytest.mark.parametrize(
    "name", ["it's", "a') || true || ('", 'a"b', "a`b", "ünïcode", "x\U0001f600", "a\\\\'"]
)
def test_a_quote_in_a_name_does_not_end_the_string_of_the_boundary(name: str) -> None:
    """CVE-2026-42811: a quote in a name broke the expression, and so the boundary."""
    spelled = cel_string(name)

    inside = spelled[1:-1]
    assert not {"'", '"', "`", "\n"} & set(inside)
    assert inside.encode("ascii").decode("unicode_escape") == name
    place = parse_place("gs://lake/" + "".join(f"%{byte:02X}" for byte in name.replace("\\", "_").encode()))
    expression = json.dumps(access_boundary(place, READ_WRITE))
    assert expression.count("startsWith(") == 2
    assert "|| true" not in expression.replace(cel_string(place.prefix), "")


@pytest.mark.parametrize("status", [400, 401, 403, 307])
def test_a_refusal_repeats_nothing_that_was_sent_or_answered(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_LAKE_SECRET", CANARY)
    with token_services(lambda asked: (status, asked.body)) as services:
        access = AzureDelegation(
            "tenant", "client", Secret.from_environment("AZURE_LAKE_SECRET"),
            authority=services.url, blob_endpoint=services.url,
        )  # fmt: skip
        vendor = CredentialVendor((StorageAccess("abfss://c@a.x", access),))
        with pytest.raises(InvalidRequest) as refused:
            vendor.vend("abfss://c@a.x/t", READ)

    assert CANARY not in f"{refused.value} {refused.value!r} {vendor!r} {refused.value.__cause__}"


def test_a_service_that_is_away_can_be_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_LAKE_SECRET", CANARY)
    access = AzureDelegation(
        "tenant", "client", Secret.from_environment("AZURE_LAKE_SECRET"),
        authority="http://127.0.0.1:1", blob_endpoint="http://127.0.0.1:1",
    )  # fmt: skip
    with pytest.raises(CatalogUnavailable) as away:
        CredentialVendor((StorageAccess("abfss://c@a.x", access),)).vend("abfss://c@a.x/t", READ)

    assert CANARY not in f"{away.value} {away.value!r}"
