"""A valid request for each route, made from what the server says of itself, and real commits besides."""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from headgate.catalog.ports.commits import CommitCatalog
from headgate.catalog.ports.directory import StagingTable
from headgate.catalog.wire.operation_codec import codec_for
from headgate.catalog.wire.operations import OPERATIONS
from tests.support import proposals

DELTA = "/api/2.1/unity-catalog/delta/v1"
OLDER = "/api/2.1/unity-catalog"
OWN = "/api/headgate/v1/lakes/main"
NAMES: Mapping[str, str] = {
    "lake": "main",
    "catalog": "main",
    "schema": "test",
    "table": "t",
    "full_name": "main.test.t",
    "name": "main",
    "securable_type": "table",
}


@dataclass(frozen=True)
class RecordedRequest:
    """What a client sends."""

    method: str
    path: str
    body: bytes


def valid_requests(document: Mapping[str, Any], table: StagingTable) -> tuple[RecordedRequest, ...]:
    """A request for every route of the document, and commits as clients make them."""
    return (*_described(document, table), *_commits(table))


def _described(document: Mapping[str, Any], table: StagingTable) -> Iterator[RecordedRequest]:
    chooser = random.Random(0)
    samples = _Samples(document["components"]["schemas"], table, chooser)
    for path, routes in document["paths"].items():
        for method, route in routes.items():
            named = {name: quote(value) for name, value in {**NAMES, "table_id": table.table_id}.items()}
            content = route.get("requestBody", {}).get("content", {})
            schema = next(iter(content.values()))["schema"] if content else None
            body = b"" if schema is None else json.dumps(samples.sample(schema)).encode()
            yield RecordedRequest(method.upper(), path.format_map(defaultdict(lambda: "x", named)), body)


@dataclass(frozen=True)
class _Samples:
    """Values as schemas describe them, with the names and ids of things that are there."""

    components: Mapping[str, Any]
    table: StagingTable
    chooser: random.Random

    def sample(self, schema: Mapping[str, Any], name: str = "", depth: int = 0) -> Any:
        if "$ref" in schema:
            return self.sample(self.components[schema["$ref"].rpartition("/")[2]], name, depth + 1)
        for options in ("anyOf", "oneOf", "allOf"):
            if options in schema:
                return self.sample(self.chooser.choice(schema[options]), name, depth + 1)
        if "const" in schema or "enum" in schema:
            return schema.get("const", (schema.get("enum") or [None])[0])
        kind = schema.get("type")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object":
            fields = schema.get("properties", {}) if depth < 8 else {}
            return {each: self.sample(inner, each, depth + 1) for each, inner in fields.items()}
        if kind == "array":
            return [self.sample(schema.get("items") or {}, name, depth + 1)] if depth < 8 else []
        return self._scalar(kind, name)

    def _scalar(self, kind: str | None, name: str) -> Any:
        known = {
            "table_id": self.table.table_id,
            "table-id": self.table.table_id,
            "location": self.table.location,
            "uuid": self.table.table_id,
            "schema_name": "test",
            "catalog_name": "main",
            "operation": "READ",
            "privilege": "READ",
            "rule": "max_commit_files",
            "value": "9",
            "on": "test.t",
            "child": "test.t",
            "parent": "test.t",
            **NAMES,
        }
        if kind == "string":
            return known.get(name, "x")
        return {"integer": 1, "number": 1.5, "boolean": True}.get(kind or "")


def _commits(table: StagingTable) -> Iterator[RecordedRequest]:
    propose = next(each for each in OPERATIONS if each.method is CommitCatalog.propose)
    for version in (1, 2):
        proposal = proposals.inline(table.table_id, version, f"fuzz-{version}")
        yield RecordedRequest(
            "POST", f"{OWN}/{propose.path}", codec_for(propose).encode_arguments((proposal,), {})
        )
    staged = f"{1:020d}.5c1b2a3e-0000-4000-8000-000000000001.json"
    commit = {
        "version": 1,
        "timestamp": 1,
        "file-name": staged,
        "file-size": 10,
        "file-modification-timestamp": 1,
    }
    update = {
        "requirements": [{"type": "assert-table-uuid", "uuid": table.table_id}],
        "updates": [{"action": "add-commit", "commit": commit}],
    }
    path = f"{DELTA}/catalogs/main/schemas/test/tables/t"
    yield RecordedRequest("POST", path, json.dumps(update).encode())
    older = {
        "table_id": table.table_id,
        "table_uri": f"file://{table.location}",
        "commit_info": {name.replace("-", "_"): value for name, value in commit.items()},
    }
    yield RecordedRequest("POST", f"{OLDER}/delta/preview/commits", json.dumps(older).encode())
    asked = {"table_id": table.table_id, "table_uri": f"file://{table.location}", "start_version": 0}
    yield RecordedRequest("GET", f"{OLDER}/delta/preview/commits", json.dumps(asked).encode())
