"""What Unity Catalog lacks: several tables changed by one request, and read at one moment."""

from typing import Annotated

from litestar import post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import HeaderParameter, JSONBody, SkipValidation

from headgate.catalog.wire.delta_api import BatchLoadRequest, TablesAnswer, TransactionRequest
from headgate.server.routes.delta import transactions
from headgate.server.routes.delta.session import DeltaSession
from headgate.server.routes.delta.table_routes import AcceptInline

IdempotencyKey = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        description="By which a repeated request is known again, for ever.",
        max_length=255,
    ),
]


@post("/catalogs/{catalog:str}/transactions/commit", status_code=200, sync_to_thread=True)
def commit_transaction(
    session: NamedDependency[SkipValidation[DeltaSession]],
    data: JSONBody[TransactionRequest],
    idempotency_key: IdempotencyKey = None,
    inline_commits: AcceptInline = False,
) -> TablesAnswer:
    """Ratify commits to several tables, or none of them."""
    _check_extended(session)
    return transactions.commit_transaction(session, data, idempotency_key, inline=inline_commits)


@post("/catalogs/{catalog:str}/tables/load", status_code=200, sync_to_thread=True)
def load_tables(
    session: NamedDependency[SkipValidation[DeltaSession]],
    data: JSONBody[BatchLoadRequest],
    inline_commits: AcceptInline = False,
) -> TablesAnswer:
    """Several tables as they are at one moment."""
    _check_extended(session)
    return transactions.load_tables(session, data, inline=inline_commits)


def _check_extended(session: DeltaSession) -> None:
    if session.settings.strict:
        raise NotFoundException("this server has no extensions of the Delta API")
