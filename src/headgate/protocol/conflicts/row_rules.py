"""May two commits that hide rows of one data file both stand? Row by row: if no row is hidden by both.

The loser's deletion vector is then united with the winner's. Only changes that say which rows
they are about, in ``TouchedRows``, are judged so; all others lose the whole file.

Two DELETEs of file ``a``, which has ten rows, began at version 7. The winner hid row 4, we hide row 1. Ours
then removes the file as the winner left it, and adds it with both rows hidden:

    winner, 8   {"remove":{"path":"a"}}                               {"add":{"path":"a", rows 4}}
    ours, 8     {"remove":{"path":"a"}}                               {"add":{"path":"a", rows 1}}
    ours, 9     {"remove":{"path":"a","deletionVector": rows 4}}      {"add":{"path":"a", rows 1 and 4}}

Had both hidden row 1, it would be ``ConcurrentDeleteDelete``: a row of a was changed or deleted by both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import msgspec
from pyroaring import FrozenBitMap64

from headgate.errors import ConcurrentDeleteDelete, ConcurrentDeleteRead
from headgate.protocol.actions import Action, AddFile, DeletionVector, RemoveFile
from headgate.protocol.conflicts.race import ConflictRule, Race
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.stats import record_counts
from headgate.protocol.transaction.attempt import Attempt
from headgate.protocol.transaction.row_access import TouchedRows

_NONE = DeletedRows.from_rows(())


def _both_hid_a_row(race: Race) -> str | None:
    work = race.ours.rows
    path = None if work is None else _overlap(race, work, work.changed)
    return None if path is None else f"a row of {path} was changed or deleted by both transactions"


def _winner_hid_a_row_we_read(race: Race) -> str | None:
    work = race.ours.rows
    path = None if work is None else _overlap(race, work, work.seen)
    return None if path is None else f"a row of {path} was changed or deleted after this transaction read it"


ROW_RULES: tuple[ConflictRule, ...] = (
    ConflictRule("row-vs-row", _both_hid_a_row, ConcurrentDeleteDelete),
    ConflictRule("row-vs-read", _winner_hid_a_row_we_read, ConcurrentDeleteRead),
)


def merge_deletion_vectors(race: Race) -> Attempt:
    """Our attempt with its vectors united with those of the winner, and which files that settles."""
    work = race.ours.rows
    if work is None:
        return race.ours
    actions, settled = race.ours.actions, set()
    for file in _winner_vectors(race, work):
        path = file.after.path
        if path in work.changed:
            actions = _replace_file(actions, file, work)
            settled.add(path)
        elif path not in _removed_paths(race):
            settled.add(path)
    return replace(race.ours, actions=actions, rows=replace(work, settled=frozenset(settled)))


@dataclass(frozen=True, slots=True)
class _WinnerVector:
    """A file that the winner kept and gave another deletion vector, which hides more."""

    after: AddFile
    now: DeletedRows
    """All rows that are hidden."""
    fresh: FrozenBitMap64
    """Those that the winner hid."""


def _winner_vectors(race: Race, work: TouchedRows) -> Iterator[_WinnerVector]:
    removes = {remove.path: remove for remove in race.winner.removes}
    for add in race.winner.adds:
        if add.path not in removes:
            continue
        was, now = (
            _deleted_rows(work, removes[add.path].deletion_vector),
            _deleted_rows(work, add.deletion_vector),
        )
        if not was.rows - now.rows:  # rows that come back are like rows that are added
            yield _WinnerVector(add, now, now.rows - was.rows)


def _overlap(race: Race, work: TouchedRows, ours: Mapping[str, DeletedRows]) -> str | None:
    """A file of which the winner hid one of these rows."""
    if not ours:
        return None
    files = (file for file in _winner_vectors(race, work) if file.after.path in ours)
    return next((file.after.path for file in files if file.fresh & ours[file.after.path].rows), None)


def _removed_paths(race: Race) -> frozenset[str]:
    return frozenset(remove.path for remove in race.ours.writes.removes)


def _deleted_rows(work: TouchedRows, vector: DeletionVector | None) -> DeletedRows:
    return _NONE if vector is None else work.access.hidden([vector])[0]


def _replace_file(
    actions: tuple[Action, ...], theirs: _WinnerVector, work: TouchedRows
) -> tuple[Action, ...]:
    """Our actions, with the file as the winner left it in place of the one we read."""
    path, rows = theirs.after.path, DeletedRows(theirs.now.rows | work.changed[theirs.after.path].rows)
    kept: list[Action] = []
    for action in actions:
        if isinstance(action, RemoveFile) and action.path == path:
            vector = theirs.after.deletion_vector
            kept.append(msgspec.structs.replace(action, deletion_vector=vector))
        elif isinstance(action, AddFile) and action.path == path:
            # A file of which no row is left is removed, and not added again.
            # Statistics may be wrong, so the file itself has the last word.
            is_said = rows.cardinality == record_counts.counts_of_file(action).num_records
            if not (is_said and rows.covers_file(work.access.counted(action))):
                vector = work.access.hide(rows)
                kept.append(msgspec.structs.replace(theirs.after, deletion_vector=vector, data_change=True))
        else:
            kept.append(action)
    return tuple(kept)
