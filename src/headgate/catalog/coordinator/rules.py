"""What a coordinator knows of a table, and what it may do next with it."""

from collections.abc import Iterable

from headgate.catalog.ports.ledger import SCHEMA_VERSION, Registration
from headgate.errors import InvalidRequest, NotAllowed
from headgate.protocol.actions import Version
from headgate.storage import location_spelling


def first_coordinated_version(current: Version | None) -> Version:
    """The first version a coordinator ratifies: that of taking the table over is not its own (K11)."""
    return Version(1 if current is None else current + 2)


def normalize_location(location: str) -> str:
    """A location by which the same table is the same."""
    return location_spelling.without_slash(location)


def check_registrable(records: Iterable[Registration], metadata_id: str, first: Version) -> None:
    """Refuse to register a table that is owned, or one by an old copy of its log (S151).

    Records of other tables that once were at the same place do not count, nor does one that the table went
    past: versions that its coordinator never ratified say that it was taken back by force.
    """
    for record in records:
        if record.metadata_id != metadata_id:
            continue
        if record.is_active and first < record.next + 2:
            raise NotAllowed(
                f"the table at {record.location!r} is registered already, and its latest version is "
                f"{record.latest}: release it with table.uncoordinate() first"
            )
        if first < record.next:
            raise InvalidRequest(
                f"the table at {record.location!r} was registered at a later version before: look at it "
                "again and register its latest version",
                code="DELTA_CONCURRENT_WRITE",
            )


def abandoned_registrations(
    records: Iterable[Registration], metadata_id: str, first: Version
) -> frozenset[str]:
    """The ids of registrations that came to nothing: another commit has the version that would name them."""
    return frozenset(
        record.table_id
        for record in records
        if record.metadata_id == metadata_id and record.latest is None and record.first < first
    )


def require_registration(record: Registration | None, table_id: str, location: str) -> Registration:
    """The record, if it is the one of the table at ``location`` (W12, S150)."""
    if record is None:
        raise InvalidRequest(
            f"the coordinator knows no table {table_id!r}: either another coordinator has it, or the "
            "coordinator lost what it knew"
        )
    if record.schema_version != SCHEMA_VERSION:
        raise InvalidRequest(
            f"the record of the table at {record.location!r} has schema version {record.schema_version}, and "
            f"this version of Headgate understands {SCHEMA_VERSION}: use a newer one"
        )
    if record.location != location:
        raise InvalidRequest(
            f"table {table_id!r} is registered at {record.location!r}, and not at {location!r}: a copy of a "
            "table does not belong to the coordinator of the original"
        )
    return record


def is_next_version(record: Registration, version: Version) -> bool:
    """Whether this version is the next one, or taken; an error if it is neither or nothing may come."""
    if version == 0:
        raise InvalidRequest(
            "version 0 does not go through the coordinator: it is written to the file system, 0.json"
        )
    if record.first <= version < record.next:
        return False
    if version < record.first or version > record.next:
        raise InvalidRequest(
            f"version {version} cannot be ratified: the next version is {record.next}",
            asked=version, latest=record.next - 1,
        )  # fmt: skip
    if not record.accepting:
        raise NotAllowed(
            f"the table at {record.location!r} was released with version {record.latest}, so its coordinator "
            "accepts no commit: read the table again, it is an ordinary one",
            version=version,
        )
    return True


def check_ratified(record: Registration, version: Version) -> None:
    """Refuse to publish a version that nobody ratified yet."""
    if version >= record.next:
        raise InvalidRequest(
            f"version {version} cannot be published: the latest ratified version is {record.latest}",
            asked=version, latest=record.latest,
        )  # fmt: skip
