"""The routes about callers: beside those of our own API, and where clients of Unity Catalog look."""

from litestar import Router

from headgate.server.error_answers import ANSWER_OWN, ANSWER_UNITY
from headgate.server.routes.access.client_credentials import exchange_secret
from headgate.server.routes.access.tokens import create_token, list_tokens, revoke_token, who_am_i

ROUTER = Router(
    path="/api/headgate/v1",
    route_handlers=[create_token, list_tokens, revoke_token, who_am_i],
    exception_handlers=ANSWER_OWN,
)
CONTROL_ROUTER = Router(
    path="/api/1.0/unity-control", route_handlers=[exchange_secret], exception_handlers=ANSWER_UNITY
)
