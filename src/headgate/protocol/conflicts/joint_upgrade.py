"""Two commits upgraded the protocol at once: do both upgrades stand?

They do if each only adds features from ``INDEPENDENT_FEATURES``, as two writers do who set the first metadata
domains of a table. The later one then upgrades the protocol that the winner left, or has nothing
to upgrade any more:

    before   appendOnly, invariants
    winner   appendOnly, invariants, domainMetadata
    ours     appendOnly, invariants, domainMetadata, clustering
    is now   ours if it adds clustering; no protocol at all if it added domainMetadata alone
"""

from headgate.protocol import protocol_upgrade, table_features
from headgate.protocol.actions import Protocol
from headgate.protocol.conflicts.race import Race
from headgate.protocol.transaction.attempt import Attempt

INDEPENDENT_FEATURES = frozenset(
    {"appendOnly", "changeDataFeed", "clustering", "domainMetadata", "inCommitTimestamp"}
)
"""Features of writers that, merely named, ask nothing of a commit: a property or a domain has to, and about
those two commits have rules of their own."""


def adds_independent_features_only(before: Protocol, after: Protocol) -> bool:
    """Whether ``after`` is ``before`` with independent features more, or the same."""
    named, wanted = table_features.writer_features(before), table_features.writer_features(after)
    readers_stay = before.min_reader_version == after.min_reader_version
    return readers_stay and named <= wanted and wanted - named <= INDEPENDENT_FEATURES


def are_upgrades_compatible(race: Race) -> bool:
    """Whether both upgrades of a race, in which both sides write the protocol, can stand."""
    if race.winner.metadata is not None and race.ours.writes.metadata is not None:
        return False  # which conflicts anyway, and Delta names the protocol first
    before, after = race.ours.follows.protocol, race.after.protocol
    return adds_independent_features_only(before, after) and adds_independent_features_only(
        before, race.ours.protocol
    )


def upgrade_winner_protocol(race: Race) -> Attempt:
    """Our attempt, which upgrades the winner's protocol in place of the one it knew, if that is needed."""
    ours, written = race.ours, race.ours.writes.protocol
    if race.winner.protocol is None or written is None:
        return ours
    added = table_features.writer_features(written) - table_features.writer_features(ours.follows.protocol)
    upgraded = protocol_upgrade.with_features(race.after.protocol, added)
    others = tuple(action for action in ours.actions if not isinstance(action, Protocol))
    return ours.with_actions(others if upgraded is race.after.protocol else (upgraded, *others))
