"""Keys for S3: sessions of a real STS, whose policy opens one table and nothing else, and fixed keys."""

import json
import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import boto3
import pytest

from headgate.errors import CatalogUnavailable, InvalidRequest, NotAllowed
from headgate.server.credentials import CredentialVendor, S3AssumedRole, S3StaticKeys, Secret, StorageAccess
from headgate.server.credentials.s3_keys import session_policy
from headgate.server.credentials.table_place import parse_place
from headgate.storage.credentials import StorageOperation
from headgate.storage.locate import locate
from tests.support import s3

READ, READ_WRITE = StorageOperation.READ, StorageOperation.READ_WRITE
ROLE = "arn:aws:iam::123456789012:role/lake"
CANARY = "canary/Secret+Value"


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    with s3.server() as url:
        yield url


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> dict[str, Secret]:
    monkeypatch.setenv("LAKE_KEY", "testkey")
    monkeypatch.setenv("LAKE_SECRET", CANARY)
    return {
        "access_key": Secret.from_environment("LAKE_KEY"),
        "secret_key": Secret.from_environment("LAKE_SECRET"),
    }


def _wildcard(pattern: str) -> re.Pattern[str]:
    """A pattern as IAM reads it: ``${*}`` is a star, ``*`` is anything."""
    parts = re.split(r"(\$\{[*?$]\}|[*?])", pattern)
    meaning = {"*": ".*", "?": "."}
    return re.compile(
        "".join(meaning.get(each) or re.escape(each[2] if each.startswith("${") else each) for each in parts),
        re.DOTALL,
    )


def _allows(policy: dict[str, object], action: str, resource: str, listed: str | None = None) -> bool:
    statements = policy["Statement"]
    assert isinstance(statements, list)
    for each in statements:
        condition = each.get("Condition", {}).get("StringLike", {}).get("s3:prefix")
        if (
            action in each["Action"]
            and _wildcard(each["Resource"]).fullmatch(resource)
            and (condition is None or any(_wildcard(it).fullmatch(listed or "") for it in condition))
        ):
            return True
    return False


@pytest.mark.parametrize("name", ["t", "a*", "*", "a?c", "${aws:username}", "$x", "a b", "ü"])
def test_a_policy_opens_this_table_and_no_other_whatever_its_name(name: str) -> None:
    """CVE-2026-42810: a ``*`` in a name opened other tables."""
    place = parse_place(f"s3://lake/tables/{name.replace('?', '%3F')}")
    policy = session_policy(place, READ_WRITE)
    arn = "arn:aws:s3:::lake"

    assert _allows(policy, "s3:PutObject", f"{arn}/tables/{name}/part-0.parquet")
    assert _allows(policy, "s3:ListBucket", arn, f"tables/{name}/_delta_log/")
    others = [other for other in ("abc", "aXc", f"{name}2", "x", "", "root") if other != name]
    for other in others:
        assert not _allows(policy, "s3:GetObject", f"{arn}/tables/{other}/part-0.parquet"), other
        assert not _allows(policy, "s3:ListBucket", arn, f"tables/{other}/"), other
    assert not _allows(policy, "s3:ListBucket", arn, "")
    assert not _allows(policy, "s3:GetObject", f"arn:aws:s3:::lake2/tables/{name}/x")


def test_a_policy_for_readers_lets_nobody_write() -> None:
    policy, arn = session_policy(parse_place("s3://lake/t"), READ), "arn:aws:s3:::lake/t/x"

    assert _allows(policy, "s3:GetObject", arn)
    for action in ("s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:*"):
        assert not _allows(policy, action, arn)


def test_sts_gives_out_a_session_with_which_a_store_is_reached(store: str, keys: dict[str, Secret]) -> None:
    bucket = s3.make_bucket(store)
    vendor = CredentialVendor(
        (StorageAccess(f"s3://{bucket}", S3AssumedRole(ROLE, sts_endpoint=store, endpoint=store, **keys)),)
    )

    vended = vendor.vend(f"s3://{bucket}/tables/t1", READ_WRITE)
    files = locate(f"s3://{bucket}/tables/t1", lambda: (vended,))
    files.put_if_absent("a/b", b"x")

    assert files.read("a/b") == b"x"
    assert vended.config["s3.session-token"]
    assert vended.config["s3.endpoint"] == store
    assert vended.config["client.region"] == "us-east-1"
    ends = datetime.fromtimestamp(vended.expires_ms / 1000, UTC)
    assert 3000 < (ends - datetime.now(UTC)).total_seconds() <= 3600
    administrator = boto3.client(
        "s3", endpoint_url=store, region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s"
    )
    assert administrator.get_object(Bucket=bucket, Key="tables/t1/a/b")["Body"].read() == b"x"


def test_fixed_keys_are_one_pair_to_read_and_one_to_write(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("R", "reader")
    monkeypatch.setenv("RS", "reads")
    reading = S3StaticKeys(
        Secret.from_environment("R"), Secret.from_environment("RS"), endpoint="http://127.0.0.1:9"
    )
    vendor = CredentialVendor((StorageAccess("s3://b/lake", reading),))

    vended = vendor.vend("s3://b/lake/t", READ)

    assert vended.config["s3.access-key-id"] == "reader"
    assert "s3.session-token" not in vended.config
    assert vended.config["s3.path-style-access"] == "true"
    with pytest.raises(NotAllowed, match="none to write with"):
        vendor.vend("s3://b/lake/t", READ_WRITE)


def test_no_secret_is_in_what_is_shown_or_logged(
    store: str, keys: dict[str, Secret], caplog: pytest.LogCaptureFixture
) -> None:
    """T15: rows, credentials and errors say where a secret is, never what it is."""
    caplog.set_level(logging.DEBUG, "headgate")
    access = S3AssumedRole(ROLE, sts_endpoint=store, endpoint=store, **keys)
    vendor = CredentialVendor((StorageAccess("s3://b", access),))
    vended = vendor.vend("s3://b/t", READ)
    nowhere = CredentialVendor(
        (StorageAccess("s3://b", S3AssumedRole(ROLE, sts_endpoint="http://127.0.0.1:1", **keys)),)
    )
    refused = CredentialVendor(
        (StorageAccess("s3://b", S3AssumedRole("x" * 30, sts_endpoint=f"{store}/nowhere", **keys)),)
    )

    texts = [repr(vendor), repr(access), repr(vended), str(vended), caplog.text]
    with pytest.raises(CatalogUnavailable) as unreachable:
        nowhere.vend("s3://b/t", READ)
    with pytest.raises((InvalidRequest, CatalogUnavailable)) as denied:
        refused.vend("s3://b/t", READ)
    texts += [f"{unreachable.value!r} {unreachable.value}", f"{denied.value!r} {denied.value}", caplog.text]

    for secret in (CANARY, vended.config["s3.secret-access-key"], vended.config["s3.session-token"]):
        assert not any(secret in text for text in texts)


def test_a_secret_that_is_missing_is_named_by_its_place(tmp_path: object) -> None:
    with pytest.raises(InvalidRequest, match="NOT_SET_ANYWHERE"):
        Secret.from_environment("NOT_SET_ANYWHERE").read()
    with pytest.raises(InvalidRequest, match="/nowhere/key"):
        Secret.from_file("/nowhere/key").read()


def test_the_policy_is_small_enough_for_sts() -> None:
    place = parse_place("s3://" + "b" * 63 + "/" + "k" * 300)

    assert len(json.dumps(session_policy(place, READ_WRITE), separators=(",", ":"))) < 2048
