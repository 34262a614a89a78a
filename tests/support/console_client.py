"""Somebody who looks at the console without a browser: signs in, keeps cookies, sends forms."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import urlencode, urlsplit

from tests.support.operated_server import Answer, ask

_MOST_COMINGS = 600
"""So often is asked again for a part that is not ready: a loaded machine takes its time."""
COMES_AGAIN = re.compile(r'hx-get="([^"]+)" hx-trigger="load delay')
CSRF = re.compile(r'name="csrf" value="([^"]+)"')


@dataclass
class ConsoleClient:
    """One visitor; forms have the CSRF token of the page that was seen last, unless told otherwise."""

    url: str
    cookies: dict[str, str] = field(default_factory=dict)
    csrf: str = ""

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        """A page."""
        return self._ask("GET", path, None, headers or {})

    def part(self, path: str) -> Answer:
        """A part of a page, as htmx asks for it; asked for again until it is ready."""
        for _ in range(_MOST_COMINGS):
            got = self.part_at_once(path)
            again = COMES_AGAIN.search(got.body.decode(errors="replace"))
            if again is None:
                return got
            path = unescape(again.group(1))
        raise AssertionError(f"{path} is never ready")

    def part_at_once(self, path: str) -> Answer:
        """The same, ready or not."""
        return self.get(path, {"hx-request": "true", "hx-request-type": "partial"})

    def post(
        self,
        path: str,
        fields: Mapping[str, str],
        headers: Mapping[str, str] | None = None,
        csrf: str | None = None,
    ) -> Answer:
        """Send a form."""
        body = urlencode({"csrf": self.csrf if csrf is None else csrf, **fields}).encode()
        kind = {"content-type": "application/x-www-form-urlencoded"}
        return self._ask("POST", path, body, {**kind, **(headers or {})})

    def sign_in(self, token: str, following: str = "/") -> Answer:
        """Begin a session."""
        self.get("/console/sign-in")
        return self.post("/console/sign-in", {"token": token, "next": following})

    def _ask(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        port = urlsplit(self.url).port or 0
        got = ask(port, path, method=method, body=body, headers={"cookie": cookie, **headers})
        self._keep(got)
        return got

    def _keep(self, got: Answer) -> None:
        for cookie in got.cookies:
            name, _, rest = cookie.partition("=")
            self.cookies[name] = rest.partition(";")[0].strip('"')
        found = CSRF.search(got.body.decode(errors="replace"))
        if found is not None:
            self.csrf = unescape(found.group(1))


def signed_in(url: str, token: str) -> ConsoleClient:
    """A visitor with a session."""
    client = ConsoleClient(url)
    answer = client.sign_in(token)
    assert answer.status == 303, answer.body.decode()
    client.get("/console/lakes/main/grants")  # a page with a form
    return client
