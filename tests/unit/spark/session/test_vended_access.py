"""What is vended for a table reaches Spark's readers and writers as options, for its bucket alone."""

import pytest

from headgate.spark.session import vended_access
from headgate.storage.credentials import NO_EXPIRY_MS, StorageOperation, VendedCredential
from headgate.storage.local import LocalStore
from headgate.storage.locate import locate

CANARY = "canary-secret"


def _vended(prefix: str, **config: str) -> VendedCredential:
    named = {key.replace("__", ".").replace("_", "-"): value for key, value in config.items()}
    return VendedCredential(prefix, StorageOperation.READ, NO_EXPIRY_MS, named)


def test_a_session_of_sts_is_for_one_bucket() -> None:
    vended = _vended(
        "s3://lake/t", s3__access_key_id="k", s3__secret_access_key=CANARY, s3__session_token="t",
        s3__endpoint="http://127.0.0.1:9", client__region="eu-central-1", s3__path_style_access="true",
    )  # fmt: skip

    assert vended_access.hadoop_options("s3://lake/t", vended) == {
        "fs.s3a.bucket.lake.access.key": "k",
        "fs.s3a.bucket.lake.secret.key": CANARY,
        "fs.s3a.bucket.lake.session.token": "t",
        "fs.s3a.bucket.lake.aws.credentials.provider": (
            "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider"
        ),
        "fs.s3a.bucket.lake.endpoint": "http://127.0.0.1:9",
        "fs.s3a.bucket.lake.endpoint.region": "eu-central-1",
        "fs.s3a.bucket.lake.path.style.access": "true",
        "fs.s3a.bucket.lake.connection.ssl.enabled": "false",
        "fs.s3a.impl.disable.cache": "true",
    }


def test_fixed_keys_have_no_session() -> None:
    options = vended_access.hadoop_options(
        "s3://lake/t", _vended("s3://lake/t", s3__access_key_id="k", s3__secret_access_key="s")
    )

    assert options["fs.s3a.bucket.lake.aws.credentials.provider"].endswith("SimpleAWSCredentialsProvider")
    assert "fs.s3a.bucket.lake.session.token" not in options


def test_a_signature_is_for_one_account() -> None:
    place = "abfss://c@acct.dfs.core.windows.net/t"

    assert vended_access.hadoop_options(place, _vended(place, azure__sas_token="sig=x")) == {
        "fs.azure.account.auth.type.acct.dfs.core.windows.net": "SAS",
        "fs.azure.sas.fixed.token.acct.dfs.core.windows.net": "sig=x",
        "fs.abfss.impl.disable.cache": "true",
    }


def test_two_tables_of_one_bucket_keep_their_own(tmp_path: object) -> None:
    places = [f"s3://lake-vended/{name}" for name in ("t1", "t2")]
    for place in places:
        credential = _vended(place, s3__access_key_id=place, s3__secret_access_key=CANARY)
        store = locate(place, lambda credential=credential: (credential,))
        vended_access.remember_store(place, store)

    keys = [vended_access.access_options(place)["fs.s3a.bucket.lake-vended.access.key"] for place in places]
    assert keys == places


@pytest.mark.parametrize("location", ["/data/t", "s3://own/t"])
def test_who_uses_credentials_of_its_own_gives_spark_none(location: str) -> None:
    vended_access.remember_store(location, LocalStore("/data/t"))

    assert vended_access.access_options(location) == {}
