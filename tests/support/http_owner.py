"""A coordinator behind HTTP: a server on this machine, and the owner that asks it."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from typing_extensions import override

from headgate import owners
from headgate.catalog import published_files
from headgate.catalog.ports.commits import Lost, RatifiedCommit, StagedCommit, TableState, Unknown
from headgate.catalog.ports.coordinator import CoordinatedProposal, CoordinatedTable, GetCommitsResponse
from headgate.errors import CatalogUnavailable
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.table.read import log_reader
from tests.support.waiting import PATIENCE_SECONDS

OK, CONFLICT, LIMIT = 200, 409, 429
LOSE_REPLY = -500
"""In a script: do what is asked, and answer 500 all the same."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked, in order."""

    kind: str
    body: Mapping[str, Any]
    content: bytes
    """Of the staged file, as it was when the commit was asked for."""


@dataclass
class Service:
    """Keeps versions by name of file, knows nothing of what is in them, and fails as its script says."""

    store: Any
    limit: int = 100
    script: list[int] = field(default_factory=list)
    """The statuses of the next commits; what comes after them is answered as it should be."""
    asked: list[Request] = field(default_factory=list)
    held: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    latest: int | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, kind: str, body: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        """The status and what is told with it."""
        with self._lock:
            content = self.store.read(body["path"]) if kind == "commit" else b""
            self.asked.append(Request(kind, body, content))
            match kind:
                case "register":
                    return OK, {"table": "7"}
                case "commit":
                    return self._commit(body)
                case "commits":
                    return OK, {"commits": list(self.held.values()), "latest": self.latest}
                case _:
                    self.held = {key: held for key, held in self.held.items() if key > body["version"]}
                    return OK, {}

    def _commit(self, body: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        planned = self.script.pop(0) if self.script else OK
        if planned not in (OK, LOSE_REPLY):
            return planned, {"message": f"as planned, {planned}"}
        if self.latest is not None and body["version"] <= self.latest:
            return CONFLICT, {"message": f"version {body['version']} is taken"}
        if len(self.held) >= self.limit:
            return LIMIT, {"message": f"{self.limit} commits are not published"}
        self.held[body["version"]], self.latest = body, body["version"]
        return (OK, {}) if planned == OK else (500, {"message": "something broke afterwards"})

    def commits(self) -> list[Request]:
        """The commits that were asked for."""
        return [request for request in self.asked if request.kind == "commit"]


class HttpOwner:
    """Asks the service at that address; publishes itself, as the service has no files."""

    def __init__(self, address: str) -> None:
        self._address = address

    def register(self, location: str, current: Version | None, told: TableState) -> Mapping[str, str]:
        told = self._told("register", {"location": location, "current": current})
        return {"table": str(told["table"])}

    def commit(
        self, table: CoordinatedTable, proposal: CoordinatedProposal
    ) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
        ratified = RatifiedCommit(proposal.version, proposal.txn_id, proposal.timestamp, proposal.staged)
        try:
            status, told = self._ask("commit", _written(ratified) | {"table": table.conf["table"]})
        except CatalogUnavailable as exc:
            return Unknown(exc.message)
        return ratified if status == OK else owners.commit_failure_from_status(status, told["message"])

    def get_commits(
        self, table: CoordinatedTable, *, start: Version | None = None, end: Version | None = None
    ) -> GetCommitsResponse:
        told = self._told("commits", {"table": table.conf["table"]})
        found = (_read(commit) for commit in told["commits"])
        within = tuple(
            commit
            for commit in found
            if (start is None or commit.version >= start) and (end is None or commit.version <= end)
        )
        return GetCommitsResponse(within, told["latest"])

    def backfill_to(self, table: CoordinatedTable, version: Version) -> None:
        for commit in self.get_commits(table, end=version).commits:
            published_files.publish_version(
                table.store, commit.version, log_reader.commit_content(table.store, commit.version, commit)
            )
        self._told("published", {"table": table.conf["table"], "version": version})

    def _told(self, kind: str, body: Mapping[str, Any]) -> Any:
        status, told = self._ask(kind, body)
        if status != OK:
            raise owners.error_from_status(status, told["message"])
        return told

    def _ask(self, kind: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        asked = urllib.request.Request(f"{self._address}/{kind}", json.dumps(body).encode(), method="POST")
        try:
            with urllib.request.urlopen(asked, timeout=PATIENCE_SECONDS) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as exc:
            with exc:
                return exc.code, json.load(exc)
        except OSError as exc:
            raise CatalogUnavailable(f"nobody listens at {self._address}") from exc


def _written(commit: RatifiedCommit) -> dict[str, Any]:
    assert isinstance(commit.where, StagedCommit)
    where = {"name": commit.where.file_name, "folder": commit.where.folder, "path": commit.where.path}
    return {"version": commit.version, "txn": commit.txn_id, "at": commit.in_commit_timestamp, **where}


def _read(told: Mapping[str, Any]) -> RatifiedCommit:
    staged = StagedCommit(told["name"], told["folder"])
    return RatifiedCommit(Version(told["version"]), TxnId(told["txn"]), EpochMillis(told["at"]), staged)


@contextmanager
def serving(service: Service) -> Iterator[str]:
    """Serve it on this machine until the end; the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, told = service.answer(self.path.strip("/"), body)
            sent = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
