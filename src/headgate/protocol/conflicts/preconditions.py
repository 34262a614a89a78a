"""What must be true of a commit before it is proposed, whatever its writer thought: the checks, as rows.

They run before the first attempt and again after every rebase, which may have changed the actions.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headgate.errors import InvalidRequest
from headgate.protocol import file_key, property_values
from headgate.protocol.actions import AddFile, AppTransaction, Metadata, Protocol
from headgate.protocol.domains import rules
from headgate.protocol.features import coordinated_commits
from headgate.protocol.file_key import FileKey
from headgate.protocol.metadata import stored_expressions
from headgate.protocol.schema import partitioning
from headgate.protocol.stats import record_counts
from headgate.protocol.transaction.attempt import CLONE, RESTORE, Attempt
from headgate.protocol.transaction.isolation import IsolationLevel


@dataclass(frozen=True, slots=True)
class Precondition:
    """One row: what is wrong, if it is, and Delta's code for it."""

    name: str
    breach: Callable[[Attempt], str | None]
    code: str


def check_preconditions(attempt: Attempt) -> None:
    """Refuse a commit that breaks a rule of the log."""
    for row in PRECONDITIONS:
        if reason := row.breach(attempt):
            raise InvalidRequest(
                f"{attempt.operation} cannot be committed: {reason}; nothing was committed",
                code=row.code, check=row.name,
            )  # fmt: skip
    if attempt.writes.domains:
        rules.check_domain_actions(attempt.protocol, attempt.writes.domains)
    for action in attempt.writes.domains:
        if not action.removed:
            rules.check_domain_keys(action.domain, action.configuration)


def _protocol_or_metadata_more_than_once(attempt: Attempt) -> str | None:
    if attempt.writes.protocol is None and attempt.writes.metadata is None:
        return None
    kinds = list(map(type, attempt.actions))
    for kind, name in ((Protocol, "protocol"), (Metadata, "metadata")):
        if kinds.count(kind) > 1:
            return f"it has {kinds.count(kind)} {name} actions, of which only one can be meant"
    return None


def _a_file_more_than_once(attempt: Attempt) -> str | None:
    adds, removes = attempt.writes.adds, attempt.writes.removes
    if len(adds) + len(removes) < 2:
        return None
    added, removed = (
        [file_key.file_key(add) for add in adds],
        [file_key.file_key(remove) for remove in removes],
    )
    for keys, done in ((added, "added"), (removed, "removed")):
        if len(set(keys)) < len(keys):
            return f"{_first_duplicate(keys)} is {done} twice"
    paths = [(path, None) for path, _ in added]
    if len(set(paths)) < len(paths):
        return (
            f"{_first_duplicate(paths)} is added with two deletion vectors, so its rows would be there twice"
        )
    if both := set(added) & set(removed):
        return f"{min(path for path, _ in both)} is both added and removed, with the same deletion vector"
    return None


def _partition_values_of_other_columns(attempt: Attempt) -> str | None:
    if not attempt.writes.adds:
        return None
    expected = partitioning.partitioning_of(attempt.metadata)
    for add in attempt.writes.adds:
        if expected.has_wrong_columns(add.partition_values):
            return (
                f"{add.path} has values for the partition columns {sorted(add.partition_values)}, and the "
                f"table is partitioned by {sorted(expected.types)}"
            )
    return None


def _partition_values_of_other_types(attempt: Attempt) -> str | None:
    if not attempt.metadata.partition_columns:
        return None
    expected = partitioning.partitioning_of(attempt.metadata)
    for add in attempt.writes.adds:
        if wrong := expected.unreadable_value(add.partition_values):
            return f"{add.path} has the partition value {wrong}, so no reader could tell what it is"
    return None


def _rows_removed_from_an_append_only_table(attempt: Attempt) -> str | None:
    if not property_values.flag(attempt.follows.metadata, property_values.APPEND_ONLY):
        return None
    for remove in attempt.writes.removes:
        if remove.data_change:
            return f"it removes rows ({remove.path}) of a table whose property delta.appendOnly is true"
    return None


def _an_application_at_two_versions(attempt: Attempt) -> str | None:
    written: dict[str, AppTransaction] = {}
    for txn in attempt.writes.txns:
        first = written.setdefault(txn.app_id, txn)
        if first is not txn:
            return f"it has transactions {first.version} and {txn.version} of the application {txn.app_id!r}"
    return None


def _vectors_of_unknown_files(attempt: Attempt) -> str | None:
    for add in _adds_with_vectors(attempt):
        if record_counts.counts_of_file(add).num_records is None:
            return f"{add.path} has a deletion vector and no numRecords in its statistics"
    return None


def _new_vectors_without_leave(attempt: Attempt) -> str | None:
    if property_values.flag(attempt.metadata, property_values.DELETION_VECTORS):
        return None
    for add in _adds_with_new_vectors(attempt):
        name = property_values.DELETION_VECTORS
        return f"{add.path} has a new deletion vector, and the property {name} is not true"
    return None


def _new_vectors_with_tight_bounds(attempt: Attempt) -> str | None:
    for add in _adds_with_new_vectors(attempt):
        if record_counts.counts_of_file(add).tight_bounds is not False:
            return f"{add.path} has a new deletion vector, and statistics that do not say tightBounds=false"
    return None


def _a_lower_isolation_level(attempt: Attempt) -> str | None:
    written = attempt.writes.metadata
    if written is None:
        return None
    asked = written.configuration.get(property_values.ISOLATION_LEVEL, IsolationLevel.SERIALIZABLE)
    if asked in (
        IsolationLevel.SERIALIZABLE,
        attempt.follows.metadata.configuration.get(property_values.ISOLATION_LEVEL),
    ):
        return None
    name, level = property_values.ISOLATION_LEVEL, IsolationLevel.SERIALIZABLE
    return f"it sets {name} to {asked!r}, and {level} is all that can be set"


def _new_text_that_must_not_be_evaluated(attempt: Attempt) -> str | None:
    written = attempt.writes.metadata
    found = None if written is None else stored_expressions.first_breach(written, attempt.follows.metadata)
    return None if found is None else stored_expressions.describe_breach(*found)


def _a_coordinator_that_cannot_take_the_table(attempt: Attempt) -> str | None:
    return coordinated_commits.metadata_change_breach(attempt.follows.metadata, attempt.metadata)


def _a_coordinator_without_its_feature(attempt: Attempt) -> str | None:
    return coordinated_commits.feature_breach(attempt.metadata, attempt.protocol)


def _a_feature_without_its_coordinator(attempt: Attempt) -> str | None:
    """Whoever finds a table so may write to it: Delta's own clients leave it so in the midst of a release."""
    before = coordinated_commits.coordinator_breach(attempt.follows.metadata, attempt.follows.protocol)
    return None if before else coordinated_commits.coordinator_breach(attempt.metadata, attempt.protocol)


def _a_coordinator_without_timestamps(attempt: Attempt) -> str | None:
    return coordinated_commits.timestamps_breach(attempt.follows.metadata, attempt.metadata)


PRECONDITIONS: tuple[Precondition, ...] = (
    Precondition(
        "one-protocol-one-metadata", _protocol_or_metadata_more_than_once, "DELTA_DUPLICATE_ACTIONS_FOUND"
    ),
    Precondition("files-once", _a_file_more_than_once, "DELTA_DUPLICATE_ACTIONS_FOUND"),
    Precondition("partition-values", _partition_values_of_other_columns, "DELTA_INVALID_PARTITIONING_SCHEMA"),
    Precondition("partition-types", _partition_values_of_other_types, "DELTA_PARTITION_COLUMN_CAST_FAILED"),
    Precondition("append-only", _rows_removed_from_an_append_only_table, "DELTA_CANNOT_MODIFY_APPEND_ONLY"),
    Precondition("applications-once", _an_application_at_two_versions, "DELTA_DUPLICATE_ACTIONS_FOUND"),
    Precondition("vectors-counted", _vectors_of_unknown_files, "DELTA_DELETION_VECTOR_MISSING_NUM_RECORDS"),
    Precondition("vectors-enabled", _new_vectors_without_leave, "DELTA_ADDING_DELETION_VECTORS_DISALLOWED"),
    Precondition(
        "vectors-wide-bounds", _new_vectors_with_tight_bounds,
        "DELTA_ADDING_DELETION_VECTORS_WITH_TIGHT_BOUNDS_DISALLOWED",
    ),
    Precondition("isolation-level", _a_lower_isolation_level, "DELTA_INVALID_ISOLATION_LEVEL"),
    Precondition("stored-expressions", _new_text_that_must_not_be_evaluated, stored_expressions.CODE),
    Precondition(
        "coordinator", _a_coordinator_that_cannot_take_the_table,
        "DELTA_CANNOT_OVERRIDE_COORDINATED_COMMITS_CONFS",
    ),
    Precondition(
        "coordinator-feature", _a_coordinator_without_its_feature, "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH"
    ),
    Precondition(
        "coordinator-named", _a_feature_without_its_coordinator, "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH"
    ),
    Precondition(
        "coordinator-timestamps", _a_coordinator_without_timestamps,
        "DELTA_CANNOT_MODIFY_COORDINATED_COMMITS_DEPENDENCIES",
    ),
)  # fmt: skip


def _first_duplicate(keys: Sequence[FileKey]) -> str:
    return next(path for (path, _), count in Counter(keys).items() if count > 1)


def _adds_with_vectors(attempt: Attempt) -> list[AddFile]:
    return [add for add in attempt.writes.adds if add.deletion_vector is not None]


def _adds_with_new_vectors(attempt: Attempt) -> list[AddFile]:
    """Without those of files that only get other tags or row ids, or come with theirs from elsewhere."""
    if attempt.operation in (CLONE, RESTORE):
        return []
    removed = {remove.path for remove in attempt.writes.removes}
    return [add for add in _adds_with_vectors(attempt) if add.data_change or add.path in removed]
