"""How is an error shown? As a page with the same status as the API's answer, and one way on.

What is hidden from somebody is answered as what is not there is, word for word (T14). A form is told what
the catalog says of the names in it: that is by the same rule the same for both.
"""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.response import Redirect

from headgate import errors
from headgate.redaction import redact
from headgate.server.console import rendering
from headgate.server.console.security_headers import NOT_KEPT, SECURITY_HEADERS
from headgate.server.console.session import COOKIE
from headgate.server.error_answers import HEADERS_BY_STATUS, Answers, answer_status
from headgate.server.request_record import current_request_id

CONSOLE = "/console"
SIGN_IN = f"{CONSOLE}/sign-in"
ENDED = "ended"
"""Says in the address of the sign-in that there was a session."""
_LOG = logging.getLogger(__name__)
_NOT_FOUND = (errors.LakeNotFound, errors.SchemaNotFound, errors.TableNotFound, errors.VersionNotFound)
_NO_LAKE = "No lake of this name is here, or it is not shown to you."
_NO_TABLE = "Nothing of this name is here, or it is not shown to you. Look for it in the list of tables."
_NO_PAGE = "The console has no page at this address."
_TITLES: Mapping[int, str] = {
    400: "This cannot be done as asked",
    403: "This is not allowed",
    404: "There is nothing here",
    405: "This cannot be asked here",
    409: "Somebody was quicker",
    413: "This is too much at once",
    429: "Too many requests",
    503: "The catalog does not answer",
}


def answer_with_page(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """The page for an error, or the way to the page where one signs in."""
    if isinstance(error, errors.NotAuthenticated):
        return _to_sign_in(request)
    status = page_status(error)
    is_fragment = request.headers.get("hx-request-type") == "partial"
    text = rendering.render(
        "error_part.html" if is_fragment else "error.html",
        {
            "title": _TITLES.get(status, "The server failed"),
            "status": status,
            "message": error_message(error, status, is_form=request.method == "POST"),
            "code": error.code if isinstance(error, errors.HeadgateError) and status != 404 else "",
            "request_id": current_request_id() or "",
        },
    )
    headers = {name: value for name, value in HEADERS_BY_STATUS.get(status, {}).items() if status != 401}
    return Response(text, status_code=status, media_type=MediaType.HTML, headers=headers)


def page_status(error: Exception) -> int:
    """The status of an error's page."""
    if isinstance(error, _NOT_FOUND):
        return 404
    if isinstance(error, HTTPException):
        return error.status_code
    return answer_status(error)


def error_message(error: Exception, status: int, *, is_form: bool = False) -> str:
    """What a page says of an error; of a name in an address that is not there always the same."""
    if isinstance(error, errors.LakeNotFound):
        return _NO_LAKE
    if isinstance(error, errors.SchemaNotFound | errors.TableNotFound) and not is_form:
        return _NO_TABLE
    if isinstance(error, errors.HeadgateError):
        return redact(error.message)
    if isinstance(error, ValidationException):
        return _number_message(error)
    if isinstance(error, HTTPException) and status == 404 and error.detail == HTTPStatus.NOT_FOUND.phrase:
        return _NO_PAGE
    if isinstance(error, HTTPException) and status < 500:
        return redact(str(error.detail))
    _LOG.error("an error nobody expected", exc_info=error)
    return "The server did not expect this. Its log has the details, under the id of this request."


def _number_message(error: ValidationException) -> str:
    """Of what an address asks for only numbers are checked by the framework."""
    parts = error.extra if isinstance(error.extra, list) else []
    names = [str(part["key"]) for part in parts if isinstance(part, dict) and "key" in part]
    what = " and ".join(names) or "a number"
    return f"In this address {what} is no whole number that there can be: correct it, or leave it out."


def answer_unrouted(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """The page for an address of the console that no route has, with the headers of all others."""
    answer = answer_with_page(request, error)
    answer.headers.update({"cache-control": NOT_KEPT, **dict(SECURITY_HEADERS)})
    return answer


def is_of_console(path: str) -> bool:
    """Whether pages are answered at an address, and not the calls of an API."""
    return path in ("/", CONSOLE) or path.startswith(f"{CONSOLE}/")


def _to_sign_in(request: Request[Any, Any, Any]) -> Response[Any]:
    query = request.scope["query_string"].decode("ascii", "replace")
    asked = request.scope["path"] + (f"?{query}" if query else "") if request.method == "GET" else "/"
    said = [] if asked == "/" else [f"next={quote(asked)}"]
    if any(name.endswith(COOKIE) for name in request.cookies):
        said.append(f"{ENDED}=yes")
    address = "?".join([SIGN_IN, "&".join(said)]) if said else SIGN_IN
    if request.headers.get("hx-request"):
        return Response("", status_code=200, media_type=MediaType.HTML, headers={"hx-redirect": address})
    return Redirect(address, status_code=303)


ANSWER_PAGES: Answers = {Exception: answer_with_page}
