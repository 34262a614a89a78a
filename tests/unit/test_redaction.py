"""What looks like a credential, and what only might."""

import pytest

from headgate import redaction
from headgate.errors import InvalidRequest

KEYS = {
    "fs.s3a.secret.key",
    "fs.azure.account.key.acme.dfs.core.windows.net",
    "password",
    "spring.datasource.password",
    "apiToken",
    "access_token",
    "awsAccessKeyId",
    "aws_secret_access_key",
    "AWSSecretKey",
    "clientSecret",
    "api-key",
    "private_key",
    "my.credentials",
    "PWD",
    "apikey",
    "my.PassWord",
    "API_KEY",
    "pass-word",
    "paSSword",
    "PASSWORD2",
    "db.accesstoken",
    "x.Secret-Key",
    "fs.s3a.accesskey",
}
PLAIN = {
    "delta.appendOnly",
    "tokenizer",
    "max_tokens",
    "monkey.key",
    "keys",
    "primary.key",
    "compassword",
    "secretary",
    "owner",
    "delta.columnMapping.maxColumnId",
    "sort_key",
    "partition.key",
    "passing.words",
    "keyboard",
    "apis.keyed",
}
VALUES = {
    "postgresql://ana:hunter2@host/db": "postgresql://ana:***@host/db",
    "AKIAABCDEFGHIJKLMNOP": "***",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc-_": "***",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----": "***",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789": "***",
    "https://a.blob.core.windows.net/c?sv=1&sig=abc%3D": "https://a.blob.core.windows.net/c?sv=1&sig=***",
}


@pytest.mark.parametrize("key", sorted(KEYS))
def test_t15_names_of_credentials(key: str) -> None:
    """T15"""
    assert redaction.names_a_secret(key)
    assert redaction.first_credential({key: "x"}) is not None
    assert redaction.mask_value(key, "x") == "***"


@pytest.mark.parametrize("key", sorted(PLAIN))
def test_names_that_only_sound_alike(key: str) -> None:
    assert redaction.first_credential({key: "10"}) is None


@pytest.mark.parametrize("value", VALUES)
def test_t15_values_of_credentials_are_refused_and_masked(value: str) -> None:
    """T15"""
    assert redaction.first_credential({"acme": value}) is not None
    assert redaction.redact(f"it was {value}, it said") == f"it was {VALUES[value]}, it said"
    assert value not in str(InvalidRequest(f"it was {value}"))


@pytest.mark.parametrize(
    "text",
    [
        "version 5 cannot be ratified: the latest is 3",
        "the credentials: ask for new ones",
        "s3://bucket/path@home",
        "a=b, c=d",
        "https://host:8080/path",
        "lake.grant('APPEND', on=…, to='ana')",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert redaction.redact(text) == text


@pytest.mark.parametrize(
    "text",
    [
        '{"url": "x", "password": "hunter2"}',
        '{"a": [{"api_key": 7}]}',
        '[{"deep": {"Client-Secret": "hunter2"}}]',
    ],
)
def test_names_of_credentials_in_json(text: str) -> None:
    assert redaction.first_credential({"conf": text}) is not None


@pytest.mark.parametrize(
    "text", ['{"password": null}', '{"token": true}', '{"secret": ""}', '{"password": "x"', "[" * 100_000]
)
def test_json_without_values_of_credentials(text: str) -> None:
    assert redaction.first_credential({"conf": text}) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"password": "hunter2"}', '{"password": "***"}'),
        ('conf is {\\"apikey\\":\\"hunter2"}', 'conf is {\\"apikey\\":\\"***"}'),
        ("my.PassWord = hunter2;", "my.PassWord = ***;"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE", "***"),
        ("half a character \ud800, password=x", "half a character \\ud800, password=***"),
    ],
)
def test_credentials_are_masked_by_their_names(text: str, shown: str) -> None:
    assert redaction.redact(text) == shown
