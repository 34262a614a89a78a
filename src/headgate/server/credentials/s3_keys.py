"""Keys for S3 and stores that speak its protocol: from STS, narrowed by a session policy, or fixed ones.

A session policy can only take away from what the role may do. For ``s3://lake/t/1`` and READ it leaves::

    {"Action": ["s3:GetObject", "s3:GetObjectVersion"], "Resource": "arn:aws:s3:::lake/t/1/*"}
    {"Action": "s3:ListBucket", "Resource": "arn:aws:s3:::lake",
     "Condition": {"StringLike": {"s3:prefix": ["t/1", "t/1/*"]}}}

A name with ``*``, ``?`` or ``$`` stands for itself only if it is written ``${*}``, ``${?}``, ``${$}``.
"""

import importlib
import json
import re
from collections.abc import Mapping
from typing import Any

from headgate.clock import World
from headgate.errors import CatalogUnavailable, InvalidRequest, NotAllowed, UnsupportedFeature
from headgate.server.credentials.storage_access import Access, S3AssumedRole, S3StaticKeys
from headgate.server.credentials.table_place import TablePlace
from headgate.storage.credentials import StorageOperation

_ACTIVE = re.compile(r"[*?$]")
_READS = ("s3:GetObject", "s3:GetObjectVersion")
_WRITES = ("s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts")
_SESSION = "headgate"


def static_keys(
    access: Access, _: TablePlace, operation: StorageOperation, world: World
) -> tuple[Mapping[str, str], int]:
    """The pair of keys that the operator made for this operation."""
    assert isinstance(access, S3StaticKeys)
    key, secret = access.read_access_key, access.read_secret_key
    if operation is StorageOperation.READ_WRITE:
        if access.write_access_key is None or access.write_secret_key is None:
            raise NotAllowed(
                "this server has keys for this store to read with, and none to write with: ask its operator "
                "for write keys, or use credentials of your own"
            )
        key, secret = access.write_access_key, access.write_secret_key
    config = {"s3.access-key-id": key.read(), "s3.secret-access-key": secret.read()}
    return {**config, **_reached_at(access)}, world.now_ms() + 1000 * access.seconds


def assume_role(
    access: Access, place: TablePlace, operation: StorageOperation, world: World
) -> tuple[Mapping[str, str], int]:
    """A session of the role that reaches this table's keys and does this operation, and nothing else."""
    assert isinstance(access, S3AssumedRole)
    began_ms = world.now_ms()
    asked = {
        "RoleArn": access.role,
        "RoleSessionName": _SESSION,
        "DurationSeconds": access.seconds,
        "Policy": json.dumps(session_policy(place, operation, access.partition), separators=(",", ":")),
    }
    if access.external_id is not None:
        asked["ExternalId"] = access.external_id
    keys = _ask_sts(access, asked)
    config = {
        "s3.access-key-id": keys["AccessKeyId"],
        "s3.secret-access-key": keys["SecretAccessKey"],
        "s3.session-token": keys["SessionToken"],
    }
    # The earlier of the two: a store that answers without an end, or whose clock is ahead, gets ours.
    ends_ms = int(keys["Expiration"].timestamp() * 1000) if "Expiration" in keys else None
    own_end = began_ms + 1000 * access.seconds
    return {**config, **_reached_at(access)}, own_end if ends_ms is None else min(own_end, ends_ms)


def session_policy(
    place: TablePlace, operation: StorageOperation, partition: str = "aws"
) -> dict[str, object]:
    """What is left of a role for one table and one operation."""
    bucket, key = (_ACTIVE.sub(r"${\g<0>}", text) for text in (place.host, place.key))
    actions = _READS if operation is StorageOperation.READ else _READS + _WRITES
    objects = {
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": f"arn:{partition}:s3:::{bucket}/{key}/*",
    }
    listing = {
        "Effect": "Allow",
        "Action": ["s3:ListBucket"],
        "Resource": f"arn:{partition}:s3:::{bucket}",
        "Condition": {"StringLike": {"s3:prefix": [key, f"{key}/*"]}},
    }
    return {"Version": "2012-10-17", "Statement": [objects, listing]}


def _reached_at(access: S3AssumedRole | S3StaticKeys) -> dict[str, str]:
    """Where the store is: of AWS its region says all, other stores are found by their endpoint."""
    found = {"client.region": access.region, "s3.region": access.region}
    if access.endpoint is not None:
        found |= {"s3.endpoint": access.endpoint, "s3.path-style-access": "true"}
    return found


def _ask_sts(access: S3AssumedRole, asked: Mapping[str, object]) -> Mapping[str, Any]:
    client = _sts_client(access)
    failures = importlib.import_module("botocore.exceptions")
    try:
        found: Mapping[str, Any] = client.assume_role(**asked)["Credentials"]
    except failures.ClientError as exc:
        # Its text may repeat the request; the code and the request's id say enough to look further.
        code = exc.response.get("Error", {}).get("Code", "unknown")
        raise InvalidRequest(
            f"STS refused to give out the role of this store ({code}): the server's operator has to look at "
            "the role's trust policy, and at how long its sessions may be",
            code="HEADGATE_VENDING_REFUSED",
        ) from None
    except (failures.BotoCoreError, importlib.import_module("botocore.parsers").ResponseParserError) as exc:
        raise CatalogUnavailable(
            f"STS could not be asked for a session ({type(exc).__name__}): try again in a moment"
        ) from None
    return found


def _sts_client(access: S3AssumedRole) -> Any:  # botocore makes its types at run time
    try:
        session = importlib.import_module("botocore.session").Session()
    except ImportError as exc:
        raise UnsupportedFeature(
            "credentials of AWS are minted with botocore, which is not installed: install headgate[aws] on "
            "the machine of the server",
            code="HEADGATE_NOT_INSTALLED",
        ) from exc
    keys = (access.access_key, access.secret_key)
    config = importlib.import_module("botocore.config").Config(
        connect_timeout=5, read_timeout=10, retries={"max_attempts": 2}
    )
    return session.create_client(
        "sts",
        region_name=access.region,
        endpoint_url=access.sts_endpoint,
        aws_access_key_id=keys[0].read() if keys[0] else None,
        aws_secret_access_key=keys[1].read() if keys[1] else None,
        config=config,
    )
