"""How are the rows of a table written into other files? By a port, because rows are not of this layer."""

from dataclasses import dataclass
from typing import Protocol

from headgate.table.opened_table import OpenedTable


@dataclass(frozen=True, slots=True)
class RearrangeResult:
    """The version that has the new files, and how many came and went; none if there was nothing to do."""

    version: int
    added: int
    removed: int


class Rearranger(Protocol):
    """Writes rows of a table into other files, none of them changed, and commits that.

    It asks the table's guard (``OpenedTable.check_permitted``) before it begins and once more before it
    commits, and commits nothing after a refusal. If somebody else changed the same files meanwhile:
    ``ConflictError``, and the table is as they left it. It can be interrupted anywhere: then nothing is
    committed, or everything.
    """

    def optimize(self, table: OpenedTable) -> RearrangeResult:
        """Put small files together; lay a clustered table out by its columns, as far as it is not yet."""
        ...

    def purge(self, table: OpenedTable) -> RearrangeResult:
        """Write every file that has deleted rows anew without them."""
        ...
