"""How is an error answered? By its row, in the dialect of the API that was asked.

Rows are looked up along the classes of an error, so a new error of a known kind has an answer already.
Whatever is not a ``HeadgateError`` is answered 500 without details, which are in the log.
"""

import logging
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException
from litestar.types import HTTPScope

from headgate import errors
from headgate.catalog.wire.lake_description import CALL_ID, is_call_id
from headgate.catalog.wire.wire_errors import encode_error, error_body
from headgate.redaction import redact
from headgate.server.request_record import current_request_id

_LOG = logging.getLogger(__name__)
ErrorHandler = Callable[[Request[Any, Any, Any], Exception], Response[Any]]
Answers = MutableMapping[int | type[Exception], ErrorHandler]


HEADERS_BY_STATUS: Mapping[int, Mapping[str, str]] = {
    401: {"WWW-Authenticate": "Bearer"},
    429: {"Retry-After": "1"},
    503: {"Retry-After": "1"},
}


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """How errors of one class are answered: the status, and what other APIs call it."""

    error: type[Exception]
    status: int
    delta_type: str
    unity_code: str
    unity_status: int | None = None
    """Where the older API answers otherwise."""


ROWS: tuple[ErrorAnswer, ...] = (
    ErrorAnswer(errors.NotAuthenticated, 401, "NotAuthorizedException", "UNAUTHENTICATED"),
    ErrorAnswer(errors.NotAllowed, 403, "PermissionDeniedException", "PERMISSION_DENIED"),
    ErrorAnswer(errors.LakeNotFound, 404, "NoSuchCatalogException", "CATALOG_NOT_FOUND"),
    ErrorAnswer(errors.SchemaNotFound, 404, "NoSuchSchemaException", "SCHEMA_NOT_FOUND"),
    ErrorAnswer(errors.SchemaExists, 409, "AlreadyExistsException", "SCHEMA_ALREADY_EXISTS"),
    ErrorAnswer(errors.TableNotFound, 404, "NoSuchTableException", "TABLE_NOT_FOUND"),
    ErrorAnswer(errors.TableExists, 409, "AlreadyExistsException", "TABLE_ALREADY_EXISTS"),
    ErrorAnswer(errors.ConflictError, 409, "CommitVersionConflictException", "COMMIT_VERSION_CONFLICT"),
    ErrorAnswer(errors.TableFrozen, 409, "UpdateRequirementConflictException", "UPDATE_REQUIREMENT_CONFLICT"),
    ErrorAnswer(errors.TooManyUnpublished, 429, "ResourceExhaustedException", "RESOURCE_EXHAUSTED"),
    ErrorAnswer(errors.UserError, 400, "InvalidParameterValueException", "INVALID_ARGUMENT"),
    ErrorAnswer(errors.CommitUnknown, 500, "CommitStateUnknownException", "COMMIT_STATE_UNKNOWN"),
    ErrorAnswer(errors.CatalogUnavailable, 503, "InternalServerErrorException", "SERVICE_UNAVAILABLE"),
    ErrorAnswer(errors.StorageUnavailable, 503, "InternalServerErrorException", "SERVICE_UNAVAILABLE"),
    ErrorAnswer(errors.HeadgateError, 500, "InternalServerErrorException", "INTERNAL"),
)
_BY_ERROR = {row.error: row for row in ROWS}


def answer_row(error: Exception) -> ErrorAnswer:
    """How this error is answered."""
    rows = (_BY_ERROR.get(kind) for kind in type(error).__mro__)
    return next((row for row in rows if row is not None), _BY_ERROR[errors.HeadgateError])


def answer_status(error: Exception) -> int:
    """The status of its answer: a request that a limit refused brings its own."""
    status = error.fields.get("status") if isinstance(error, errors.RequestRefused) else None
    return status if isinstance(status, int) else answer_row(error).status


def _message(error: Exception) -> str:
    if isinstance(error, errors.HeadgateError):
        return redact(str(error))
    _LOG.error("an error nobody expected", exc_info=error)
    return (
        "the server failed in a way it did not expect: its log has the details, under the id of this request"
    )


def _own(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    hidden = "" if isinstance(error, errors.HeadgateError) else _message(error)
    body, status = error_body(error, hidden=hidden), answer_status(error)
    body = msgspec.structs.replace(body, message=redact(body.message), request_id=current_request_id())
    named = request.headers.get(CALL_ID, "")
    return Response(
        encode_error(body),
        status_code=status,
        media_type=MediaType.JSON,
        headers={**HEADERS_BY_STATUS.get(status, {}), **({CALL_ID: named} if is_call_id(named) else {})},
    )


def _delta(_: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    row, status = answer_row(error), answer_status(error)
    body = {"message": _message(error), "type": row.delta_type, "code": status}
    return _response({"error": {**body, "request-id": current_request_id()}}, status)


def _unity(_: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    row = answer_row(error)
    reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": row.unity_code}
    body = {"error_code": row.unity_code, "message": _message(error), "details": [reason]}
    return _response({**body, "request_id": current_request_id()}, row.unity_status or answer_status(error))


def _response(body: Mapping[str, Any], status: int) -> Response[Any]:
    headers = HEADERS_BY_STATUS.get(status)
    return Response(body, status_code=status, media_type=MediaType.JSON, headers=headers)


def _http(dialect: ErrorHandler) -> ErrorHandler:
    """Errors of the framework itself, such as a body that is no JSON, in the same dialect."""

    def answer(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
        if not isinstance(error, HTTPException):
            return dialect(request, error)
        if error.status_code >= 500:
            return dialect(request, error)
        return dialect(request, errors.RequestRefused(redact(_detail(error)), status=error.status_code))

    return answer


def _detail(error: HTTPException) -> str:
    """What the framework says of a request, with the parts of it that are wrong."""
    parts = error.extra if isinstance(error.extra, list) else []
    wrong = [f"{part.get('key', '')}: {part.get('message', '')}" for part in parts if isinstance(part, dict)]
    return "; ".join([str(error.detail), *wrong])


ANSWER_OWN: Answers = {Exception: _http(_own)}
ANSWER_DELTA: Answers = {Exception: _http(_delta)}
ANSWER_UNITY: Answers = {Exception: _http(_unity)}

DIALECTS: tuple[tuple[str, ErrorHandler], ...] = (
    ("/api/2.1/unity-catalog/delta/v1", _http(_delta)),
    ("/api/2.1/unity-catalog", _http(_unity)),
    ("/api/1.0/unity-control", _http(_unity)),
    ("", _http(_own)),
)
"""Which dialect the paths below a prefix are answered in; the first that fits."""


def answer_by_path(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """The answer to what no route saw, such as a path that there is not, in the dialect of its neighbours."""
    path = request.scope["path"]
    return next(dialect for prefix, dialect in DIALECTS if path.startswith(prefix))(request, error)


class PlainAnswer(NamedTuple):
    """An answer as a server sends it."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def plain_answer(scope: HTTPScope, error: Exception) -> PlainAnswer:
    """The answer to an error that was raised outside of the framework, in the dialect of its path."""
    answer = answer_by_path(Request(scope), error)
    content = answer.content
    body = content if isinstance(content, bytes) else msgspec.json.encode(content)
    headers = [(name.lower().encode(), value.encode()) for name, value in answer.headers.items()]
    headers += [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    return PlainAnswer(answer.status_code or 500, headers, body)
