"""Attempts and tables made of a few words, for tests of what may follow what.

A side of a race is a list of words, what it read first and then what it does:

    reads:<sql>  reads-file:<path>  reads-all  reads-app:<id>  reads-domains
    append  append:<partition>  overwrite  delete:<path>  rearrange:<path>  vector:<path>  again:<path>
    set:<key>=<value>  unset:<key>  metadata  describe:<text>  protocol  feature:+<name>  feature:-<name>
    hides:<path>=<rows>  sees:<path>=<rows>  finds-none
    domain:<name>=<configuration>  undomain:<name>  app:<id>=<number>  operation:<name>  identity  unsaid
    mark:<number>, of the identity column "id"

A table is a list of words too: partitioned:<column>, tracked, stamped, feature:<name>, set:<key>=<value>,
identity.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import (
    Action,
    AddFile,
    AppTransaction,
    Commit,
    CommitInfo,
    DeletionVector,
    DomainMetadata,
    EpochMillis,
    Format,
    Metadata,
    Protocol,
    RemoveFile,
    TxnId,
    Version,
    commit_from_actions,
)
from headgate.protocol.domains.rules import Handlers
from headgate.protocol.features import identity_columns
from headgate.protocol.features.identity_columns import IdentitySpec
from headgate.protocol.log import deletion_vectors, replay
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.log.replay import State
from headgate.protocol.predicates import from_sql
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.protocol.stats import record_counts
from headgate.protocol.transaction.attempt import Attempt, ReadSet
from headgate.protocol.transaction.row_access import TouchedRows

COLUMNS = ("id", "p", "q")
SCHEMA = {
    "type": "struct",
    "fields": [{"name": name, "type": "long", "nullable": True, "metadata": {}} for name in COLUMNS],
}
_IDENTITY = Field("id", Primitive("long"), metadata=IdentitySpec(1, 1).written())
_WITH_IDENTITY = schema_json.to_json_value(
    Struct((_IDENTITY, *(Field(name, Primitive("long")) for name in "pq")))
)
BASE = 7
"""The version that every side of a race has read."""


def table(words: Iterable[str] = ()) -> State:
    """A table at version BASE."""
    configuration: dict[str, str] = {}
    features: list[str] = []
    partitioned: list[str] = []
    schema: Any = SCHEMA
    for word in words:
        kind, _, rest = word.partition(":")
        match kind:
            case "partitioned":
                partitioned.append(rest)
            case "tracked":
                features += ["rowTracking", "domainMetadata"]
            case "stamped":
                features.append("inCommitTimestamp")
                configuration["delta.enableInCommitTimestamps"] = "true"
            case "feature":
                features.append(rest)
            case "set":
                key, _, value = rest.partition("=")
                configuration[key] = value
            case "identity":
                schema = _WITH_IDENTITY
            case _:
                raise ValueError(word)
    metadata = Metadata(
        id="11111111-1111-1111-1111-111111111111",
        format=Format(provider="parquet", options={}),
        schema_string=msgspec.json.encode(schema).decode(),
        partition_columns=tuple(partitioned),
        configuration=configuration,
    )
    legacy = Protocol(min_reader_version=1, min_writer_version=2)
    protocol = protocol_upgrade.protocol_for_changed_table(legacy, metadata, asked=features)
    info = CommitInfo(in_commit_timestamp=EpochMillis(1_000), operation="CREATE TABLE")
    state = replay.initial_state(commit_from_actions(Version(0), (info, protocol, metadata)))
    return replace(state, version=Version(BASE))


@dataclass(frozen=True)
class Side:
    """One side of a race: its attempt, and the commit it would be if it won."""

    attempt: Attempt
    tags: Mapping[str, str]
    says_blind: bool

    def as_winner(self) -> Commit:
        """The commit in the log."""
        attempt = self.attempt
        info = CommitInfo(
            in_commit_timestamp=EpochMillis(attempt.timestamp) if attempt.has_in_commit_timestamp else None,
            operation=attempt.operation,
            is_blind_append=attempt.is_blind_append if self.says_blind else None,
            isolation_level=attempt.isolation,
            txn_id=TxnId(attempt.operation),
            tags=self.tags or None,
        )
        return commit_from_actions(attempt.target, (info, *attempt.actions))


def side(
    name: str, words: Iterable[str], state: State, *, handlers: Handlers | None = None, now: int = 5_000
) -> Side:
    """What the words say, done by an operation called ``name`` that read ``state``."""
    told = [(word.partition(":")[0], word.partition(":")[2]) for word in words]
    operation = next((rest for kind, rest in told if kind == "operation"), name.upper())
    attempt = Attempt(
        read=state,
        follows=state,
        operation=operation,
        reads=_reads(told, state),
        actions=tuple(_actions(told, name, state)),
        timestamp=EpochMillis(now),
        handlers=lambda: handlers or {},
        rows=_row_work(told),
    )
    kinds = {kind for kind, _ in told}
    tags = {"delta.identity.schemaUpdate": "true"} if "identity" in kinds else {}
    return Side(attempt, tags, says_blind="unsaid" not in kinds)


Told = Sequence[tuple[str, str]]
_ALTERING, _UPGRADING = ("set", "unset", "describe", "metadata", "mark"), ("protocol", "feature")
_ELSEWHERE = (
    "reads",
    "reads-file",
    "reads-all",
    "reads-app",
    "reads-domains",
    "operation",
    "identity",
    "unsaid",
    "sees",
    "finds-none",
)


def _reads(told: Told, state: State) -> ReadSet:
    schema = schema_json.parse(state.metadata.schema_string)
    return ReadSet(
        predicates=tuple(from_sql.parse(rest, schema) for kind, rest in told if kind == "reads"),
        files=frozenset(
            rest.partition("=")[0]
            for kind, rest in told
            if kind in ("reads-file", "rearrange", "vector", "hides", "sees")
        ),
        whole_table=any(kind in ("reads-all", "overwrite") for kind, _ in told),
        app_ids=frozenset(rest for kind, rest in told if kind == "reads-app"),
        domains=any(kind == "reads-domains" for kind, _ in told),
    )


def _actions(told: Told, name: str, state: State) -> Iterator[Action]:
    protocol, metadata = state.protocol, state.metadata
    for number, (kind, rest) in enumerate(told):
        if kind in _ALTERING:
            metadata = _altered(metadata, kind, rest)
        elif kind in _UPGRADING:
            protocol = _with_feature(protocol, rest) if rest else protocol
        elif kind not in _ELSEWHERE:
            yield from _action(kind, rest, name, number)
    kinds = {kind for kind, _ in told}
    if kinds & set(_UPGRADING):
        yield protocol
    if kinds & set(_ALTERING):
        yield metadata


def _action(kind: str, rest: str, name: str, number: int) -> Iterator[Action]:
    key, _, value = rest.partition("=")
    match kind:
        case "append" | "overwrite":
            yield added(f"{name}-{number}.parquet", _partition(rest))
        case "delete":
            yield RemoveFile(path=rest, data_change=True)
        case "rearrange":
            yield RemoveFile(path=rest, data_change=False)
            yield msgspec.structs.replace(added(f"{name}-{rest}", {}), data_change=False)
        case "vector":
            yield RemoveFile(path=rest, data_change=True)
            yield with_vector(added(rest, {}), name)
        case "hides":
            yield RemoveFile(path=key, data_change=True)
            yield msgspec.structs.replace(
                added(key, {}), deletion_vector=deletion_vectors.encode_inline(_rows(value))
            )
        case "again":
            yield msgspec.structs.replace(added(rest, {}), data_change=False)
        case "domain":
            yield DomainMetadata(domain=key, configuration=value, removed=False)
        case "undomain":
            yield DomainMetadata(domain=rest, configuration="", removed=True)
        case "app":
            yield AppTransaction(app_id=key, version=int(value))
        case _:
            raise ValueError(kind)


def added(path: str, partition: Mapping[str, str | None], *, records: int | None = 10) -> AddFile:
    """An add of a file with so many rows."""
    return AddFile(
        path=path,
        partition_values=partition,
        size=1,
        modification_time=EpochMillis(1),
        data_change=True,
        stats=None if records is None else f'{{"numRecords":{records},"tightBounds":false}}',
    )


def with_vector(add: AddFile, name: str) -> AddFile:
    """The same file with a deletion vector of that name."""
    vector = DeletionVector(storage_type="p", path_or_inline_dv=name, size_in_bytes=1, cardinality=1)
    return msgspec.structs.replace(add, deletion_vector=vector)


class InlineRows:
    """Vectors that lie in the log, and an answer known beforehand: whether winners' rows would be read."""

    def __init__(self, *, selects: bool) -> None:
        self._selects = selects

    def hidden(self, wanted: Sequence[DeletionVector]) -> list[DeletedRows]:
        return [deletion_vectors.parse_inline(vector) for vector in wanted]

    def hide(self, rows: DeletedRows) -> DeletionVector:
        return deletion_vectors.encode_inline(rows)

    def selects(self, adds: Sequence[AddFile]) -> bool:
        return bool(adds) and self._selects

    def counted(self, file: AddFile) -> int | None:
        return record_counts.counts_of_file(file).num_records


def _row_work(told: Told) -> TouchedRows | None:
    kinds = {kind for kind, _ in told}
    if not kinds & {"hides", "sees", "finds-none"}:
        return None
    changed, seen = (
        {path: _rows(rows) for one, rest in told if one == kind for path, _, rows in (rest.partition("="),)}
        for kind in ("hides", "sees")
    )
    return TouchedRows(InlineRows(selects="finds-none" not in kinds), changed, seen)


def _rows(text: str) -> DeletedRows:
    return DeletedRows.from_rows(int(number) for number in text.split(","))


def _partition(text: str) -> dict[str, str | None]:
    pairs = (pair.split("=") for pair in text.split("/") if pair)
    return {key: value or None for key, value in pairs}


def _altered(metadata: Metadata, kind: str, rest: str) -> Metadata:
    key, _, value = rest.partition("=")
    configuration = dict(metadata.configuration)
    match kind:
        case "set":
            configuration[key] = value
        case "unset":
            del configuration[key]
        case "mark":
            return identity_columns.with_high_water_marks(metadata, {"id": int(rest)})
        case "describe":
            return msgspec.structs.replace(metadata, description=rest)
        case _:
            return metadata
    return msgspec.structs.replace(metadata, configuration=configuration)


def _with_feature(protocol: Protocol, change: str) -> Protocol:
    if change.startswith("+"):
        return protocol_upgrade.with_features(protocol, (change[1:],))
    writers = tuple(name for name in protocol.writer_features or () if name != change[1:])
    readers = protocol.reader_features and tuple(
        name for name in protocol.reader_features if name != change[1:]
    )
    return msgspec.structs.replace(protocol, writer_features=writers, reader_features=readers)
