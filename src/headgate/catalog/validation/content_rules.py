"""What must hold of the actions of every commit, whatever the table: the rules, as rows.

They need nothing but the commit. Those that compare it with the table are in ``table_rules``.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from headgate.catalog.ports.commits import TableState, txn_id_from_file_name
from headgate.catalog.validation import path_containment, system_domain_rules
from headgate.catalog.validation.number_ranges import MAX_TIMESTAMP_MS, out_of_range
from headgate.errors import CorruptLog, HeadgateError
from headgate.protocol import property_values, table_features
from headgate.protocol.actions import (
    Action,
    AddCdcFile,
    AddFile,
    Commit,
    CommitInfo,
    EpochMillis,
    Format,
    Metadata,
    Protocol,
    RemoveFile,
    TxnId,
    Version,
)
from headgate.protocol.conflicts import preconditions
from headgate.protocol.log import deletion_vectors, in_commit_timestamps, strict_codec, strict_schema
from headgate.protocol.log.replay import State
from headgate.protocol.log.strict_codec import Breach
from headgate.protocol.metadata import table_properties
from headgate.protocol.schema import evolution
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Primitive
from headgate.protocol.transaction.attempt import BLIND, Attempt

MALFORMED = "HEADGATE_COMMIT_MALFORMED"
_LONGEST_TXN_ID = 256
_PREVIEW = "catalogOwned-preview"

_REPLACING = frozenset({"RESTORE", "CLONE", "CONVERT", "TRUNCATE"})
_OVERWRITING = frozenset({"overwrite", "complete"})  # how batches and streams say it


@dataclass(frozen=True)  # without slots: what is derived is worked out once
class ProposedCommit:
    """A commit under review: its actions in the order of its lines, and the table it would follow."""

    txn_id: TxnId
    actions: tuple[Action, ...]
    commit: Commit
    before: TableState | None = None
    """What the table is, if that was asked for and is known."""
    sources: Collection[str] = field(default=())
    """Where files may be besides the table, because it was cloned from there."""
    credentials: Mapping[str, str] = field(default_factory=dict)
    """The properties that look like a credential, and why; new ones must not."""
    file_name: str | None = None  # of its staged file: by that it is known if it names no transaction

    @cached_property
    def attempt(self) -> Attempt:
        """The same as its writer saw it, for the rules that writers keep too."""
        follows = State(
            Version(self.commit.version - 1),
            _NO_PROTOCOL if self.before is None else self.before.protocol,
            _NO_METADATA if self.before is None else self.before.metadata,
            None,
        )
        info = self.commit.info
        return Attempt(
            read=follows,
            follows=follows,
            operation=(info.operation if info is not None else None) or "the commit",
            reads=BLIND,
            actions=self.actions[1:],
            timestamp=(info.in_commit_timestamp if info is not None else None) or EpochMillis(0),
        )

    @property
    def metadata(self) -> Metadata | None:
        """The metadata once this is committed, if it is known."""
        return self.commit.metadata or (self.before.metadata if self.before is not None else None)

    @property
    def protocol(self) -> Protocol | None:
        """The protocol once this is committed, if it is known."""
        return self.commit.protocol or (self.before.protocol if self.before is not None else None)

    @property
    def replaces_table(self) -> bool:
        """Whether it says that none of the files before it stay, so that columns may become anything."""
        info = self.commit.info
        if info is None or info.operation is None:
            return False
        said, operation = info.operation_parameters or {}, info.operation.upper()
        modes = {str(said.get(name)).strip('"').lower() for name in ("mode", "outputMode")}
        return bool(modes & _OVERWRITING) or "REPLACE" in operation or operation in _REPLACING

    def breach(self, action: Action, why: str, code: str | None = None) -> Breach:
        """What is wrong with this action, which is one of the commit's."""
        line = next((n for n, each in enumerate(self.actions, 1) if each is action), 0)
        return Breach(line, strict_codec.ACTION_NAMES.get(type(action), ""), why, code)

    def of(self, *kinds: type[Action]) -> Iterator[Action]:
        """The actions of these kinds."""
        return (action for action in self.actions if isinstance(action, kinds))


_NO_PROTOCOL = Protocol(min_reader_version=3, min_writer_version=7)
_NO_METADATA = Metadata(
    id="",
    format=Format(provider="parquet", options={}),
    schema_string='{"type":"struct","fields":[]}',
    partition_columns=(),
    configuration={},
)


@dataclass(frozen=True, slots=True)
class ContentRule:
    """One row: to which commits it applies, what breaks it, the same in words, and the error's code."""

    name: str
    applies: Callable[[ProposedCommit], bool]
    check: Callable[[ProposedCommit], Breach | None]
    says: str
    code: str = MALFORMED


def first_breach(
    rules: tuple[ContentRule, ...], proposed: ProposedCommit
) -> tuple[ContentRule, Breach] | None:
    """The first rule that the commit breaks, and how."""
    for rule in rules:
        if rule.applies(proposed) and (found := _checked(rule, proposed)) is not None:
            return rule, found
    return None


def _checked(rule: ContentRule, proposed: ProposedCommit) -> Breach | None:
    try:
        return rule.check(proposed)
    except (HeadgateError, msgspec.DecodeError, RecursionError) as exc:
        # A schema or a configuration that cannot be parsed.
        return Breach(0, "", str(exc))


def always(_: ProposedCommit) -> bool:
    """Of every commit."""
    return True


def writes_metadata(proposed: ProposedCommit) -> bool:
    """Of a commit with a metaData action."""
    return proposed.commit.metadata is not None


def writes_protocol(proposed: ProposedCommit) -> bool:
    """Of a commit with a protocol action."""
    return proposed.commit.protocol is not None


def writes_domains(proposed: ProposedCommit) -> bool:
    """Of a commit with a domainMetadata action."""
    return bool(proposed.commit.domains)


def _several_actions(proposed: ProposedCommit) -> bool:
    return len(proposed.actions) > 2  # a commitInfo and one more can contradict nothing


def _commit_info_not_first(proposed: ProposedCommit) -> Breach | None:
    for line, action in enumerate(proposed.actions, 1):
        if isinstance(action, CommitInfo) is not (line == 1):
            return proposed.breach(action, "commitInfo must be the first action, and there must be no other")
    return None


def _missing_timestamp(proposed: ProposedCommit) -> Breach | None:
    info = proposed.actions[0]
    stamp = info.in_commit_timestamp if isinstance(info, CommitInfo) else None
    if stamp is None:
        return Breach(1, "commitInfo", "it must have an inCommitTimestamp on a catalog-managed table")
    if not 0 < stamp <= MAX_TIMESTAMP_MS:
        return Breach(1, "commitInfo", f"inCommitTimestamp {stamp} is no moment that others can come after")
    return None


def _wrong_txn_id(proposed: ProposedCommit) -> Breach | None:
    info = proposed.actions[0]
    found = info.txn_id if isinstance(info, CommitInfo) else None
    found = found or (txn_id_from_file_name(proposed.file_name) if proposed.file_name else None)
    if found != proposed.txn_id:
        why = f"commitInfo.txnId is {found!r} but the proposal's is {proposed.txn_id!r}: they must agree"
        return Breach(1, "commitInfo", why)
    if not found or len(found) > _LONGEST_TXN_ID or not found.isprintable():
        return Breach(1, "commitInfo", f"txnId must be 1 to {_LONGEST_TXN_ID} printable characters")
    return None


def _as_writers_check(name: str) -> Callable[[ProposedCommit], Breach | None]:
    """A rule that writers of Headgate keep before they propose anything."""
    row = next(row for row in preconditions.PRECONDITIONS if row.name == name)

    def check(proposed: ProposedCommit) -> Breach | None:
        why = row.breach(proposed.attempt)
        if why is None:
            return None
        files = proposed.of(AddFile, RemoveFile)
        action = next((each for each in files if why.startswith(getattr(each, "path", ""))), None)
        return Breach(0, "", why, row.code) if action is None else proposed.breach(action, why, row.code)

    return check


def _illegal_path(proposed: ProposedCommit) -> Breach | None:
    for line, action in enumerate(proposed.actions, 1):
        if isinstance(action, AddFile | RemoveFile | AddCdcFile) and (
            why := path_containment.path_problem(action.path)
        ):
            return Breach(line, strict_codec.ACTION_NAMES[type(action)], f"the path {action.path!r} {why}")
    return None


def _number_out_of_range(proposed: ProposedCommit) -> Breach | None:
    for line, action in enumerate(proposed.actions, 1):
        if why := out_of_range(action):
            return Breach(line, strict_codec.ACTION_NAMES[type(action)], why)
    return None


def _illegal_vector_path(proposed: ProposedCommit) -> Breach | None:
    files: tuple[AddFile | RemoveFile, ...] = (*proposed.commit.adds, *proposed.commit.removes)
    for action in files:
        vector = action.deletion_vector
        if vector is not None and (why := path_containment.vector_path_problem(vector)):
            return proposed.breach(action, f"the deletion vector {vector.path_or_inline_dv!r} {why}")
    return None


def _unreadable_vector(proposed: ProposedCommit) -> Breach | None:
    for action in proposed.commit.adds:
        if (vector := action.deletion_vector) is None:
            continue
        try:
            if isinstance(deletion_vectors.vector_location(vector), deletion_vectors.InlineVector):
                deletion_vectors.parse_inline(vector)
        except CorruptLog as exc:
            return proposed.breach(action, exc.message, exc.code)
    return None


def _has_vectors(proposed: ProposedCommit) -> bool:
    files: tuple[AddFile | RemoveFile, ...] = (*proposed.commit.adds, *proposed.commit.removes)
    return any(file.deletion_vector is not None for file in files)


def _drops_catalog_managed(proposed: ProposedCommit) -> Breach | None:
    protocol = proposed.commit.protocol
    managed = table_features.find_feature(table_features.CATALOG_MANAGED)
    if protocol is None or managed is None:
        return None
    # A table may still be made as Delta 4.0.0 did, under the name the feature had then.
    is_preview = proposed.commit.version == 0 and protocol.has(_PREVIEW)
    for name in (_PREVIEW if is_preview else managed.name, *managed.requires):
        row = table_features.find_feature(name)
        lists = [protocol.writer_features or (), protocol.reader_features or ()]
        if any(name not in listed for listed in lists[: 2 if row is None or row.reader else 1]):
            why = f"it does not name {name}, which a catalog-managed table must have; a table leaves its "
            return proposed.breach(protocol, why + "catalog by a way of its own, not by a commit")
    return None


def _disables_timestamps(proposed: ProposedCommit) -> Breach | None:
    metadata = proposed.commit.metadata
    if metadata is None or in_commit_timestamps.has_in_commit_timestamps(metadata):
        return None
    why = f"{property_values.IN_COMMIT_TIMESTAMPS} must stay true on a catalog-managed table"
    return proposed.breach(metadata, why)


def _protocol_request_as_property(proposed: ProposedCommit) -> Breach | None:
    metadata = proposed_metadata(proposed)
    for key in metadata.configuration:
        lower = key.lower()
        if lower.startswith(table_properties.FEATURE_PREFIX) or lower in _PROTOCOL_VERSION_REQUESTS:
            return proposed.breach(metadata, f"{key} is a wish about the protocol, not a property")
    return None


_PROTOCOL_VERSION_REQUESTS = frozenset(
    {table_properties.MIN_READER.lower(), table_properties.MIN_WRITER.lower()}
)


def proposed_metadata(proposed: ProposedCommit) -> Metadata:
    """The metaData action of a commit that has one."""
    return proposed.commit.metadata or _NO_METADATA


def _invalid_schema(proposed: ProposedCommit) -> Breach | None:
    metadata = proposed_metadata(proposed)
    if odd := strict_schema.schema_breach(metadata.schema_string):
        return proposed.breach(metadata, odd)
    schema = schema_json.parse(metadata.schema_string)
    if twice := evolution.duplicate_column(schema):
        why = f"the column {twice!r} is there twice (names are compared ignoring case)"
        return proposed.breach(metadata, why, "DELTA_DUPLICATE_COLUMNS_FOUND")
    if metadata.format.provider != "parquet":
        return proposed.breach(metadata, f"the files are {metadata.format.provider!r}, not parquet")
    mapped = evolution.column_mapping_breach(metadata)
    return None if mapped is None else proposed.breach(metadata, mapped)


def _invalid_partition_columns(proposed: ProposedCommit) -> Breach | None:
    metadata = proposed_metadata(proposed)
    names = Counter(name.lower() for name in metadata.partition_columns)
    schema = schema_json.parse(metadata.schema_string)
    columns = schema.find_all(metadata.partition_columns)
    for name, column in zip(metadata.partition_columns, columns, strict=True):
        if column is None or column.name != name:  # some readers look for it by the very letter
            return proposed.breach(metadata, f"the partition column {name!r} is not in the schema")
        if not isinstance(column.type, Primitive) or names[name.lower()] > 1:
            why = f"the partition column {name!r} is no single column of a plain type"
            return proposed.breach(metadata, why)
    return None


def _forged_domain(proposed: ProposedCommit) -> Breach | None:
    for action in proposed.commit.domains:
        if why := system_domain_rules.domain_problem(action, proposed.commit.adds):
            return proposed.breach(action, why)
    return None


_DEPENDENCIES = "DELTA_CANNOT_MODIFY_CATALOG_MANAGED_DEPENDENCIES"
_ONCE = tuple(
    ContentRule(name, _several_actions, _as_writers_check(name), says, "DELTA_DUPLICATE_ACTIONS_FOUND")
    for name, says in (
        ("one-protocol-one-metadata", "there is at most one protocol and one metaData"),
        ("files-once", "a file with its deletion vector is added or removed once"),
        ("applications-once", "an application has one transaction"),
    )
)

RULES: tuple[ContentRule, ...] = (
    ContentRule(
        "commit-info-first", always, _commit_info_not_first,
        "the first action, and no other, is a commitInfo", "DELTA_MISSING_COMMIT_INFO",
    ),
    ContentRule(
        "stamped", always, _missing_timestamp,
        "commitInfo has an inCommitTimestamp", "DELTA_MISSING_COMMIT_TIMESTAMP",
    ),
    ContentRule("identified", always, _wrong_txn_id, "commitInfo has the txnId of the proposal"),
    ContentRule(
        "paths-inside", always, _illegal_path,
        "no path has a backslash, a control character, or a part of nothing but dots, or is in the log",
    ),
    ContentRule(
        "numbers", always, _number_out_of_range,
        "sizes, times, versions, row ids, offsets and counts are from 0 to what a table's sums can hold",
    ),
    ContentRule("vectors-inside", _has_vectors, _illegal_vector_path, "nor does that of a deletion vector"),
    ContentRule(
        "vectors-readable", _has_vectors, _unreadable_vector,
        "a deletion vector names a file, or is one itself, with as many rows as it says",
    ),
    *_ONCE,
    ContentRule(
        "stays-managed", writes_protocol, _drops_catalog_managed,
        "the protocol keeps catalogManaged and what it depends on", _DEPENDENCIES,
    ),
    ContentRule(
        "stays-stamped", writes_metadata, _disables_timestamps,
        "in-commit timestamps stay enabled", _DEPENDENCIES,
    ),
    ContentRule(
        "no-wishes", writes_metadata, _protocol_request_as_property,
        "no property is a wish about the protocol, `delta.feature.…`",
    ),
    ContentRule(
        "columns", writes_metadata, _invalid_schema,
        "every reader can parse the schema, it has no column twice, and mapped columns have ids of their own",
    ),
    ContentRule(
        "partition-columns", writes_metadata, _invalid_partition_columns,
        "partition columns are columns", "DELTA_INVALID_PARTITIONING_SCHEMA",
    ),
    ContentRule(
        "system-domains", writes_domains, _forged_domain,
        "of Delta's own domains only `delta.rowTracking` and `delta.clustering` are written, and well-formed",
        "HEADGATE_DOMAIN_RESERVED",
    ),
)  # fmt: skip
