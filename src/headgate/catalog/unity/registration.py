"""Is the table made, dropped, renamed? Asked again by name where a server did not answer.

Whoever made a table knows it by the id that was reserved for it. So after a lost answer the table of that
name is looked at: if it has this id the request was heard, however often it was sent.
"""

from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName
from headgate.catalog.unity.http_calls import NoAnswer, UnityAnswer
from headgate.catalog.unity.refusals import refusal
from headgate.catalog.unity.table_api import TableApi
from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    InvalidRequest,
    ObjectNotFound,
    TableExists,
    TableNotFound,
)
from headgate.protocol.actions import Commit, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.store import Store

_ATTEMPTS = 3


def register(api: TableApi, files: Store, staging: StagingTable, name: TableName) -> TableEntry:
    """Name a staged table; ``TableExists`` if another has the name, ``CommitUnknown`` if nobody can say."""
    first = _first_commit(files)
    reason = ""
    for _ in range(_ATTEMPTS):
        answered = api.create(staging, name, first)
        if isinstance(answered, UnityAnswer) and answered.is_success:
            return api.load(name).entry
        # Whatever was refused may be what an earlier request, unheard, has already done.
        if (found := _find(api, name)) is not None:
            if found.table_id == staging.table_id:
                return found
            raise TableExists(f"there is a table {name} already: choose another name", name=str(name))
        if isinstance(answered, UnityAnswer) and not answered.is_failure:
            raise refusal(answered, f"table {name}")
        reason = answered.reason if isinstance(answered, NoAnswer) else f"status {answered.status}"
    raise CommitUnknown(
        f"the server was asked {_ATTEMPTS} times to name the new table {name}, and whether it will is "
        f"unknown ({reason}): look for the table in a moment, before making it again",
        name=str(name),
    )


def _first_commit(files: Store) -> Commit:
    path = file_names.published_path(Version(0))
    try:
        first = codec.decode(Version(0), files.read(path))
    except ObjectNotFound as exc:
        raise InvalidRequest(
            f"a staged table has a version 0, and {path} is not there: write it first"
        ) from exc
    if first.metadata is None or first.protocol is None:
        raise InvalidRequest(
            f"{path} is not the first version of a table: it has no metadata, or no protocol"
        )
    return first


def _find(api: TableApi, name: TableName) -> TableEntry | None:
    try:
        return api.load(name).entry
    except TableNotFound:
        return None


def require_gone(api: TableApi, entry: TableEntry) -> None:
    """After a drop that was not answered: see that the table is gone."""
    found = _find(api, entry.name)
    if found is not None and found.table_id == entry.table_id:
        raise CatalogUnavailable(f"the server did not answer, and {entry.name} is still there: try again")


def require_renamed(api: TableApi, entry: TableEntry, to: TableName) -> None:
    """After a renaming that was not answered: see that the table has its new name."""
    found = _find(api, to)
    if found is None or found.table_id != entry.table_id:
        raise CatalogUnavailable(
            f"the server did not answer, and {entry.name} is not {to} yet: try again in a moment"
        )
