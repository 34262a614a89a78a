"""What must be true when everybody has gone and every message has arrived."""

from headgate.errors import ObjectNotFound
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.storage.store import Store
from tests.simulation.actors import End, Records, Run
from tests.simulation.claims import truth
from tests.simulation.ledger import Ledger, Violation


def check_published(ledger: Ledger, files: Store) -> None:
    """The published versions are the first ones, as they were ratified (I3)."""
    missing = False
    for entry in ledger.entries:
        try:
            published = files.read(file_names.published_path(Version(entry.version)))
        except ObjectNotFound:
            missing = True
            continue
        if entry.version == ledger.stray:
            missing = True
            continue
        if missing:
            raise Violation("I3", f"version {entry.version} is published, one before it is not")
        if published != entry.content:
            raise Violation("I3", f"version {entry.version} is published as something else")


def check_runs(ledger: Ledger, records: Records, *, trusts_ids: bool) -> None:
    """Every operation is in the log as often and as what its client was told (I9, I10)."""
    found: dict[str, list[tuple[int, str]]] = {}
    for entry in ledger.entries:
        if entry.run is not None:
            operation_id, number = entry.run
            found.setdefault(operation_id, []).append((entry.version, number))
    runs: dict[str, list[Run]] = {}
    for done in records.runs:
        runs.setdefault(done.operation_id, []).append(done)
    for operation_id, tries in runs.items():
        _check_operation(operation_id, tries, found.get(operation_id, []), trusted=trusts_ids)


def _check_operation(
    operation_id: str, tries: list[Run], found: list[tuple[int, str]], *, trusted: bool
) -> None:
    if len(found) > 1:
        raise Violation("I9", f"{operation_id} is in the log more than once, as {found}")
    versions, numbers = {version for version, _ in found}, {number for _, number in found}
    ends = {done.end for done in tries}
    if End.SUCCESS in ends:
        claimed = {done.version for done in tries if done.end is End.SUCCESS} - {None}
        if not versions or claimed - versions:
            raise Violation("I9", f"{operation_id} was reported as {claimed}, the log has {found}")
        return
    # Who remembers txnIds answers for every run of a transaction, so one that failed says that all did.
    refused = {done.number for done in tries if done.end in (End.CONFLICT, End.UNAVAILABLE)}
    if refused & numbers or (trusted and versions and End.CONFLICT in ends):
        raise Violation("I10", f"{operation_id} was reported as failed, but is in the log as {found}")


def check_data_files(ledger: Ledger, files: Store) -> None:
    """No live file was deleted (I7)."""
    there = {meta.path for meta in files.list_from("")}
    gone = ledger.at(ledger.latest).files.keys() - there
    if gone:
        raise Violation("I7", f"{sorted(gone)} are live and were deleted")


def check_sights(ledger: Ledger, records: Records) -> None:
    """What anybody saw is what the log says (I6)."""
    for sight in records.sights:
        if sight.version > ledger.latest:
            raise Violation("I6", f"somebody saw version {sight.version}, which does not exist")
        true = truth(ledger.at(sight.version))
        if sight != true:
            raise Violation("I6", f"somebody saw {sight}, but version {sight.version} is {true}")
