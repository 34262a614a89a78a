r"""Row ids: every row of a table that tracks them has a number no other row ever had.

A file gets its first row's number when it is added; the domain ``delta.rowTracking`` remembers
the highest number given. Two commits that race would give the same numbers, so the loser's are
given anew.

Nothing has an id yet, and version 8 adds a file of ten rows. After a race that another such file won, the
same commit is version 9:

    8   {"add":{"path":"f.parquet",…,"baseRowId":0,"defaultRowCommitVersion":8}}
        {"domainMetadata":{"domain":"delta.rowTracking","configuration":"{\"rowIdHighWaterMark\":9}",…}}
    9   {"add":{"path":"f.parquet",…,"baseRowId":10,"defaultRowCommitVersion":9}}
        {"domainMetadata":{"domain":"delta.rowTracking","configuration":"{\"rowIdHighWaterMark\":19}",…}}
"""

from collections.abc import Iterable, Mapping

import msgspec

from headgate.errors import CorruptLog, InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.actions import Action, AddFile, DomainMetadata, Long, Metadata, Protocol, Version
from headgate.protocol.domains.rules import ROW_TRACKING_DOMAIN
from headgate.protocol.log.replay import State
from headgate.protocol.stats import record_counts
from headgate.protocol.transaction.attempt import Attempt

FEATURE = "rowTracking"
NO_HIGH_WATER_MARK = -1


class _RowTrackingConfiguration(msgspec.Struct, frozen=True, rename="camel"):
    row_id_high_water_mark: Long


def high_water_mark(state: State) -> int:
    """The highest row id ever given; ``NO_HIGH_WATER_MARK`` if none was."""
    found = state.domains.get(ROW_TRACKING_DOMAIN)
    if found is None:
        return NO_HIGH_WATER_MARK
    try:
        return parse_high_water_mark(found)
    except msgspec.DecodeError as exc:
        raise CorruptLog(
            f"the metadata domain {ROW_TRACKING_DOMAIN} cannot be read: {exc}; row ids cannot be given",
            code="DELTA_STATE_RECOVER_ERROR", version=state.version,
        ) from exc  # fmt: skip


def parse_high_water_mark(action: DomainMetadata) -> int:
    """The mark that an action of the domain sets; ``msgspec.DecodeError`` if it is none."""
    return msgspec.json.decode(action.configuration, type=_RowTrackingConfiguration).row_id_high_water_mark


def highest_row_id(adds: Iterable[AddFile]) -> int:
    """The highest row id that these files have, as far as they say; or ``NO_HIGH_WATER_MARK``."""
    last = (first + _rows_or_one(add) - 1 for add in adds if (first := add.base_row_id) is not None)
    return max(last, default=NO_HIGH_WATER_MARK)


def _rows_or_one(add: AddFile) -> int:
    records = record_counts.counts_of_file(add).num_records
    return 1 if records is None else records


def is_supported(protocol: Protocol) -> bool:
    """Whether every file of the table must have row ids."""
    return FEATURE in (protocol.writer_features or ())


def is_suspended(metadata: Metadata) -> bool:
    """Whether no file gets row ids for the time being."""
    return property_values.flag(metadata, property_values.ROW_TRACKING_SUSPENDED)


def check_not_suspended(metadata: Metadata) -> None:
    """Refuse a table that both tracks rows and has suspended it."""
    if is_suspended(metadata) and property_values.flag(metadata, property_values.ROW_TRACKING):
        raise InvalidRequest(
            f"the properties {property_values.ROW_TRACKING} and {property_values.ROW_TRACKING_SUSPENDED} are "
            "both true, which contradict each other: set one of them to false",
            code="DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION",
        )


def assign_row_ids(
    ours: Attempt, state: State, *, read_mark: int, lost: Version | None, theirs: Mapping[str, AddFile]
) -> tuple[Action, ...]:
    """Our actions with row ids and row commit versions as the version after ``state``.

    Ids up to ``read_mark`` belong to rows that were there before and stay, as do those that the
    winner gave to the same file (``theirs``, by path). ``lost`` is the version of the last attempt.
    """
    actions = tuple(action for action in ours.actions if not _is_high_water_mark(action))
    version = Version(state.version + 1)
    if is_suspended(ours.metadata):
        return tuple(_without_row_ids(action) for action in actions)
    highest = known = high_water_mark(state)
    numbered: list[Action] = []
    for action in actions:
        if isinstance(action, AddFile) and not _keeps_row_ids(action, read_mark, theirs.get(action.path)):
            records = _required_num_records(action)
            numbered.append(_with_base_row_id(action, highest + 1, version, lost))
            highest += records
        else:
            numbered.append(_with_row_commit_version(action, version, lost, theirs))
    if highest > known:
        configuration = msgspec.json.encode(_RowTrackingConfiguration(highest)).decode()
        numbered.append(
            DomainMetadata(domain=ROW_TRACKING_DOMAIN, configuration=configuration, removed=False)
        )
    return tuple(numbered)


def _keeps_row_ids(add: AddFile, read_mark: int, theirs: AddFile | None) -> bool:
    if add.base_row_id is None:
        return False
    return add.base_row_id <= read_mark or (theirs is not None and theirs.base_row_id == add.base_row_id)


def _with_base_row_id(add: AddFile, first: int, version: Version, lost: Version | None) -> AddFile:
    committed = add.default_row_commit_version
    return msgspec.structs.replace(
        add,
        base_row_id=first,
        default_row_commit_version=version if committed is None or committed == lost else committed,
    )


def _with_row_commit_version(
    action: Action, version: Version, lost: Version | None, theirs: Mapping[str, AddFile]
) -> Action:
    """A file that keeps its ids still needs a row commit version, its own unless the winner gave it."""
    if not isinstance(action, AddFile) or action.path in theirs:
        return action
    if action.default_row_commit_version not in (None, lost):
        return action
    return msgspec.structs.replace(action, default_row_commit_version=version)


def _required_num_records(add: AddFile) -> int:
    found = record_counts.counts_of_file(add).num_records
    if found is None:
        raise InvalidRequest(
            f"{add.path} has no numRecords in its statistics, so its rows cannot be given ids, which the "
            "table demands: write it with statistics",
            code="DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS", path=add.path,
        )  # fmt: skip
    return found


def _without_row_ids(action: Action) -> Action:
    if isinstance(action, AddFile) and action.base_row_id is not None:
        return msgspec.structs.replace(action, base_row_id=None, default_row_commit_version=None)
    return action


def _is_high_water_mark(action: Action) -> bool:
    """Whether it says which ids were given; that none were, any more, is said when the feature is dropped."""
    return isinstance(action, DomainMetadata) and action.domain == ROW_TRACKING_DOMAIN and not action.removed
