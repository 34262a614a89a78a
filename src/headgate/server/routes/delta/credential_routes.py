"""Credentials for the files of a table, or of a place that is reserved for one."""

from typing import Annotated

from litestar import get
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter, SkipValidation

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import StagingTable
from headgate.catalog.wire.delta_api import CredentialsAnswer
from headgate.errors import TableNotFound
from headgate.server.caller import Caller
from headgate.server.credentials import parse_operation, to_wire, vend_for_staging, vend_for_table
from headgate.server.lakes import ServedLakes
from headgate.server.routes.delta.session import DeltaSession, open_session, table_name
from headgate.server.routes.delta.table_routes import TABLE


@get(TABLE + "/credentials", status_code=200, sync_to_thread=True)
def table_credentials(
    session: NamedDependency[SkipValidation[DeltaSession]],
    schema: FromPath[str],
    table: FromPath[str],
    operation: Annotated[str, QueryParameter(name="operation", description="READ or READ_WRITE.")],
) -> CredentialsAnswer:
    """Credentials for the files of the table."""
    entry = session.catalog.resolve(table_name(schema, table))
    vended = vend_for_table(
        session.credentials, session.catalog, entry.table_id, entry.location, parse_operation(operation)
    )
    return CredentialsAnswer(storage_credentials=(to_wire(vended),))


@get("/staging-tables/{table_id:str}/credentials", status_code=200, sync_to_thread=True)
def staging_credentials(
    table_id: FromPath[str],
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    state: State,
) -> CredentialsAnswer:
    """Credentials for a place, for whoever reserved it."""
    for lake in lakes:
        session = open_session(lake, caller, state)
        if (staging := _staging(session, table_id)) is not None:
            vended = vend_for_staging(
                session.credentials, session.catalog, staging.table_id, staging.location
            )
            return CredentialsAnswer(storage_credentials=tuple(map(to_wire, vended)))
    raise TableNotFound(f"nothing is staged as {table_id}, or its time is over", name=table_id)


def _staging(session: DeltaSession, table_id: str) -> StagingTable | None:
    try:
        return session.catalog.find_staging(TableId(table_id.lower()))
    except TableNotFound:
        return None
