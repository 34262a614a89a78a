"""What writers do to a table: one row per operation, each with what it read before it decided."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import msgspec

from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import (
    Action,
    AddFile,
    AppTransaction,
    DeletionVector,
    DomainMetadata,
    EpochMillis,
    Metadata,
    RemoveFile,
)
from headgate.protocol.domains import rules
from headgate.protocol.log.replay import State
from headgate.protocol.predicates import from_sql
from headgate.protocol.schema import json as schema_json
from headgate.protocol.transaction.attempt import BLIND, ReadSet
from tests.simulation.claims import PARTITION, Claim, Sight
from tests.simulation.serial import STAMPS
from tests.simulation.tables import COLLECTION, COUNTER, SOLE

NOTE = "sim.note"
VECTORS = "delta.enableDeletionVectors"
_PARTITIONS = ("a", "b", "c")
_APPS = ("stream-1", "stream-2")


@dataclass(frozen=True, slots=True)
class Decision:
    """A change, decided; with the rows that its file has and those that its vector deletes."""

    operation: str
    claim: Claim
    actions: tuple[Action, ...] = ()
    reads: ReadSet = BLIND
    changes_data: bool = True
    rows: tuple[str, ...] = ()
    vector: tuple[str, frozenset[str]] | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rows:
    """Which rows every file ever had, and which of them a deletion vector takes away."""

    of_file: dict[str, tuple[str, ...]] = field(default_factory=dict)
    of_vector: dict[str, frozenset[str]] = field(default_factory=dict)

    def live(self, path: str, vector: str | None) -> tuple[str, ...]:
        """The rows of a file that are not deleted."""
        gone = self.of_vector[vector] if vector is not None else frozenset()
        return tuple(row for row in self.of_file.get(path, (path,)) if row not in gone)


@dataclass(frozen=True, slots=True)
class Moment:
    """The table as a writer sees it, and how it chooses."""

    sight: Sight
    state: State
    rows: Rows
    chance: random.Random
    data_file: str

    @property
    def claim(self) -> Claim:
        """The claim of one who looked at no row."""
        return Claim(self.sight.version, self.sight.properties)

    @property
    def is_partitioned(self) -> bool:
        return bool(self.state.metadata.partition_columns)

    def partition(self) -> str | None:
        return self.chance.choice(_PARTITIONS) if self.is_partitioned else None

    def new_rows(self) -> tuple[str, ...]:
        return tuple(f"{self.data_file}#{number}" for number in range(self.chance.randint(1, 3)))

    def add(self, partition: str | None, rows: tuple[str, ...], *, data_change: bool = True) -> AddFile:
        return AddFile(
            path=self.data_file,
            partition_values={PARTITION: partition} if self.is_partitioned else {},
            size=10 * len(rows),
            modification_time=EpochMillis(1),
            data_change=data_change,
            stats=f'{{"numRecords":{len(rows)}}}',
        )

    def remove(self, path: str, *, data_change: bool = True) -> RemoveFile:
        file = self.sight.files[path]
        return RemoveFile(
            path=path,
            data_change=data_change,
            partition_values={PARTITION: file.partition} if self.is_partitioned else {},
            size=file.size,
            deletion_vector=None if file.vector is None else _vector(file.vector, 1),
            base_row_id=file.base_row_id,
            default_row_commit_version=file.row_version,
        )

    def reads(self, partition: str | None) -> ReadSet:
        """Having asked for all rows of a partition."""
        if not self.is_partitioned:
            return ReadSet(whole_table=True)
        schema = schema_json.parse(self.state.metadata.schema_string)
        predicate = from_sql.parse(f"{PARTITION} = '{partition}'", schema)
        return ReadSet((predicate,), self.sight.within(partition))

    def rows_in(self, partition: str | None) -> frozenset[str]:
        """The rows that are in a partition."""
        found = ((path, self.sight.files[path].vector) for path in self.sight.within(partition))
        return frozenset(row for path, vector in found for row in self.rows.live(path, vector))

    def files(self, paths: tuple[str, ...]) -> dict[str, str | None]:
        return {path: self.sight.files[path].vector for path in paths}


def append(now: Moment) -> Decision:
    """Append, having seen nothing."""
    rows = now.new_rows()
    return Decision("WRITE", now.claim, (now.add(now.partition(), rows),), rows=rows)


def _stream(now: Moment) -> Decision:
    """The next batch of an application that looks up which was its last."""
    app, rows = now.chance.choice(_APPS), now.new_rows()
    last = now.sight.txns.get(app)
    txn = AppTransaction(app_id=app, version=1 if last is None else last + 1)
    claim = replace(now.claim, apps={app: last})
    reads = ReadSet(app_ids=frozenset({app}))
    return Decision("STREAMING UPDATE", claim, (now.add(now.partition(), rows), txn), reads, rows=rows)


def _overwrite(now: Moment) -> Decision:
    rows = now.new_rows()
    removes = tuple(map(now.remove, now.sight.files))
    claim = replace(now.claim, everything=frozenset(now.sight.files))
    actions = (now.add(now.partition(), rows), *removes)
    return Decision("OVERWRITE", claim, actions, ReadSet(whole_table=True), rows=rows)


def _replace(now: Moment) -> Decision:
    """Overwrite one partition."""
    rows, partition = now.new_rows(), now.partition()
    found = now.sight.within(partition)
    actions = (now.add(partition, rows), *map(now.remove, sorted(found)))
    claim = replace(now.claim, partitions={partition: now.rows_in(partition)})
    return Decision("REPLACE WHERE", claim, actions, now.reads(partition), rows=rows)


def _derive(now: Moment) -> Decision:
    """Read one partition and append to another: two of these may each miss what the other adds."""
    rows, source = now.new_rows(), now.partition()
    claim = replace(now.claim, partitions={source: now.rows_in(source)})
    return Decision("DERIVE", claim, (now.add(now.partition(), rows),), now.reads(source), rows=rows)


def _delete(now: Moment) -> Decision | None:
    """Delete a file, having searched its partition."""
    if not now.sight.files:
        return None
    path = now.chance.choice(sorted(now.sight.files))
    partition = now.sight.files[path].partition
    claim = replace(now.claim, partitions={partition: now.rows_in(partition)}, files=now.files((path,)))
    return Decision("DELETE", claim, (now.remove(path),), now.reads(partition))


def _drop(now: Moment) -> Decision | None:
    """Delete a file without looking at anything but its name."""
    if not now.sight.files:
        return None
    path = now.chance.choice(sorted(now.sight.files))
    return Decision("DROP FILE", now.claim, (now.remove(path),))


def _copy(now: Moment) -> Decision | None:
    """Append what was computed from the rows of one file, which must be there until then."""
    if not now.sight.files:
        return None
    path, rows = now.chance.choice(sorted(now.sight.files)), now.new_rows()
    claim = replace(now.claim, files=now.files((path,)))
    reads = ReadSet(files=frozenset({path}))
    return Decision("COPY", claim, (now.add(now.partition(), rows),), reads, rows=rows)


def _mark_deleted(now: Moment) -> Decision | None:
    """Delete one row of a file by a deletion vector."""
    whole = sorted(path for path, file in now.sight.files.items() if file.vector is None and file.records > 1)
    if not whole or now.sight.properties.get(VECTORS) != "true":
        return None
    path = now.chance.choice(whole)
    name, file = f"dv-{now.data_file}", now.sight.files[path]
    marked = AddFile(
        path=path,
        partition_values={PARTITION: file.partition} if now.is_partitioned else {},
        size=file.size,
        modification_time=EpochMillis(1),
        data_change=True,
        stats=f'{{"numRecords":{file.records},"tightBounds":false}}',
        deletion_vector=_vector(name, 1),
        base_row_id=file.base_row_id,
        default_row_commit_version=file.row_version,
    )
    claim = replace(now.claim, files=now.files((path,)))
    return Decision(
        "MARK DELETED",
        claim,
        (now.remove(path), marked),
        ReadSet(files=frozenset({path})),
        vector=(name, frozenset(now.rows.of_file[path][:1])),
    )


def _optimize(now: Moment) -> Decision | None:
    """Put the rows of two files of a partition into one."""
    partition = now.partition()
    found = tuple(sorted(now.sight.within(partition)))[:2]
    rows = tuple(row for path in found for row in now.rows.live(path, now.sight.files[path].vector))
    if len(found) < 2 or not rows:
        return None
    removes = tuple(now.remove(path, data_change=False) for path in found)
    claim = replace(now.claim, files=now.files(found))
    actions = (now.add(partition, rows, data_change=False), *removes)
    return Decision(
        "OPTIMIZE", claim, actions, ReadSet(files=frozenset(found)), changes_data=False, rows=rows
    )


def _note(now: Moment) -> Decision:
    return _set(now, {NOTE: now.data_file})


def _stamp(now: Moment) -> Decision | None:
    """Switch in-commit timestamps on."""
    return None if now.sight.properties.get(STAMPS) == "true" else _set(now, {STAMPS: "true"})


def _set(now: Moment, properties: dict[str, str]) -> Decision:
    before = now.state
    configuration = {**before.metadata.configuration, **properties}
    metadata: Metadata = msgspec.structs.replace(before.metadata, configuration=configuration)
    protocol = protocol_upgrade.protocol_for_changed_table(before.protocol, metadata)
    actions: tuple[Action, ...] = (metadata,) if protocol == before.protocol else (protocol, metadata)
    said = {"properties": msgspec.json.encode(properties).decode()}
    return Decision("SET TBLPROPERTIES", now.claim, actions, parameters=said)


def _count(now: Moment) -> Decision:
    step = now.chance.randint(1, 9)
    total = int(now.sight.domains.get(COUNTER, "0")) + step
    return _domain(now, rules.SetDomain(COUNTER, str(total)), replace(now.claim, counted=step))


def _collect(now: Moment) -> Decision:
    before = msgspec.json.decode(now.sight.domains.get(COLLECTION, "[]"), type=list[str])
    value = msgspec.json.encode([*before, now.data_file]).decode()
    claim = replace(now.claim, collected=frozenset({now.data_file}))
    return _domain(now, rules.SetDomain(COLLECTION, value), claim)


def _take(now: Moment) -> Decision:
    """Set or remove a domain that nobody merges, because of what it was."""
    before = now.sight.domains.get(SOLE)
    claim = replace(now.claim, domains={SOLE: before})
    edit: rules.DomainEdit = rules.SetDomain(SOLE, now.data_file)
    if before is not None and now.chance.random() < 0.3:
        edit = rules.RemoveDomain(SOLE)
    return _domain(now, edit, claim)


def _domain(now: Moment, edit: rules.DomainEdit, claim: Claim) -> Decision:
    actions = rules.domain_actions(now.state.protocol, now.state.domains, (edit,))
    assert any(isinstance(action, DomainMetadata) for action in actions)
    return Decision("DOMAIN METADATA", claim, actions)


def _vector(name: str, cardinality: int) -> DeletionVector:
    return DeletionVector(storage_type="p", path_or_inline_dv=name, size_in_bytes=1, cardinality=cardinality)


Decide = Callable[[Moment], Decision | None]
_OPERATIONS: Mapping[str, tuple[Decide, int]] = {
    "append": (append, 5),
    "stream": (_stream, 2),
    "overwrite": (_overwrite, 1),
    "replace": (_replace, 3),
    "derive": (_derive, 4),
    "delete": (_delete, 3),
    "drop": (_drop, 2),
    "copy": (_copy, 2),
    "mark_deleted": (_mark_deleted, 2),
    "optimize": (_optimize, 3),
    "note": (_note, 1),
    "stamp": (_stamp, 1),
    "count": (_count, 3),
    "collect": (_collect, 1),
    "take": (_take, 1),
}
"""Every operation, and how often it is chosen."""
_FAVOURED = 12


def choose(chance: random.Random, favours: frozenset[str]) -> Decide:
    """What a writer does next; where it cannot be done, the writer appends."""
    weights = [weight * (_FAVOURED if name in favours else 1) for name, (_, weight) in _OPERATIONS.items()]
    name = chance.choices(list(_OPERATIONS), weights)[0]
    return _OPERATIONS[name][0]
