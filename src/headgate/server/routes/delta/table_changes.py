"""What does an update ask for? Its requirements and updates, each at most once, put where they belong."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.wire.delta_api import (
    AddCommit,
    AssertEtag,
    AssertLatestVersion,
    AssertTableUuid,
    DeltaApiBody,
    RemoveDomainMetadata,
    RemoveProperties,
    Requirements,
    SetDomainMetadata,
    SetLatestBackfilledVersion,
    SetProperties,
    Updates,
    UpdateSnapshotVersion,
)
from headgate.errors import InvalidRequest
from headgate.protocol.domains.lifecycle import CLUSTERING_DOMAIN
from headgate.protocol.domains.rules import ROW_TRACKING_DOMAIN
from headgate.server.delta_api import DeltaApiSettings
from headgate.server.routes.delta.conflicts import RequirementNotMet

Part = TypeVar("Part", bound=DeltaApiBody)


@dataclass(frozen=True, slots=True)
class RequestedChange:
    """An update whose shape is right."""

    uuid: str
    etag: str | None
    read_version: int | None
    added: AddCommit | None
    backfilled: int | None
    metadata: tuple[Updates, ...]
    """What is said of the table besides, which its log says too."""

    def require_uuid(self, entry: TableEntry) -> None:
        """Refuse the change of another table, which has the name by now."""
        if self.uuid.lower() != entry.table_id.lower():
            raise RequirementNotMet(
                f"{entry.name} is the table {entry.table_id} and not {self.uuid}, which was dropped or "
                "renamed; nothing was changed: load the table anew"
            )


def parse_change(
    requirements: Sequence[Requirements], updates: Sequence[Updates], settings: DeltaApiSettings
) -> RequestedChange:
    """What is asked for; ``InvalidRequest`` if it contradicts itself."""
    _check_once(requirements)
    _check_once(updates)
    _check_overlap(updates)
    added = _only(updates, AddCommit)
    _check_supported(added, updates, settings)
    uuid, etag = _only(requirements, AssertTableUuid), _only(requirements, AssertEtag)
    backfill, read = _only(updates, SetLatestBackfilledVersion), _only(requirements, AssertLatestVersion)
    if uuid is None:
        raise InvalidRequest("an update requires assert-table-uuid: say which table is meant")
    return RequestedChange(
        uuid.uuid,
        None if etag is None else etag.etag,
        None if read is None else read.version,
        added,
        None if backfill is None else backfill.latest_published_version,
        tuple(each for each in updates if not isinstance(each, AddCommit | SetLatestBackfilledVersion)),
    )


def parse_update(
    requirements: Sequence[Requirements], updates: Sequence[Updates], settings: DeltaApiSettings
) -> RequestedChange:
    """What is asked of a single table, which is never nothing."""
    if not updates:
        raise InvalidRequest("updates is empty: an update changes something, and to read a table is a GET")
    change = parse_change(requirements, updates, settings)
    if change.read_version is not None:
        raise InvalidRequest("assert-latest-version is for tables that a transaction only reads")
    return change


def _check_once(parts: Sequence[DeltaApiBody]) -> None:
    for kind, count in Counter(type(part) for part in parts).items():
        if count > 1:
            raise InvalidRequest(f"{kind.__struct_config__.tag} is there {count} times: it can be there once")


def _check_overlap(updates: Sequence[Updates]) -> None:
    setting, removing = _only(updates, SetProperties), _only(updates, RemoveProperties)
    writing, forgetting = _only(updates, SetDomainMetadata), _only(updates, RemoveDomainMetadata)
    names = set() if setting is None else set(setting.updates)
    both = names & set(() if removing is None else removing.removals)
    if writing is not None and forgetting is not None:
        given = {
            CLUSTERING_DOMAIN: writing.updates.clustering,
            ROW_TRACKING_DOMAIN: writing.updates.row_tracking,
        }
        both |= {name for name in forgetting.domains if given.get(name) is not None}
    if both:
        raise InvalidRequest(f"{min(both)!r} is set and removed by one request: leave out one of the two")


def _check_supported(added: AddCommit | None, updates: Sequence[Updates], settings: DeltaApiSettings) -> None:
    if _only(updates, UpdateSnapshotVersion) is not None:
        raise InvalidRequest(
            "update-metadata-snapshot-version is for external tables, and this one is managed"
        )
    if added is None:
        return
    if added.uniform is not None:
        raise InvalidRequest("this server keeps no Iceberg metadata: leave out uniform")
    commit = added.commit
    if settings.strict and (commit.content is not None or added.any_version):
        raise InvalidRequest("a commit is staged as a file here: give its file-name instead of its content")
    if (commit.file_name is None) is (commit.content is None):
        raise InvalidRequest("a commit has either a file-name or its content")
    if commit.file_name is not None and None in (commit.file_size, commit.file_modification_timestamp):
        raise InvalidRequest("a staged commit has a file-size and a file-modification-timestamp")


def _only(parts: Sequence[DeltaApiBody], kind: type[Part]) -> Part | None:
    return next((part for part in parts if isinstance(part, kind)), None)
