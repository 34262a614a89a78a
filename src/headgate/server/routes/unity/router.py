"""The routes of the older Unity Catalog API, in one router."""

from litestar import Router

from headgate.server.error_answers import ANSWER_UNITY
from headgate.server.routes.unity import (
    catalogs,
    commits,
    credentials,
    permissions,
    schemas,
    staging_tables,
    tables,
)

ROUTER = Router(
    path="/api/2.1/unity-catalog",
    route_handlers=[
        catalogs.list_catalogs,
        catalogs.get_catalog,
        catalogs.create_catalog,
        catalogs.metastore_summary,
        schemas.list_schemas,
        schemas.create_schema,
        schemas.get_schema,
        schemas.update_schema,
        schemas.delete_schema,
        tables.list_tables,
        tables.get_table,
        tables.create_table,
        tables.delete_table,
        staging_tables.create_staging_table,
        commits.propose_commit,
        commits.list_commits,
        credentials.table_credentials,
        credentials.path_credentials,
        permissions.get_permissions,
        permissions.update_permissions,
    ],
    exception_handlers=ANSWER_UNITY,
)
