"""How does a table go for good? In three steps, each of which can be repeated after a crash.

First it is condemned: nobody can have it back. Then its files are deleted. Last goes what the catalog
knows of it, so that what a crash leaves behind is always known to somebody.
"""

from typing import Protocol

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableDisposal, TableEntry, TableName, never_dropped
from headgate.protocol.log import file_names
from headgate.storage import make_folder
from headgate.storage.locate import Locate
from headgate.storage.store import Store


class PurgeCatalog(Protocol):
    """A catalog as far as a purge needs it."""

    @property
    def disposal(self) -> TableDisposal: ...

    def dropped(self, schema: str | None = None) -> tuple[TableEntry, ...]: ...

    def check_may_purge(self, table_id: TableId) -> None: ...


def purge(catalog: PurgeCatalog, name: TableName, table_id: str | None, *, files: Locate | None) -> TableId:
    """Get rid of the table of that name that was dropped last, or of the one with that id; its id.

    With ``files``, which knows where they are, these go too; what an earlier call left of that is finished.
    """
    wanted = TableName(name.schema.lower(), name.table.lower())
    dropped = [entry.table_id for entry in catalog.dropped(name.schema) if entry.name == wanted]
    unfinished = () if files is None else catalog.disposal.condemned(wanted)
    found = [each for each in (*dropped, *unfinished) if table_id in (None, each)]
    if not found:
        raise never_dropped(name if table_id is None else table_id)
    catalog.check_may_purge(found[0])
    if files is None:
        catalog.disposal.forget_keeping_files(found[0])
        return found[0]
    condemned = catalog.disposal.condemn(found[0])
    delete_table_files(files(condemned.location))
    catalog.disposal.forget(condemned.table_id)
    return found[0]


def delete_table_files(files: Store) -> int:
    """Delete everything below a table's location; how many files.

    The log goes last, its beginning last of all: until then, whoever finds the folder sees what it was.
    """
    found = [meta.path for meta in files.list_from("")]
    log = [path for path in found if path.startswith(file_names.LOG_FOLDER)]
    for path in (*(path for path in found if not path.startswith(file_names.LOG_FOLDER)), *reversed(log)):
        files.delete(path)
    make_folder.delete_empty_folders(files)
    return len(found)
