"""How does one sign in and out? With a token, sealed into the session's cookie and shown to nobody."""

from typing import Any

from litestar import MediaType, Response, get, post
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Redirect

from headgate.errors import NotAuthenticated
from headgate.server.caller import Authenticator
from headgate.server.console import rendering
from headgate.server.console.error_pages import SIGN_IN
from headgate.server.console.session import ConsoleSession, new_session
from headgate.server.console.visit import (
    ConsoleParts,
    ConsoleRequest,
    Form,
    Visit,
    form_fields,
    now_ms,
    read_session,
    require_own_form,
)

HOME = "/"


@get(SIGN_IN, sync_to_thread=True)
def show_sign_in(
    request: ConsoleRequest,
    state: State,
    next: FromQuery[str] = HOME,  # noqa: A002
    ended: FromQuery[str] = "",
) -> Response[str]:
    """The page where one signs in."""
    session = read_session(request, state) or new_session(now_ms(state))
    message = "Your session has ended. Sign in once more to go on where you were." if ended == "yes" else ""
    return sign_in_page(state, session, own_path(next), message, 200)


@post(SIGN_IN, status_code=303)
async def sign_in(request: ConsoleRequest, state: State) -> Response[Any]:
    """Begin a session with a token, if it is a good one."""
    fields = form_fields(await request.form())
    before = read_session(request, state)
    if before is None:
        message = "The page was open for too long. Enter the token once more."
        return sign_in_page(state, new_session(now_ms(state)), own_path(fields.get("next", "")), message, 403)
    require_own_form(request.headers, fields, before)
    authenticator: Authenticator = state.authenticator
    token = fields.get("token", "").strip()
    try:
        request.state.caller = authenticator.authenticate(f"Bearer {token}")
    except NotAuthenticated:
        message = "This token is not known, has ended or was taken back."
        return sign_in_page(state, before, own_path(fields.get("next", "")), message, 401)
    parts: ConsoleParts = state.console
    answer = Redirect(own_path(fields.get("next", "")), status_code=303)
    answer.set_cookie(parts.seal.cookie(new_session(now_ms(state), token)))
    return answer


@post("/console/sign-out", status_code=303, sync_to_thread=True)
def sign_out(
    visit: NamedDependency[Visit],
    form: NamedDependency[Form],  # noqa: ARG001 — asked for, so that it is checked
) -> Redirect:
    """End the session."""
    answer = Redirect(SIGN_IN, status_code=303)
    answer.set_cookie(visit.parts.seal.ending_cookie())
    return answer


def own_path(asked: str) -> str:
    """Where to go on: a path of this console, and never another place."""
    path = asked.partition("?")[0]
    is_own = path.startswith("/console/") and "//" not in path and "\\" not in asked and asked.isprintable()
    return asked if is_own and not asked.startswith(SIGN_IN) else HOME


def sign_in_page(
    state: State, session: ConsoleSession, following: str, message: str, status: int
) -> Response[str]:
    """The page where one signs in, with what went wrong before."""
    parts: ConsoleParts = state.console
    issuers = [each.host for each in parts.issuers]
    values = {"csrf": session.csrf, "next": following, "message": message, "issuers": issuers}
    text = rendering.render("sign_in.html", values)
    cookies = [parts.seal.cookie(session)]
    return Response(text, status_code=status, media_type=MediaType.HTML, cookies=cookies)
