"""Stores in the file of a server's settings: each kind is read, and what makes no sense is refused."""

import tomllib
from pathlib import Path

import pytest

from headgate.catalog.embedded import open_catalog
from headgate.errors import InvalidRequest
from headgate.server import run
from headgate.server.caller import NoAuthentication
from headgate.server.credentials import (
    AzureDelegation,
    GcsDownscoping,
    OwnAccess,
    S3AssumedRole,
    S3StaticKeys,
    Secret,
    StorageAccess,
    read_stores,
)
from headgate.server.run import ServerPlan
from headgate.server.settings import load_settings
from headgate.storage.credentials import StorageOperation

FILE = """
[[stores]]
prefix = "s3://lake/tables"
kind = "s3-role"
role = "arn:aws:iam::1:role/lake"

[[stores]]
prefix = "s3://minio"
kind = "s3-keys"
endpoint = "https://minio.example"
read_access_key = { variable = "READ_KEY" }
read_secret_key = { path = "/run/secrets/read" }

[[stores]]
prefix = "abfss://c@a.dfs.core.windows.net"
kind = "azure"
tenant_id = "t"
client_id = "c"
client_secret = { variable = "AZURE" }

[[stores]]
prefix = "gs://lake"
kind = "gcs"
service_account_key = { path = "/run/secrets/gcp.json" }

[[stores]]
prefix = "s3://open"
kind = "own"
"""


def test_each_kind_of_store_is_read(tmp_path: Path) -> None:
    (tmp_path / "serve.toml").write_text(FILE)

    assert read_stores(load_settings(tmp_path / "serve.toml", {}, {}).stores) == (
        StorageAccess("s3://lake/tables", S3AssumedRole("arn:aws:iam::1:role/lake")),
        StorageAccess(
            "s3://minio",
            S3StaticKeys(
                Secret.from_environment("READ_KEY"),
                Secret.from_file("/run/secrets/read"),
                endpoint="https://minio.example",
            ),
        ),
        StorageAccess(
            "abfss://c@a.dfs.core.windows.net",
            AzureDelegation("t", "c", Secret.from_environment("AZURE")),
        ),
        StorageAccess("gs://lake", GcsDownscoping(Secret.from_file("/run/secrets/gcp.json"))),
        StorageAccess("s3://open", OwnAccess()),
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("kind = 'own'", "has a prefix"),
        ("prefix = 's3://b'", "and a kind"),
        ("prefix = 's3://b'\nkind = 'ftp'", "and a kind: own, s3-role"),
        ("prefix = '/folder'\nkind = 'own'", "has a prefix"),
        ("prefix = 's3://b'\nkind = 'own'\nrole = 'x'", "'role', which is nothing"),
        ("prefix = 's3://b'\nkind = 's3-role'", "missing required field `role`"),
        ("prefix = 'gs://b'\nkind = 'gcs'\nservice_account_key = 'hunter2'", "A secret is"),
        ("prefix = 'gs://b'\nkind = 'gcs'\nservice_account_key = {}", "variable or at a path"),
    ],
)
def test_what_makes_no_sense_is_refused_without_a_word_of_what_may_be_secret(text: str, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason) as caught:
        read_stores(tomllib.loads(f"[[stores]]\n{text}")["stores"])

    assert "hunter2" not in str(caught.value)


def test_two_rows_of_one_prefix_are_refused() -> None:
    row = {"prefix": "s3://b", "kind": "own"}

    with pytest.raises(InvalidRequest, match="the same prefix"):
        read_stores([row, {**row, "prefix": "s3://b/"}])


def test_a_server_vends_by_the_rows_of_its_file_and_is_strict_if_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READ_KEY", "the-key")
    keys = "read_access_key = { variable = 'READ_KEY' }\nread_secret_key = { variable = 'READ_KEY' }"
    (tmp_path / "serve.toml").write_text(
        f"[server]\nstrict = true\n[[lakes]]\nname = 'main'\nplace = '{tmp_path / 'lake'}'\n"
        f"[[stores]]\nprefix = 's3://lake'\nkind = 's3-keys'\n{keys}"
    )
    settings = load_settings(tmp_path / "serve.toml", {}, {})
    plan = ServerPlan(settings, lambda lake: open_catalog(lake.place), lambda *_: NoAuthentication())

    with run.opened_parts(plan) as parts:
        vended = parts.credentials.vend("s3://lake/t", StorageOperation.READ)

        assert parts.delta_api.strict
        assert vended.config["s3.access-key-id"] == "the-key"
