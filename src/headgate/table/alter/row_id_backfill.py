"""Giving row ids to the files that are in a table already, and taking them away again.

Done in commits that add the same files once more, while others go on writing.
"""

from itertools import islice

import msgspec

from headgate.protocol.transaction.attempt import ROW_ID_BACKFILL, ROW_ID_UNBACKFILL, ReadSet
from headgate.table.alter import full_file_actions
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation

_MOST_FILES = 10_000
"""How many files one commit adds anew."""


def backfill_row_ids(table: OpenedTable) -> Snapshot:
    """Give ids to the rows of all files that have none; the table when that is done.

    The table must have the feature already, so that nobody adds files without ids meanwhile.
    """
    return _each_batch(table, ROW_ID_BACKFILL, having=False)


def remove_row_ids(table: OpenedTable) -> Snapshot:
    """Take the ids from all files; the table when that is done. Row tracking must be suspended."""
    return _each_batch(table, ROW_ID_UNBACKFILL, having=True)


def has_live_files(base: Snapshot, *, having: bool = True) -> bool:
    """Whether a live file has row ids, or, if not ``having``, has none."""
    ids = base.files.without_stats["base_row_id"]
    return bool(ids.null_count != (len(ids) if having else 0))


def _each_batch(table: OpenedTable, operation: str, *, having: bool) -> Snapshot:
    number = 0
    while True:
        base = table.snapshot()
        if not has_live_files(base, having=having):
            return base
        bare = tuple(
            msgspec.structs.replace(add, base_row_id=None, default_row_commit_version=None, data_change=False)
            for add in islice(full_file_actions.adds_by_row_ids(table, base, with_ids=having), _MOST_FILES)
        )
        change = Change(
            Operation(operation, {"batchId": str(number)}, changes_data=False),
            bare,
            reads=ReadSet(files=frozenset(add.path for add in bare)),
            skip_if_empty=True,
        )
        table.commit(change, base=base)
        number += 1
