"""Is the history serial? Every version is replayed from the one before it, and asked whether it fits.

A transaction wrote down what it saw when it decided. Under Serializable it must have seen what the
version before its own shows, wherever that matters to what it did; then running the transactions one
after another, in the order of their versions, gives what is in the log. The checks are rows.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from headgate.protocol.transaction.attempt import ROW_ID_BACKFILL
from tests.simulation.changes import Rows
from tests.simulation.claims import PARTITION, Claim
from tests.simulation.ledger import Ledger, Violation
from tests.simulation.serial import ISOLATION, OWNER, STAMPS, Entry, Table, vector
from tests.simulation.tables import COLLECTION, COUNTER

_ENABLED_AT = ("delta.inCommitTimestampEnablementVersion", "delta.inCommitTimestampEnablementTimestamp")
_TRACKING = "delta.enableRowTracking"
_ROW_COLUMNS = (
    "delta.rowTracking.materializedRowIdColumnName",
    "delta.rowTracking.materializedRowCommitVersionColumnName",
)
_HARMLESS = frozenset({STAMPS, *_ENABLED_AT, _TRACKING, *_ROW_COLUMNS})
_OWNED = frozenset(
    f"delta.coordinatedCommits.{name}-preview"
    for name in ("commitCoordinator", "commitCoordinatorConf", "tableConf")
)
_OWNING = "coordinatedCommits-preview"


@dataclass(frozen=True, slots=True)
class Step:
    """One version, between the table before it and the table after it."""

    before: Table
    entry: Entry
    after: Table
    claim: Claim | None
    ledger: Ledger
    rows: Rows

    def live_rows(self, table: Table, *, partition: str | None = None) -> Iterator[str]:
        for path, add in table.files.items():
            if partition is None or add["partitionValues"].get(PARTITION) == partition:
                yield from self.rows.live(path, vector(add))


def _files_come_and_go_once(step: Step) -> str | None:
    live = {(path, vector(add)) for path, add in step.before.files.items()}
    gone = {(remove["path"], vector(remove)) for remove in step.entry.removes}
    if not gone <= live:
        return f"it removes {sorted(map(str, gone - live))}, which are not live"
    return None


def _files_are_new(step: Step) -> str | None:
    removed = {remove["path"] for remove in step.entry.removes}
    for add in step.entry.adds:
        path = add["path"]
        if path in step.ledger.added_before(step.entry.version):
            if path not in step.before.files:
                return f"it brings back {path}"
            if path not in removed and step.entry.operation != ROW_ID_BACKFILL:
                return f"it adds {path} again"
    return None


def _no_row_is_there_twice(step: Step) -> str | None:
    found = list(step.live_rows(step.after))
    return "it has a row twice" if len(set(found)) < len(found) else None


def _rearranging_keeps_the_rows(step: Step) -> str | None:
    if step.entry.operation not in ("OPTIMIZE", ROW_ID_BACKFILL):
        return None
    was, is_now = (frozenset(step.live_rows(table)) for table in (step.before, step.after))
    return None if was == is_now else f"it only rearranges, and {sorted(was ^ is_now)} came or went"


def _what_was_read_is_what_was_there(step: Step) -> str | None:
    claim = step.claim
    if claim is None:
        return None
    missed = step.ledger.missed(step.entry.version, since=claim.base)
    for partition, seen in claim.partitions.items():
        there = frozenset(step.live_rows(step.before, partition=partition))
        unseen = there - seen
        if step.before.properties.get(ISOLATION) == "WriteSerializable":
            # A blind append may count as having come later.
            unseen -= frozenset(chain.from_iterable(step.rows.of_file[path] for path in missed))
        if unseen or seen - there:
            return f"it read {sorted(seen)} in partition {partition}, and there were {sorted(there)}"
    for path, seen_vector in claim.files.items():
        add = step.before.files.get(path)
        if add is None or vector(add) != seen_vector:
            return f"it read {path} with the vector {seen_vector}, which was not so any more"
    return None


def _the_whole_table_was_seen(step: Step) -> str | None:
    if step.claim is None or step.claim.everything is None:
        return None
    unseen = step.before.files.keys() ^ step.claim.everything
    if step.before.properties.get(ISOLATION) == "WriteSerializable":
        unseen = unseen - step.ledger.missed(step.entry.version, since=step.claim.base)
    return f"it replaces the table, and did not see {sorted(unseen)}" if unseen else None


def _the_table_was_as_it_was_read(step: Step) -> str | None:
    claim = step.claim
    if claim is None:
        return None
    keys = claim.properties.keys() | step.before.properties.keys()
    changed = {key for key in keys if claim.properties.get(key) != step.before.properties.get(key)}
    allowed = frozenset() if step.entry.all("metaData") else _HARMLESS
    return f"it did not see the change of {sorted(changed)}" if changed - allowed else None


def _only_what_is_said_changes(step: Step) -> str | None:
    """Two that change properties, or the protocol, do not undo each other's changes."""
    lost = step.before.features - step.after.features
    if _OWNING in lost:  # and with it what only the owner needed
        lost -= {_OWNING, "vacuumProtocolCheck"}
    if lost:
        return f"the features {sorted(lost)} are gone"
    said = json.loads(step.entry.parameters.get("properties", "{}"))
    was, is_now = step.before.properties, step.after.properties
    changed = {key for key in was.keys() | is_now.keys() if was.get(key) != is_now.get(key)}
    derived = {*_ENABLED_AT, *_ROW_COLUMNS, *(_OWNED | {STAMPS} if OWNER in {*said, *changed} else ())}
    unsaid = changed - said.keys() - derived
    return f"it changes {sorted(unsaid)} without saying so" if unsaid and step.entry.version else None


def _applications_count_up(step: Step) -> str | None:
    for txn in step.entry.all("txn"):
        before = step.before.txns.get(txn["appId"])
        if before is not None and txn["version"] <= before:
            return f"{txn['appId']} goes from {before} to {txn['version']}"
    for app, seen in (step.claim.apps if step.claim else {}).items():
        if step.before.txns.get(app) != seen:
            return f"it saw {app} at {seen}, and it was at {step.before.txns.get(app)}"
    return None


def _domains_are_the_fold_of_merges(step: Step) -> str | None:
    claim, was, is_now = step.claim, step.before.domains, step.after.domains
    if claim is None:
        return None
    counted = int(is_now.get(COUNTER, "0")) - int(was.get(COUNTER, "0"))
    if counted != claim.counted:
        return f"the counter moves by {counted}, it should by {claim.counted}"
    held, holds = (set(json.loads(found.get(COLLECTION, "[]"))) for found in (was, is_now))
    if holds != held | claim.collected:
        return f"the collection becomes {sorted(holds)}, not {sorted(held | claim.collected)}"
    for name, seen in claim.domains.items():
        if was.get(name) != seen:
            return f"it saw {name} as {seen!r}, and it was {was.get(name)!r}"
    return None


def _row_ids_are_new(step: Step) -> str | None:
    if not step.after.tracks_rows:
        return None
    mark = highest = step.before.row_mark
    for add in step.entry.adds:
        first, known = add.get("baseRowId"), step.before.files.get(add["path"], {}).get("baseRowId")
        if first is None:
            return f"{add['path']} has no row ids"
        if known is not None:
            if first != known:
                return f"{add['path']} had the ids from {known} on, and now from {first} on"
            continue
        if first <= highest:
            return f"{add['path']} has the ids from {first} on, and {highest} is given already"
        if add.get("defaultRowCommitVersion") != step.entry.version:
            return f"{add['path']} has the row version {add.get('defaultRowCommitVersion')}"
        highest = first + json.loads(add["stats"])["numRecords"] - 1
    if step.after.row_mark != max(mark, highest):
        return f"the mark is {step.after.row_mark}, and the highest id given is {max(mark, highest)}"
    return None


def _tracked_tables_have_ids(step: Step) -> str | None:
    if step.after.properties.get(_TRACKING) != "true":
        return None
    bare = [path for path, add in step.after.files.items() if add.get("baseRowId") is None]
    return f"rows are tracked, and {sorted(bare)} have no ids" if bare else None


def _timestamps_increase(step: Step) -> str | None:
    was, is_now = step.before.timestamp, step.after.timestamp
    if not step.after.has_in_commit_timestamp:
        return None
    if is_now is None or "commitInfo" not in step.entry.actions[0]:
        return "it has no in-commit timestamp"
    if step.before.has_in_commit_timestamp and was is not None:
        return f"its timestamp {is_now} follows {was}" if is_now <= was else None
    if not step.entry.version:
        return None
    said = [step.after.properties.get(key) for key in _ENABLED_AT]
    if said != [str(step.entry.version), str(is_now)]:
        return f"it switches timestamps on at {is_now}, and says {said}"
    written = step.ledger.written_at(step.entry.version - 1)
    return f"its timestamp {is_now} follows a file of {written}" if is_now <= written else None


@dataclass(frozen=True, slots=True)
class Check:
    """One row: the invariant, and what is wrong with a step, if something is."""

    invariant: str
    breach: Callable[[Step], str | None]


CHECKS: tuple[Check, ...] = (
    Check("I8", _timestamps_increase),
    Check("I9", _files_are_new),
    Check("I11", _files_come_and_go_once),
    Check("I11", _no_row_is_there_twice),
    Check("I11", _rearranging_keeps_the_rows),
    Check("I11", _the_whole_table_was_seen),
    Check("I11", _what_was_read_is_what_was_there),
    Check("I12", _the_table_was_as_it_was_read),
    Check("I12", _only_what_is_said_changes),
    Check("I13", _applications_count_up),
    Check("I14", _domains_are_the_fold_of_merges),
    Check("I15", _row_ids_are_new),
    Check("I15", _tracked_tables_have_ids),
)


def check(ledger: Ledger, claims: Mapping[tuple[str, str], Claim], rows: Rows) -> None:
    """Raise the first ``Violation`` there is."""
    for step in _steps(ledger, claims, rows):
        for row in CHECKS:
            if reason := row.breach(step):
                raise Violation(
                    row.invariant, f"version {step.entry.version} ({step.entry.operation}): {reason}"
                )


def _steps(ledger: Ledger, claims: Mapping[tuple[str, str], Claim], rows: Rows) -> Iterable[Step]:
    for entry in ledger.entries:
        claim = claims[entry.run] if entry.run is not None else None
        before, after = ledger.at(entry.version - 1), ledger.at(entry.version)
        yield Step(before, entry, after, claim, ledger, rows)
