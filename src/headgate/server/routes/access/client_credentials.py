"""How does a program with a secret get a token? By the client credentials grant of OAuth 2 (RFC 6749, 4.4).

    POST /api/1.0/unity-control/oauth/token
    Authorization: Basic <client id and secret>

    grant_type=client_credentials&scope=all-apis

The id and the secret may stand in the form too. The answer has a token that ends within the hour.
"""

import base64
import binascii
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

from litestar import Request, Response, post
from litestar.concurrency import sync_to_thread
from litestar.datastructures import State

from headgate.catalog.ports.access import CreatedToken
from headgate.errors import HeadgateError, NotAllowed, NotAuthenticated
from headgate.server.lakes import ServedLakes

ACCESS_TOKEN_SECONDS = 3_600
_LONGEST_FORM = 16 * 1024
_MOST_FIELDS = 20


class OAuthRefusal(Exception):
    """Why no token is given, in the words of RFC 6749 §5.2."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status, self.error = status, error


def answer_refusal(_: Request[Any, Any, Any], refused: OAuthRefusal) -> Response[dict[str, str]]:
    """The refusal as clients of OAuth read it."""
    headers = {"Cache-Control": "no-store"}
    if refused.status == 401:
        headers["WWW-Authenticate"] = 'Basic realm="headgate"'
    return Response({"error": refused.error}, status_code=refused.status, headers=headers)


@post(
    "/oauth/token",
    status_code=200,
    exception_handlers={OAuthRefusal: answer_refusal},
    request_max_body_size=_LONGEST_FORM,
)
async def exchange_secret(request: Request[Any, Any, State], state: State) -> Response[dict[str, object]]:
    """A token for the secret of a client."""
    form = _form(await request.body())
    if form.get("grant_type") != "client_credentials":
        raise OAuthRefusal(400, "unsupported_grant_type" if "grant_type" in form else "invalid_request")
    client_id, secret = _client(request.headers.get("authorization"), form)
    made = await sync_to_thread(_exchanged, state.lakes, client_id, secret)
    seconds = (made.token.expires_ms - made.token.created_ms) // 1000
    return Response(
        {"access_token": made.secret, "token_type": "Bearer", "expires_in": seconds, "scope": "all-apis"},
        headers={"Cache-Control": "no-store"},
    )


def _exchanged(lakes: ServedLakes, client_id: str, secret: str) -> CreatedToken:
    for lake in lakes:
        try:
            return lake.catalog.tokens.exchange(client_id, secret, ttl_ms=ACCESS_TOKEN_SECONDS * 1000)
        except NotAuthenticated:
            continue
        except NotAllowed as exc:
            raise OAuthRefusal(429, "temporarily_unavailable") from exc
        except HeadgateError as exc:
            raise OAuthRefusal(503, "temporarily_unavailable") from exc
    raise OAuthRefusal(401, "invalid_client")


def _form(body: bytes) -> dict[str, str]:
    try:
        fields = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, strict_parsing=True, max_num_fields=_MOST_FIELDS
        )
    except ValueError as exc:
        raise OAuthRefusal(400, "invalid_request") from exc
    if len(dict(fields)) < len(fields):  # RFC 6749 §3.2: no parameter twice
        raise OAuthRefusal(400, "invalid_request")
    return dict(fields)


def _client(authorization: str | None, form: dict[str, str]) -> tuple[str, str]:
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return form.get("client_id", ""), form.get("client_secret", "")
    if "client_secret" in form:  # one way of authentication at a time
        raise OAuthRefusal(400, "invalid_request")
    try:
        client_id, colon, secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError) as exc:
        raise OAuthRefusal(401, "invalid_client") from exc
    if not colon:
        raise OAuthRefusal(401, "invalid_client")
    return unquote_plus(client_id), unquote_plus(secret)
