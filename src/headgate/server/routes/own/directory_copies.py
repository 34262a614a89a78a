"""Who writes the copy of the directory, if clients are elsewhere? The server, after what it was asked for."""

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableDisposal
from headgate.catalog.ports.directory_copy import DirectoryCopying
from headgate.catalog.wire.operations import CopyDue
from headgate.server.routes.own.authority import OperationRequest


def about_to_be_forgotten(request: OperationRequest) -> tuple[TableId, ...]:
    """The table that is forgotten if this succeeds.

    To forget what is not there, or not one's own, is no error. But it must not be written down either: a
    recovery would take a table for purged that only the database has lost.
    """
    if request.operation.copy is not CopyDue.FORGOTTEN:
        return ()
    table_id: TableId = request.arguments["table_id"]
    if request.operation.method is TableDisposal.forget_keeping_files:
        return (table_id,)
    condemned = {found.table_id for found in request.catalog.disposal.abandoned()}
    return (table_id,) if table_id in condemned else ()


def keep_copy(copies: DirectoryCopying, due: CopyDue, forgotten: tuple[TableId, ...]) -> None:
    """Have the copy tell of what happened; to fail there is no failure."""
    match due:
        case CopyDue.NO:
            pass
        case CopyDue.IN_TIME:
            copies.write_if_due()
        case CopyDue.NOW:
            copies.write_if_changed()
        case CopyDue.FORGOTTEN:
            copies.write_now(forgotten=forgotten)
