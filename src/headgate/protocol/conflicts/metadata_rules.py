"""May a transaction still commit after a concurrent one won? The rules, as rows.

These rows are about all but files, which ``file_rules`` has; ``rebase`` has the order of both and of
what is mended in between. The first row that objects decides.
"""

from headgate.errors import ConcurrentTransaction, ConcurrentWrite, MetadataChanged, ProtocolChanged
from headgate.protocol import table_features
from headgate.protocol.actions import CommitInfo
from headgate.protocol.conflicts import joint_upgrade
from headgate.protocol.conflicts.race import ConflictRule, Race
from headgate.protocol.features import coordinated_commits, identity_columns
from headgate.protocol.transaction import metadata_diff
from headgate.protocol.transaction.attempt import ROW_ID_BACKFILL, ROW_ID_UNBACKFILL

# Rows that were written before such a feature came were never checked against what it demands.
FEATURES_CHECKED_ON_WRITE = frozenset(
    {"invariants", "checkConstraints", "generatedColumns", "identityColumns", "allowColumnDefaults"}
)


def _we_would_give_the_table_to_a_coordinator(race: Race) -> str | None:
    written = race.ours.writes.metadata
    if written is None or coordinated_commits.coordinator_of(race.ours.follows.metadata) is not None:
        return None
    named = coordinated_commits.coordinator_of(written)
    # The coordinator agreed to take the table at one version, and no other (K11).
    return f"{named.name!r} was registered as the coordinator of an older version" if named else None


def _both_changed_the_protocol_otherwise_than_by_independent_features(race: Race) -> str | None:
    if (
        race.winner.protocol is None
        or race.ours.writes.protocol is None
        or joint_upgrade.are_upgrades_compatible(race)
    ):
        return None
    return "both transactions change the protocol"


def _winner_removed_a_feature(race: Race) -> str | None:
    if race.winner.protocol is None:
        return None
    removed = table_features.writer_features(race.ours.follows.protocol) - table_features.writer_features(
        race.winner.protocol
    )
    return f"the table lost the feature {', '.join(sorted(removed))}" if removed else None


def _winner_added_a_feature_that_checks_rows(race: Race) -> str | None:
    if race.winner.protocol is None:
        return None
    added = table_features.writer_features(race.winner.protocol) - table_features.writer_features(
        race.ours.follows.protocol
    )
    if unchecked := sorted(added & FEATURES_CHECKED_ON_WRITE):
        return f"the table got the feature {', '.join(unchecked)}, which our rows were not checked against"
    return None


def _we_drop_a_feature_the_winner_may_have_used(race: Race) -> str | None:
    written = race.ours.writes.protocol
    if written is None or not (race.winner.adds or race.winner.metadata or race.winner.domains):
        return None
    dropped = (
        table_features.writer_features(race.ours.follows.protocol)
        - table_features.writer_features(written)
        - coordinated_commits.COMMIT_FEATURES
    )
    return f"what was written meanwhile may use {', '.join(sorted(dropped))}" if dropped else None


def _both_gave_the_same_identities(race: Race) -> str | None:
    ours, theirs, before = race.ours.writes.metadata, race.winner.metadata, race.ours.follows.metadata
    if ours is None or theirs is None:
        return None
    if identity_columns.changes_high_water_mark_only(
        before, ours
    ) and identity_columns.changes_high_water_mark_only(before, theirs):
        return "both transactions gave rows the next values of an identity column, so some would be equal"
    return None


def _both_changed_the_metadata(race: Race) -> str | None:
    if race.winner.metadata is not None and race.ours.writes.metadata is not None:
        return "both transactions change the schema or the properties"
    return None


def _winner_changed_the_metadata(race: Race) -> str | None:
    changed = race.winner.metadata
    before = race.ours.follows.metadata
    if changed is None or changed == before or _only_moved_identities(race.winner.info):
        return None
    what = metadata_diff.incompatible_change(before, changed, race.after.protocol)
    return f"{what} changed after this transaction began" if what else None


def _only_moved_identities(info: CommitInfo | None) -> bool:
    return identity_columns.is_tagged(info)


def _winner_moved_an_application(race: Race) -> str | None:
    written = {txn.app_id: txn.version for txn in race.ours.writes.txns}
    for txn in race.winner.txns:
        if txn.app_id in race.ours.reads.app_ids or txn.version >= written.get(txn.app_id, txn.version + 1):
            return f"application {txn.app_id!r} committed its transaction {txn.version} meanwhile"
    return None


def _winner_wrote_domains_we_looked_up(race: Race) -> str | None:
    if not race.ours.reads.domains:
        return None
    ours = {action.domain for action in race.ours.writes.domains}  # of these, both sides speak elsewhere
    for action in race.winner.domains:
        if action.domain not in ours and not action.is_system:
            return f"the metadata domain {action.domain!r} was written after this transaction looked it up"
    return None


def _winner_gave_the_row_ids_we_take_away(race: Race) -> str | None:
    if race.ours.operation == ROW_ID_UNBACKFILL and race.winner_operation == ROW_ID_BACKFILL:
        return "row ids were given to the files from which this transaction takes them"
    return None


PROTOCOL_RULES: tuple[ConflictRule, ...] = (
    ConflictRule("take-over", _we_would_give_the_table_to_a_coordinator, ConcurrentWrite),
    ConflictRule(
        "protocol-vs-protocol", _both_changed_the_protocol_otherwise_than_by_independent_features,
        ProtocolChanged,
    ),
    ConflictRule("feature-removed", _winner_removed_a_feature, ProtocolChanged),
    ConflictRule("feature-that-checks-rows", _winner_added_a_feature_that_checks_rows, ProtocolChanged),
    ConflictRule(
        "feature-drop", _we_drop_a_feature_the_winner_may_have_used, ProtocolChanged,
        code="DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL",
    ),
)  # fmt: skip
METADATA_RULES: tuple[ConflictRule, ...] = (
    ConflictRule("identity-values", _both_gave_the_same_identities, MetadataChanged),
    ConflictRule("metadata-vs-metadata", _both_changed_the_metadata, MetadataChanged),
    ConflictRule("metadata-changed", _winner_changed_the_metadata, MetadataChanged),
)
OTHER_RULES: tuple[ConflictRule, ...] = (
    ConflictRule("application-transaction", _winner_moved_an_application, ConcurrentTransaction),
    ConflictRule("domain-read", _winner_wrote_domains_we_looked_up, ConcurrentWrite),
    ConflictRule("unbackfill-vs-backfill", _winner_gave_the_row_ids_we_take_away, ConcurrentWrite),
)
