"""The routes of this API, in one router."""

from litestar import Router

from headgate.catalog.wire.lake_description import BASE_PATH
from headgate.server.error_answers import ANSWER_OWN
from headgate.server.routes.own.lake_routes import describe_lake, list_lakes
from headgate.server.routes.own.operation_routes import HANDLERS

ROUTER = Router(
    path=BASE_PATH, route_handlers=[list_lakes, describe_lake, *HANDLERS], exception_handlers=ANSWER_OWN
)
