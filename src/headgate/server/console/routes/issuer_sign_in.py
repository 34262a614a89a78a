"""How does one sign in at an issuer's page? Out by one address of the console, and back by another.

The session's own cookie is not sent with what comes from another site, so a second one, which is good for
minutes and for nothing else, remembers what was begun; and the way into the console is one step of its own.
"""

from typing import Any

from litestar import MediaType, Response, get
from litestar.datastructures import State
from litestar.exceptions import NotFoundException
from litestar.params import FromQuery
from litestar.response import Redirect

from headgate.catalog.ports.access import invalid_token_error
from headgate.errors import NotAuthenticated
from headgate.server.auth.code_flow import IssuerSignIn
from headgate.server.caller import Authenticator
from headgate.server.console import rendering
from headgate.server.console.error_pages import SIGN_IN
from headgate.server.console.routes.sign_in import own_path, sign_in_page
from headgate.server.console.session import PENDING_SECONDS, new_session
from headgate.server.console.visit import ConsoleParts, ConsoleRequest, now_ms, read_session

BEGIN = f"{SIGN_IN}/issuer"
BACK = f"{SIGN_IN}/issuer/back"


@get(BEGIN, sync_to_thread=True)
def begin_sign_in(
    request: ConsoleRequest,
    state: State,
    number: FromQuery[int] = 0,
    next: FromQuery[str] = "/",  # noqa: A002
) -> Response[Any]:
    """Send somebody to the page of one of the issuers."""
    parts: ConsoleParts = state.console
    if not 0 <= number < len(parts.issuers):
        raise NotFoundException("There is no such issuer: choose one on the page where one signs in.")
    scheme = "https" if parts.seal.is_secure else "http"
    back = f"{scheme}://{request.headers.get('host', '')}{BACK}"
    expires_ms = now_ms(state) + PENDING_SECONDS * 1000
    begun = parts.issuers[number].begin(back, own_path(next), expires_ms)
    answer = Redirect(begun.address, status_code=303)
    answer.set_cookie(parts.seal.pending_cookie(begun.pending))
    return answer


@get(BACK, sync_to_thread=True)
def finish_sign_in(request: ConsoleRequest, state: State, code: FromQuery[str] = "") -> Response[Any]:
    """Begin a session with the token that the issuer gives for a code."""
    parts: ConsoleParts = state.console
    try:
        pending = parts.seal.open_pending(request.cookies, now_ms(state))
        if pending is None:
            raise invalid_token_error()
        issuer = _issuer(parts, pending.issuer)
        token = issuer.finish(pending, request.query_params.get("state", ""), code)
        authenticator: Authenticator = state.authenticator
        request.state.caller = authenticator.authenticate(f"Bearer {token}")
    except NotAuthenticated:
        session = read_session(request, state) or new_session(now_ms(state))
        message = "The issuer did not sign you in, or it took too long. Try once more."
        return sign_in_page(state, session, "/", message, 401)
    text = rendering.render("signed_in.html", {"following": pending.following})
    cookies = [parts.seal.cookie(new_session(now_ms(state), token)), parts.seal.ending_pending_cookie()]
    return Response(text, media_type=MediaType.HTML, cookies=cookies)


def _issuer(parts: ConsoleParts, name: str) -> IssuerSignIn:
    found = next((each for each in parts.issuers if each.trusted.issuer == name), None)
    if found is None:
        raise invalid_token_error()
    return found
