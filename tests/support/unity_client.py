"""A client of the older Unity Catalog API that sends what it is told to, and shows what comes back."""

import json
from dataclasses import dataclass
from typing import Any

import urllib3

from tests.support.waiting import PATIENCE_SECONDS

BASE = "/api/2.1/unity-catalog"


@dataclass
class Refusal(Exception):
    """An answer that is no success."""

    status: int
    body: Any

    @property
    def code(self) -> str:
        return str(self.body["error_code"])


@dataclass(frozen=True)
class UnityClient:
    """Requests to one server."""

    url: str
    token: str = ""

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """The answer's body; ``Refusal`` if it is no success. A GET may have a body, too."""
        answer = urllib3.request(
            method,
            f"{self.url}{BASE}{path}",
            body=None if body is None else json.dumps(body).encode(),
            fields=query or None,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            retries=False,
            timeout=PATIENCE_SECONDS,
        )
        said = json.loads(answer.data) if answer.data else None
        if answer.status >= 300:
            raise Refusal(answer.status, said)
        return said

    def get(self, path: str, **query: Any) -> Any:
        return self.ask("GET", path, **query)

    def post(self, path: str, **body: Any) -> Any:
        return self.ask("POST", path, body)

    def delete(self, path: str, **query: Any) -> Any:
        return self.ask("DELETE", path, **query)
