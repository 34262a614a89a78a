"""With what does Spark reach files whose credentials a catalog vends? With options of each scan and write.

Hadoop keeps one client for each bucket, and Spark one configuration for each session; two tables of a bucket
have two credentials. So they travel as options of one reader or writer, for its bucket alone, and the client
that is made with them is not kept for others. They hold as long as what was vended when the plan was made.
"""

from collections import OrderedDict
from threading import Lock
from urllib.parse import urlsplit

from headgate.storage.credentials import VendedCredential
from headgate.storage.object_store import ObjectStore
from headgate.storage.store import Store

_MOST_KEPT = 10_000
_TEMPORARY = "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider"
_FIXED = "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"
_stores: OrderedDict[str, Store] = OrderedDict()
_lock = Lock()


def remember_store(location: str, store: Store) -> None:
    """Note with what the files of a location are reached, if somebody vended that."""
    if isinstance(store, ObjectStore) and store.vended is not None:
        with _lock:
            _stores[location] = store
            _stores.move_to_end(location)
            while len(_stores) > _MOST_KEPT:
                _stores.popitem(last=False)


def access_options(location: str) -> dict[str, str]:
    """The options with which Spark's own readers and writers reach a location; none if it needs none."""
    with _lock:
        store = _stores.get(location)
    if not isinstance(store, ObjectStore) or store.vended is None:
        return {}
    return hadoop_options(location, store.vended())


def hadoop_options(location: str, vended: VendedCredential) -> dict[str, str]:
    """A credential in the words of Hadoop's clients: S3A and ABFS; for others there are none."""
    parts = urlsplit(location)
    if "s3.access-key-id" in vended.config:
        return {**_s3a(f"fs.s3a.bucket.{parts.netloc}.", vended), "fs.s3a.impl.disable.cache": "true"}
    if "azure.sas-token" in vended.config:
        host = parts.netloc.partition("@")[2]
        return {
            f"fs.azure.account.auth.type.{host}": "SAS",
            f"fs.azure.sas.fixed.token.{host}": vended.config["azure.sas-token"],
            f"fs.{parts.scheme}.impl.disable.cache": "true",
        }
    return {}


def _s3a(bucket: str, vended: VendedCredential) -> dict[str, str]:
    config = vended.config
    token, endpoint = config.get("s3.session-token"), config.get("s3.endpoint")
    region = config.get("client.region") or config.get("s3.region")
    found = {
        "access.key": config["s3.access-key-id"],
        "secret.key": config["s3.secret-access-key"],
        "session.token": token,
        "aws.credentials.provider": _FIXED if token is None else _TEMPORARY,
        "endpoint": endpoint,
        "endpoint.region": region,
        "path.style.access": config.get("s3.path-style-access"),
        "connection.ssl.enabled": "false" if endpoint and endpoint.startswith("http:") else None,
    }
    return {bucket + key: value for key, value in found.items() if value is not None}
