"""What a transaction becomes when it is prepared, and when it must follow a winner it did not see.

Both end in the same checks, so nothing is proposed that would break the table.

An append that read version 7 is prepared as version 8 at 5000 ms, and loses 8 and 9 to two other appends,
the last one stamped 6001. It becomes version 10, with the same files and a later timestamp:

    prepared   target 8    {"commitInfo":{"inCommitTimestamp":5000,…}}  {"add":{"path":"ours.parquet",…}}
    rebased    target 10   {"commitInfo":{"inCommitTimestamp":6002,…}}  {"add":{"path":"ours.parquet",…}}

Had 9 added a column, a rule among ``STEPS`` would have raised ``MetadataChanged``, and nothing be proposed.
"""

from collections.abc import Iterable
from dataclasses import replace

import msgspec

from headgate.errors import DomainConflict, InvalidRequest
from headgate.protocol import property_values, table_features
from headgate.protocol.actions import (
    Action,
    AppTransaction,
    Commit,
    DomainMetadata,
    EpochMillis,
    Metadata,
    Protocol,
    Version,
)
from headgate.protocol.conflicts import joint_upgrade, preconditions, row_id_backfill, row_rules
from headgate.protocol.conflicts.file_rules import FILE_RULES
from headgate.protocol.conflicts.metadata_rules import METADATA_RULES, OTHER_RULES, PROTOCOL_RULES
from headgate.protocol.conflicts.race import Fix, Race, Step, changed_places, race_against
from headgate.protocol.conflicts.row_rules import ROW_RULES
from headgate.protocol.domains import lifecycle, rules
from headgate.protocol.features import identity_columns, row_tracking
from headgate.protocol.log import in_commit_timestamps, timestamps
from headgate.protocol.log.replay import State
from headgate.protocol.log.timestamps import VersionTimestamp
from headgate.protocol.schema import type_widening
from headgate.protocol.transaction import metadata_diff
from headgate.protocol.transaction.attempt import Attempt

ROW_IDS_NOT_PRESERVED = {"delta.rowTracking.preserved": "false"}
_REPLACES = (
    "REPLACE TABLE", "CREATE OR REPLACE TABLE", "REPLACE TABLE AS SELECT",
    "CREATE OR REPLACE TABLE AS SELECT",
)  # fmt: skip


def prepare(attempt: Attempt, *, file_time: EpochMillis | None = None) -> Attempt:
    """A new attempt with everything a writer must add, checked.

    ``file_time`` is when the version before it was written, which the commit that switches
    in-commit timestamps on must come after (I8).
    """
    _check_writable(attempt.follows)
    if attempt.writes.protocol is not None or attempt.writes.metadata is not None:
        table_features.check_writable(attempt.protocol, attempt.metadata)
    if attempt.has_in_commit_timestamp:  # whoever switches them off may
        _check_enablement(attempt.follows.metadata)
    written = attempt.writes.metadata
    if written is not None and identity_columns.changes_high_water_mark_only(
        attempt.follows.metadata, written
    ):
        attempt = replace(attempt, tags={**attempt.tags, identity_columns.TAG: "true"})
    if attempt.writes.txns:
        attempt = attempt.with_actions(_without_repeated_txns(attempt.actions))
    _refuse_high_water_marks(attempt.writes.domains)
    attempt = _with_row_ids(attempt)
    previous = file_time if attempt.enables_in_commit_timestamps else None
    if in_commit_timestamps.has_in_commit_timestamps(attempt.follows.metadata):
        previous = timestamps.required_in_commit_timestamp(attempt.follows.version, attempt.follows.info)
    attempt = _with_timestamp(attempt, previous, follows=attempt.follows)
    preconditions.check_preconditions(attempt)
    return attempt


def stamped_now(attempt: Attempt, now: EpochMillis) -> Attempt:
    """A prepared attempt that writes no metadata, proposed a while after it was prepared."""
    if attempt.has_in_commit_timestamp:
        follows = attempt.follows
        previous = timestamps.required_in_commit_timestamp(follows.version, follows.info)
        now = timestamps.next_in_commit_timestamp(now, previous)
    return replace(attempt, timestamp=now)


def rebase(attempt: Attempt, winners: Iterable[Commit]) -> Attempt:
    """The same change as the version after ``winners``; raises the conflict that forbids it."""
    mine = changed_places(attempt)
    for winner in winners:
        race = race_against(attempt, winner, mine)
        for step in STEPS:
            race = race.with_ours(step.apply(race))
        attempt = race.ours
    preconditions.check_preconditions(attempt)
    return attempt


def _understand_the_protocol(race: Race) -> Attempt:
    if race.winner.protocol is not None:
        table_features.check_writable(race.after.protocol, race.after.metadata)
    return race.ours


def _adopt_the_metadata(race: Race) -> Attempt:
    if race.winner.metadata is None:
        return race.ours
    table_features.check_writable(race.after.protocol, race.after.metadata)
    _check_enablement(race.after.metadata)
    if metadata_diff.enables_row_tracking(race.ours.follows.metadata, race.winner.metadata):
        return replace(race.ours, tags={**race.ours.tags, **ROW_IDS_NOT_PRESERVED})
    return race.ours


def _merge_domains(race: Race) -> Attempt:
    ours, written = race.ours, race.ours.writes.domains
    if not race.winner.domains or not race.after.protocol.has(rules.DOMAIN_METADATA):
        return ours
    if not written and ours.operation not in _REPLACES:
        return ours
    try:
        merged = rules.rebase_domains(ours.handlers(), ours.follows.domains, race.winner.domains, written)
    except DomainConflict as exc:
        raise DomainConflict(
            f"{exc.message}; version {race.winner.version} went to {race.winner_operation}, "
            f"{ours.operation} began at version {ours.read.version}",
            code=exc.code, rule="domains", winner=race.winner.version, operation=ours.operation,
            winner_operation=race.winner_operation, **exc.fields,
        ) from exc  # fmt: skip
    if ours.operation in _REPLACES:
        merged = lifecycle.domains_after_replace(race.after.domains, merged)
    others = (action for action in ours.actions if not isinstance(action, DomainMetadata))
    return ours.with_actions((*others, *merged))


def _reassign_row_ids(race: Race) -> Attempt:
    ours = race.ours
    if not row_tracking.is_supported(race.after.protocol):
        return ours
    read_mark = row_tracking.high_water_mark(ours.follows)
    theirs = {add.path: add for add in race.winner.adds if add.base_row_id is not None}
    given = row_tracking.assign_row_ids(
        ours, race.after, read_mark=read_mark, lost=race.winner.version, theirs=theirs
    )
    return ours.with_actions(given)


def _renumber_type_changes(race: Race) -> Attempt:
    metadata = race.ours.writes.metadata
    if metadata is None or not race.ours.protocol.has(type_widening.PREVIEW):
        return race.ours
    moved = type_widening.renumber_type_changes(
        metadata, race.winner.version, Version(race.winner.version + 1)
    )
    return race.ours.with_metadata(moved)


def _protect_checkpoints_further(race: Race) -> Attempt:
    metadata = race.ours.writes.metadata
    if metadata is None or metadata.configuration.get(property_values.PROTECTED_BEFORE) != str(
        race.winner.version
    ):
        return race.ours
    configuration = {**metadata.configuration, property_values.PROTECTED_BEFORE: str(race.winner.version + 1)}
    return race.ours.with_metadata(msgspec.structs.replace(metadata, configuration=configuration))


def _follow_the_winner(race: Race) -> Attempt:
    previous = race.winner.modified_ms
    if in_commit_timestamps.has_in_commit_timestamps(race.after.metadata):
        previous = timestamps.required_in_commit_timestamp(race.winner.version, race.winner.info)
    return _with_timestamp(race.ours, previous, follows=race.after)


STEPS: tuple[Step, ...] = (
    Fix("protocol", _understand_the_protocol, "adopt the protocol, refused if Headgate cannot write it"),
    *PROTOCOL_RULES,
    Fix(
        "upgrade",
        joint_upgrade.upgrade_winner_protocol,
        "add our features to the winner's protocol, unless it has them all",
    ),
    *METADATA_RULES,
    Fix("metadata", _adopt_the_metadata, "adopt the metadata, refused if Headgate cannot write the table"),
    Fix(
        "domains", _merge_domains, "ask the handlers of domains that both wrote, refused where there is none"
    ),
    *OTHER_RULES,
    Fix(
        "backfill",
        row_id_backfill.rebase_backfill,
        "give old files the ids of a backfill, leave files to those who touched them",
    ),
    Fix("row-ids", _reassign_row_ids, "give new rows other ids and row commit versions"),
    Fix(
        "type-changes", _renumber_type_changes, "move the version of type changes (preview of type widening)"
    ),
    Fix("checkpoint-protection", _protect_checkpoints_further, "move the version checkpoints protect"),
    *ROW_RULES,
    Fix(
        "rows",
        row_rules.merge_deletion_vectors,
        "unite deletion vectors that hide different rows of one file",
    ),
    *FILE_RULES,
    Fix(
        "follow", _follow_the_winner, "take the next version, a later in-commit timestamp, and say since when"
    ),
)
"""Everything that happens to our attempt for each winner, in this order; the last step moves it behind."""


_WRITABLE: dict[str, tuple[Protocol, Metadata]] = {}
_MOST_REMEMBERED = 100


def _check_writable(state: State) -> None:
    """Asked once for the same protocol and metadata, so that one who appends all day pays for it once."""
    asked = state.protocol, state.metadata
    known = _WRITABLE.get(state.metadata.id)
    if known is not None and known[0] is asked[0] and known[1] is asked[1]:
        return
    table_features.check_writable(*asked)
    if len(_WRITABLE) >= _MOST_REMEMBERED:
        _WRITABLE.clear()
    _WRITABLE[state.metadata.id] = asked


def _check_enablement(metadata: Metadata) -> None:
    """``CorruptLog`` unless a table with in-commit timestamps says since when, or from its beginning on."""
    if in_commit_timestamps.has_in_commit_timestamps(metadata):
        timestamps.enablement(metadata.configuration)


def _with_timestamp(attempt: Attempt, previous: EpochMillis | None, *, follows: State) -> Attempt:
    """The attempt behind ``follows``, stamped after ``previous``, its metadata true about since when."""
    written, timestamp = attempt.writes.metadata, attempt.timestamp
    if in_commit_timestamps.has_in_commit_timestamps(written or follows.metadata):
        timestamp = timestamps.next_in_commit_timestamp(timestamp, previous)
    if follows is not attempt.follows or timestamp != attempt.timestamp:
        attempt = replace(attempt, follows=follows, timestamp=timestamp)
    if written is None:
        return attempt
    stamp = VersionTimestamp(attempt.target, timestamp)
    return attempt.with_metadata(in_commit_timestamps.with_enablement(follows.metadata, written, stamp))


def _with_row_ids(attempt: Attempt) -> Attempt:
    if not row_tracking.is_supported(attempt.protocol):
        return attempt
    row_tracking.check_not_suspended(attempt.metadata)
    read_mark = row_tracking.high_water_mark(attempt.follows)
    return attempt.with_actions(
        row_tracking.assign_row_ids(attempt, attempt.follows, read_mark=read_mark, lost=None, theirs={})
    )


def _without_repeated_txns(actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """The actions without exact repetitions of an application's transaction (S241)."""
    seen: set[tuple[str, int]] = set()
    kept = []
    for action in actions:
        if isinstance(action, AppTransaction):
            if (action.app_id, action.version) in seen:
                continue
            seen.add((action.app_id, action.version))
        kept.append(action)
    return tuple(kept)


def _refuse_high_water_marks(written: tuple[DomainMetadata, ...]) -> None:
    if any(action.domain == rules.ROW_TRACKING_DOMAIN and not action.removed for action in written):
        raise InvalidRequest(
            f"the metadata domain {rules.ROW_TRACKING_DOMAIN} is written by the client alone, when it gives "
            "row ids: leave it out",
            code="DELTA_DOMAIN_METADATA_NOT_SUPPORTED",
        )
