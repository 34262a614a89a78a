"""Giving row ids to files that are in the table already, and taking them away, while others write.

A backfill adds its files once more, with ids and the same rows. It must not bring back a file that
a winner removed, and whoever loses to one must not lose the ids it gave.
"""

from dataclasses import replace

import msgspec

from headgate.protocol.actions import Action, AddFile, RemoveFile
from headgate.protocol.conflicts.race import Race
from headgate.protocol.transaction.attempt import ROW_ID_BACKFILL, ROW_ID_UNBACKFILL, Attempt


def rebase_backfill(race: Race) -> Attempt:
    """Our attempt after a winner, if one of the two is about row ids of old files."""
    ours = race.ours
    if ours.operation == ROW_ID_BACKFILL:
        return _without_winner_files(race)
    if ours.operation == ROW_ID_UNBACKFILL:
        taken = tuple(_without_row_ids(add) for add in race.winner.adds)
        kept = _without_winner_files(race)
        return kept.with_actions((*kept.actions, *taken))
    if race.winner_operation == ROW_ID_BACKFILL:
        given = {add.path: add for add in race.winner.adds}
        return ours.with_actions(tuple(_with_row_ids(action, given) for action in ours.actions))
    return ours


def _without_winner_files(race: Race) -> Attempt:
    """Our attempt without the files that the winner added or removed: they are not our concern now."""
    gone = {add.path for add in race.winner.adds} | {remove.path for remove in race.winner.removes}
    actions = tuple(action for action in race.ours.actions if _path(action) not in gone)
    reads = race.ours.reads
    return replace(race.ours, actions=actions, reads=replace(reads, files=reads.files - gone))


def _path(action: Action) -> str | None:
    return action.path if isinstance(action, (AddFile, RemoveFile)) else None


def _with_row_ids(action: Action, given: dict[str, AddFile]) -> Action:
    if not isinstance(action, (AddFile, RemoveFile)) or action.path not in given:
        return action
    source = given[action.path]
    return msgspec.structs.replace(
        action,
        base_row_id=source.base_row_id,
        default_row_commit_version=source.default_row_commit_version,
    )


def _without_row_ids(add: AddFile) -> AddFile:
    return msgspec.structs.replace(add, base_row_id=None, default_row_commit_version=None, data_change=False)
