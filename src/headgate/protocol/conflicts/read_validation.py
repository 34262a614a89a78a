"""Is what a transaction read still true after later commits? For tables that it read and does not write.

The same rules as for whoever writes, without what only concerns writers.
"""

from collections.abc import Iterable
from dataclasses import replace

from headgate.protocol.actions import Commit, EpochMillis
from headgate.protocol.conflicts.file_rules import FILE_RULES
from headgate.protocol.conflicts.metadata_rules import METADATA_RULES, OTHER_RULES
from headgate.protocol.conflicts.race import ConflictRule, changed_places, race_against
from headgate.protocol.log.replay import State
from headgate.protocol.transaction.attempt import Attempt, ReadSet

RULES: tuple[ConflictRule, ...] = (*METADATA_RULES, *OTHER_RULES, *FILE_RULES)


def read_only_attempt(state: State, reads: ReadSet) -> Attempt:
    """An attempt that read this much of a table at a version, and writes nothing."""
    return Attempt(
        read=state,
        follows=state,
        operation="READ",
        reads=reads,
        actions=(),
        timestamp=EpochMillis(0),
        is_strict=True,
    )


def validate_reads(attempt: Attempt, winners: Iterable[Commit]) -> Attempt:
    """The same reader behind these commits; raises the conflict if one of them changed what it read."""
    mine = changed_places(attempt)
    for winner in winners:
        race = race_against(attempt, winner, mine)
        for rule in RULES:
            rule.apply(race)
        attempt = replace(attempt, follows=race.after)
    return attempt
