"""The routes of this API, in one router."""

from litestar import Router
from litestar.di import Provide

from headgate.server.error_answers import ANSWER_DELTA
from headgate.server.routes.delta import config_route, credential_routes, table_routes, transaction_routes
from headgate.server.routes.delta.conflicts import ANSWER_CONFLICTS
from headgate.server.routes.delta.session import provide_session

_OF_A_LAKE = Router(
    path="/",
    route_handlers=[
        table_routes.create_staging_table,
        table_routes.create_table,
        table_routes.load_table,
        table_routes.table_exists,
        table_routes.update_table,
        table_routes.delete_table,
        table_routes.rename_table,
        table_routes.report_metrics,
        credential_routes.table_credentials,
        transaction_routes.commit_transaction,
        transaction_routes.load_tables,
    ],
    dependencies={"session": Provide(provide_session, sync_to_thread=True)},
)

ROUTER = Router(
    path="/api/2.1/unity-catalog/delta/v1",
    route_handlers=[config_route.get_config, credential_routes.staging_credentials, _OF_A_LAKE],
    exception_handlers={**ANSWER_DELTA, **ANSWER_CONFLICTS},
)
