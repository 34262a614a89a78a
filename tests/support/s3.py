"""An S3 server of our own, on loopback."""

import logging
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import Any
from unittest.mock import patch

import boto3
from moto.s3.responses import S3Response
from moto.server import ThreadedMotoServer
from obstore.store import S3Store
from typing_extensions import override

from headgate.clock import SystemWorld
from headgate.storage.object_store import ObjectStore

_CREDENTIALS = {"region_name": "us-east-1", "aws_access_key_id": "k", "aws_secret_access_key": "s"}
_ATOM = timedelta(milliseconds=1)


class HastyWorld(SystemWorld):
    """The machine's, but for pauses that are hardly any."""

    @override
    def sleep(self, seconds: float) -> None:
        time.sleep(min(seconds, 0.001))


@contextmanager
def server() -> Iterator[str]:
    """The URL of a server that runs for a while."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # else it notes every request
    lock, put = threading.Lock(), S3Response.put_object

    def put_alone(response: S3Response) -> object:
        with lock:  # moto looks whether there is an object and then writes; S3 does both at once
            return put(response)

    with patch.object(S3Response, "put_object", put_alone):
        running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        running.start()
        try:
            host, port = running.get_host_and_port()
            yield f"http://{host}:{port}"
        finally:
            running.stop()


def make_bucket(url: str) -> str:
    """The name of a new bucket."""
    name = f"bucket-{uuid.uuid4()}"
    _administrator(url).create_bucket(Bucket=name)
    return name


@cache
def _administrator(url: str) -> Any:  # boto3 makes its types at run time
    return boto3.client("s3", endpoint_url=url, **_CREDENTIALS)


def bucket(url: str) -> ObjectStore:
    """A store in a new bucket."""
    return connect(url, make_bucket(url))


def connect(url: str, name: str, *, place: str | None = None, timeout_seconds: float = 10) -> ObjectStore:
    """A store in a bucket, with clients of its own that hardly pause before they try again."""

    def client(retries: int) -> S3Store:
        return S3Store(
            name,
            endpoint=url,
            region="us-east-1",
            access_key_id="k",
            secret_access_key="s",
            client_options={"allow_http": True, "timeout": timedelta(seconds=timeout_seconds)},
            retry_config={
                "max_retries": retries,
                "backoff": {"init_backoff": _ATOM, "max_backoff": _ATOM, "base": 2},
            },
        )

    return ObjectStore(client(2), once=client(0), place=place, world=HastyWorld())
