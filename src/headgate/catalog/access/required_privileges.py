"""What must somebody be allowed in order to make this commit?

Derived from the actions, never from what the request or its commitInfo says about itself (T13). The one
thing actions claim that cannot be seen from them is ``dataChange``: whoever may MAINTAIN is trusted to
rewrite files with the same rows. So what adds or removes rows without a counterpart takes more than that.
An append is what leaves all that was there as it was: a file that may be one of those, or the
transaction of somebody else's application, takes CHANGE DATA.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from headgate.catalog.ports.access import Privilege
from headgate.catalog.ports.commits import TableState
from headgate.protocol import property_values
from headgate.protocol.actions import (
    Action,
    AddCdcFile,
    AddFile,
    AppTransaction,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
)
from headgate.protocol.domains import rules
from headgate.protocol.features import identity_columns
from headgate.protocol.schema import evolution

RequiredPrivilege = tuple[Privilege, Action]


@dataclass(frozen=True, slots=True)
class AppendEvidence:
    """What is known of whoever proposes a commit, without which an append cannot be told from a change."""

    is_fresh: Callable[[AddFile], bool]
    """Whether it is surely a new file, with new rows."""
    owns: Callable[[str], bool]
    """Whether an application is theirs, or nobody's yet."""


def required_privileges(
    actions: tuple[Action, ...], before: TableState | None, proposer: AppendEvidence
) -> Iterator[RequiredPrivilege]:
    """The privileges that a commit takes, each with an action for which it does.

    ``before`` is what the table is; where that is not known, whatever is written counts as a change.
    """
    applications = _app_transaction_privileges(actions, proposer)
    found = tuple(
        chain(_file_privileges(actions, proposer), alteration_privileges(actions, before), applications)
    )
    # Whoever restates what the table is, or says nothing, still takes a version, which readers wait for.
    yield from found or ((Privilege.APPEND, actions[0]),)


def _app_transaction_privileges(
    actions: tuple[Action, ...], proposer: AppendEvidence
) -> Iterator[RequiredPrivilege]:
    for action in actions:
        if isinstance(action, AppTransaction):
            # Whoever sets another's version has it skip batches, or write them twice.
            yield (Privilege.APPEND if proposer.owns(action.app_id) else Privilege.CHANGE_DATA), action


def alteration_privileges(
    actions: tuple[Action, ...], before: TableState | None
) -> Iterator[RequiredPrivilege]:
    """Those that it takes because it changes what the table is, or restates that with marks moved on."""
    for action in actions:
        match action:
            case Metadata():
                yield from _metadata_privileges(action, before, actions)
            case Protocol() if before is None or action != before.protocol:
                yield Privilege.ALTER_PROTOCOL, action
            case DomainMetadata(domain=rules.ROW_TRACKING_DOMAIN, removed=False):
                continue  # follows from the files that are added
            case DomainMetadata():
                yield Privilege.ALTER_PROPERTIES, action
            case _:
                continue


def _file_privileges(actions: tuple[Action, ...], proposer: AppendEvidence) -> Iterator[RequiredPrivilege]:
    added = next((action for action in actions if isinstance(action, AddFile)), None)
    removed = {action.path: action for action in actions if isinstance(action, RemoveFile)}
    for action in actions:
        match action:
            case AddCdcFile():
                yield Privilege.CHANGE_DATA, action
            case RemoveFile(data_change=True):
                yield Privilege.CHANGE_DATA, action
            case AddFile(data_change=True, deletion_vector=None) if proposer.is_fresh(action):
                yield Privilege.APPEND, action
            case AddFile(data_change=True):
                # One that is there, or was: it is replaced, brought back, or has some of its rows hidden.
                yield Privilege.CHANGE_DATA, action
            case RemoveFile():
                yield (Privilege.CHANGE_DATA if added is None else Privilege.MAINTAIN), action
            case AddFile() if _deleted_row_count(action) != _deleted_row_count(
                removed.get(action.path, action)
            ):
                yield Privilege.CHANGE_DATA, action
            case AddFile():
                yield Privilege.MAINTAIN, action
                if not removed:
                    yield Privilege.APPEND, action
            case _:
                continue


def _deleted_row_count(file: AddFile | RemoveFile) -> int:
    return 0 if file.deletion_vector is None else file.deletion_vector.cardinality


def _metadata_privileges(
    after: Metadata, before: TableState | None, actions: tuple[Action, ...]
) -> Iterator[RequiredPrivilege]:
    if before is None:
        yield Privilege.ALTER_SCHEMA, after
        yield Privilege.ALTER_PROPERTIES, after
        return
    if identity_columns.advances_high_water_mark_only(before.metadata, after):
        yield Privilege.APPEND, after  # as whoever gives values to new rows does
        return
    if _columns(before.metadata) != _columns(after):
        yield Privilege.ALTER_SCHEMA, after
        written = (action for action in actions if isinstance(action, Protocol))
        if evolution.schema_change_breach(before.metadata, after, next(written, before.protocol)):
            yield Privilege.CHANGE_DATA, after  # the rows that were there do not fit any more
    elif _highest_id(before.metadata) != _highest_id(after):
        yield Privilege.ALTER_SCHEMA, after
    if _other_metadata(before.metadata) != _other_metadata(after):
        yield Privilege.ALTER_PROPERTIES, after


def _columns(metadata: Metadata) -> tuple[object, ...]:
    return metadata.schema_string, metadata.partition_columns


def _highest_id(metadata: Metadata) -> str | None:
    return metadata.configuration.get(property_values.MAX_COLUMN_ID)


def _other_metadata(metadata: Metadata) -> tuple[object, ...]:
    # Adding a mapped column counts it, which is no wish about properties.
    configuration = {
        key: value for key, value in metadata.configuration.items() if key != property_values.MAX_COLUMN_ID
    }
    return (
        metadata.id,
        metadata.name,
        metadata.description,
        metadata.format,
        metadata.created_time,
        configuration,
    )
