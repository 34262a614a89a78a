"""What does a server say of itself? Its OpenAPI document: each route with its bodies, answers and errors.

The framework writes it from the handlers. What handlers do not say is added here: the bodies of the
operations of the ports, which are bytes to them, and the errors, which have the dialect of the API.
"""

import functools
from typing import Any, cast

import msgspec
from litestar import Request
from litestar.openapi.plugins import JsonRenderPlugin
from typing_extensions import override

from headgate.catalog.wire.lake_description import BASE_PATH
from headgate.catalog.wire.operation_codec import codec_for
from headgate.catalog.wire.operations import OPERATIONS, PortOperation
from headgate.catalog.wire.wire_errors import ErrorBody

Document = dict[str, Any]
_JSON = "application/json"
_DELTA_ERROR: Document = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "code": {"type": "integer"},
            },
        }
    },
}
_UNITY_ERROR: Document = {
    "type": "object",
    "required": ["error_code", "message"],
    "properties": {
        "error_code": {"type": "string"},
        "message": {"type": "string"},
        "details": {"type": "array"},
    },
}
_OAUTH_ERROR: Document = {
    "anyOf": [
        {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}},
        _UNITY_ERROR,
    ]
}
"""That of RFC 6749, unless the request does not get as far."""
_OWN_ERROR: Document = {"$ref": f"#/components/schemas/{ErrorBody.__name__}"}
ERROR_SCHEMAS: tuple[tuple[str, Document], ...] = (
    ("/api/2.1/unity-catalog/delta/v1", _DELTA_ERROR),
    ("/api/2.1/unity-catalog", _UNITY_ERROR),
    ("/api/1.0/unity-control/oauth", _OAUTH_ERROR),
    ("/api/1.0/unity-control", _UNITY_ERROR),
    ("", _OWN_ERROR),
)
"""What an error looks like below a prefix; the first that fits."""


class CompletedDocument(JsonRenderPlugin):
    """Serves the document of the framework, completed."""

    @override
    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        return self._completed(msgspec.json.encode(openapi_schema))

    @staticmethod
    @functools.lru_cache(maxsize=4)
    def _completed(written: bytes) -> bytes:
        return msgspec.json.encode(complete_document(msgspec.json.decode(written)))


def complete_document(document: Document) -> Document:
    """The document with the bodies of our own API, and with the errors of every route."""
    operations = {f"{BASE_PATH}/lakes/{{lake}}/{each.path}": each for each in OPERATIONS}
    known = document.setdefault("components", {}).setdefault("schemas", {})
    _schema(ErrorBody, "", known)
    for path, routes in document["paths"].items():
        for method, route in routes.items():
            _add_errors(path, method, route["responses"])
            if path in operations:
                _add_bodies(route, operations[path], known)
    return document


def _schema(described: Any, prefix: str, known: Document) -> Document:
    """The schema of a type; what it refers to is added to what is known, under names of its own."""
    reference = f"#/components/schemas/{prefix}{{name}}"
    found = msgspec.json.schema(
        described, schema_hook=lambda _: {"title": "anything"}, ref_template=reference
    )
    known |= {f"{prefix}{name}": _without_tuples(schema) for name, schema in found.pop("$defs", {}).items()}
    return cast("Document", _without_tuples(found))


def _without_tuples(schema: Any) -> Any:
    """The schema without ``prefixItems``, which some readers of OpenAPI do not understand."""
    if isinstance(schema, list):
        return [_without_tuples(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: _without_tuples(each) for name, each in schema.items() if name != "prefixItems"}
    if "prefixItems" in schema:
        plain["items"] = {"anyOf": _without_tuples(schema["prefixItems"])}
    return plain


def _add_errors(path: str, method: str, responses: Document) -> None:
    schema = next(schema for prefix, schema in ERROR_SCHEMAS if path.startswith(prefix))
    refused: Document = {"description": "An error."}
    if method != "head":
        refused["content"] = {_JSON: {"schema": schema}}
    responses.pop("400", None)  # the framework's own, in which nothing is answered
    responses["default"] = refused


def _add_bodies(route: Document, operation: PortOperation, known: Document) -> None:
    codec, prefix = codec_for(operation), operation.path.replace("/", "_")
    taken = _schema(codec.arguments_type, f"{prefix}_takes_", known)
    given = _schema(codec.result_type, f"{prefix}_gives_", known)
    route["requestBody"] = {"content": {_JSON: {"schema": taken}}, "required": True}
    route["responses"]["200"] = {"description": "The answer.", "content": {_JSON: {"schema": given}}}
