"""Commits that the catalog refuses, each by one rule; the rules are checked one by one with them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from headgate.catalog.ports.commits import TableState
from headgate.protocol.actions import (
    Action,
    AppTransaction,
    CommitInfo,
    DeletionVector,
    DomainMetadata,
    EpochMillis,
    Metadata,
    Protocol,
    RemoveFile,
    TxnId,
)
from headgate.protocol.log import codec
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, Field, Map, Primitive, Struct
from tests.support.tables import named_file

ADD = named_file("a.parquet")
VECTOR = DeletionVector(storage_type="u", path_or_inline_dv="a" * 20, size_in_bytes=1, cardinality=1)
Build = Callable[[TableState], tuple[Action | bytes, ...]]


def with_properties(metadata: Metadata, **properties: str | None) -> Metadata:
    changed = {**metadata.configuration, **{key.replace("_", "."): text for key, text in properties.items()}}
    configuration = {key: value for key, value in changed.items() if value is not None}
    return msgspec.structs.replace(metadata, configuration=configuration)


def columns(metadata: Metadata, *wanted: Field) -> Metadata:
    return msgspec.structs.replace(metadata, schema_string=schema_json.render(Struct(wanted)))


def with_features(protocol: Protocol, *more: str, without: tuple[str, ...] = ()) -> Protocol:
    readers = {"deletionVectors", "columnMapping", "typeWidening"}
    kept = [name for name in protocol.writer_features or () if name not in without]
    read = [name for name in protocol.reader_features or () if name not in without]
    return msgspec.structs.replace(
        protocol,
        writer_features=tuple(sorted({*kept, *more})),
        reader_features=tuple(sorted({*read, *(name for name in more if name in readers)})),
    )


ID, WRITER = Field("id", Primitive("long")), Field("writer", Primitive("string"))
PARTS = Field("parts", Array(Struct((ID,)), contains_null=True))
HOLLOW = Field("parts", Array(Struct(()), contains_null=True))


def mapped(name: str, number: int, physical: str, kind: str = "long") -> Field:
    keys = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": physical}
    return Field(name, Primitive(kind), metadata=keys)


def _naming(metadata: Metadata, *wanted: Field, most: int) -> Metadata:
    mode = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": str(most)}
    changed = columns(metadata, *wanted)
    return msgspec.structs.replace(changed, configuration={**changed.configuration, **mode})


def mapping(told: TableState, *wanted: Field, most: int) -> tuple[Action, ...]:
    return with_features(told.protocol, "columnMapping"), _naming(told.metadata, *wanted, most=most)


def nothing(_: TableState) -> tuple[Action | bytes, ...]:
    return ()


@dataclass(frozen=True)
class Case:
    """A commit that breaks a rule; ``first`` is one that its table has by then."""

    rule: str
    build: Build
    first: Build = nothing
    line: int = 2
    kind: str = ""
    twice: bool = False
    """Whether another rule stands behind this one."""
    info: Mapping[str, Any] = field(default_factory=dict)
    """What its commitInfo says besides."""


def _path(path: str) -> Build:
    return lambda _: (msgspec.structs.replace(ADD, path=path),)


def _numbered(**numbers: Any) -> Build:
    return lambda _: (msgspec.structs.replace(ADD, **numbers),)


def _txn(**numbers: int) -> Build:
    return lambda _: (AppTransaction(**{"app_id": "a", "version": 1, **numbers}),)


_ODD_NUMBERS = (
    ("size", -1),
    ("size", 2**50 + 1),
    ("modification_time", -1),
    ("default_row_commit_version", -1),
)
_ODD_NUMBERS_OF_TXNS = (("version", -1), ("version", 2**62 + 1), ("last_updated", -1))


def _altering(rule: str, change: Callable[[Metadata], Metadata]) -> "Case":
    return Case(rule, altered(change), kind="metaData")


def altered(change: Callable[[Metadata], Metadata]) -> Build:
    return lambda told: (change(told.metadata),)


def _proto(change: Callable[[Protocol], Protocol]) -> Build:
    return lambda told: (change(told.protocol),)


def _domain(name: str, configuration: str, *more: Action) -> Build:
    action = DomainMetadata(domain=name, configuration=configuration, removed=False)
    return lambda _: (action, *more)


def _has(*names_: str) -> Build:
    return lambda told: (with_features(told.protocol, *names_),)


VECTORS_ON: Build = lambda told: (  # noqa: E731 — a row
    with_features(told.protocol, "deletionVectors"),
    with_properties(told.metadata, delta_enableDeletionVectors="true"),
)
LOOSE = msgspec.structs.replace(ADD, stats='{"numRecords":1,"tightBounds":false}', deletion_vector=VECTOR)


def hiding(rule: str, vector: DeletionVector, *, twice: bool = False) -> Case:
    """A file with this deletion vector, in a table that may have some."""
    hidden = msgspec.structs.replace(LOOSE, deletion_vector=vector)
    return Case(rule, lambda _: (hidden,), first=VECTORS_ON, kind="add", twice=twice)


_WIDE = Struct((Field("a", Map(Primitive("string"), Struct((ID, ID)), value_contains_null=True)),))
_ONE, _TWO = mapped("one", 1, "p1"), mapped("two", 2, "p2")
_MARKED = ("domainMetadata", "rowTracking")
_FAR_FROM_HERE = [
    "/etc/passwd",
    "file:/etc/passwd",
    "file:///etc/passwd",
    "s3://bucket/x.parquet",
    "S3A://b/x",
    "abfss://c@a.dfs.core.windows.net/x",
    "%2Fetc%2Fpasswd",
    "s3%3A//bucket/x",
]
_WAYS_OUT = [
    "..",
    "../x.parquet",
    "a/../../x",
    "a/%2e%2e/%2e%2e/x",
    "a/.%2E/x",
    "%2e%2e/x",
    "a\\..\\x",
    "..\\x",
    "a%5Cx",
    "a\x00.parquet",
    "a%00.parquet",
    "a\nb",
    "a/\uff0e\uff0e/x",
    "a/\u2025/x",
    "",
    "_delta_log/x.parquet",
    "_delta_log/00000000000000000000.json",
    "%5Fdelta_log/x",
    "x" * 5000,
]

CASES: tuple[Case, ...] = (
    Case("ndjson", lambda _: (b"not json\n",)),
    Case("ndjson", lambda _: (b'{"add":{"path":"a"}}\n',)),
    Case("ndjson", lambda _: (b'{"somethingNew":{}}\n',)),
    Case("ndjson", lambda _: (b'{"checkpointMetadata":{"version":1}}\n',)),
    Case("ndjson", lambda _: (b'{"sidecar":{"path":"a","sizeInBytes":1,"modificationTime":1}}\n',)),
    Case("ndjson", lambda _: (b"{}\n",)),
    Case("ndjson", lambda _: (b"[]\n",)),
    Case("ndjson", lambda _: (b"\n", ADD)),
    Case("ndjson", lambda _: (codec.encode((ADD,))[:-1] + b" " + codec.encode((named_file("b"),)),)),
    Case("ndjson", lambda _: (codec.encode((ADD,))[:-3] + b',"remove":{"path":"b","dataChange":true}}\n',)),
    Case("ndjson", lambda _: (codec.encode((ADD,)).replace(b"{", b"{\n", 1),)),
    Case("ndjson", lambda _: (codec.encode((ADD,)).replace(b'"path":', b'"path":"b","path":'),), kind="add"),
    Case(
        "ndjson",
        lambda _: (codec.encode((ADD,)).replace(b'"path":', b'"pa\\u0074h":"b","path":'),),
        kind="add",
    ),
    Case("ndjson", lambda _: (b'{"add":' + b'{"a":' * 100 + b"1" + b"}" * 101 + b"\n",)),
    Case("ndjson", lambda _: (b'{"add":' + b"[" * 50_000,)),
    Case(
        "commit-info-first",
        lambda _: (ADD, codec.encode((CommitInfo(txn_id=TxnId("b")),))),
        line=3,
        kind="commitInfo",
    ),
    *(Case("paths-inside", _path(path), kind="add") for path in _WAYS_OUT),
    Case("paths-inside", lambda _: (RemoveFile(path="../x", data_change=True),), kind="remove"),
    *(Case("numbers", _numbered(**{name: value}), kind="add") for name, value in _ODD_NUMBERS),
    *(Case("numbers", _txn(**{name: value}), kind="txn") for name, value in _ODD_NUMBERS_OF_TXNS),
    Case(
        "numbers",
        lambda _: (RemoveFile(path="a", data_change=True, deletion_timestamp=EpochMillis(-1)),),
        kind="remove",
    ),
    Case("ndjson", _numbered(stats='{"numRecords":1099511627777}')),
    *(Case("files-inside", _path(path), kind="add") for path in _FAR_FROM_HERE),
    Case("files-inside", lambda _: (RemoveFile(path="/x", data_change=True),), kind="remove"),
    Case(
        "files-inside",
        lambda _: (msgspec.structs.replace(LOOSE, deletion_vector=replace_vector("p", "file:/x.bin")),),
        first=VECTORS_ON,
        kind="add",
    ),
    *(
        hiding("vectors-inside", msgspec.structs.replace(VECTOR, path_or_inline_dv=path), twice=twice)
        for path, twice in (("../.." + "a" * 20, True), ("/etc" + "a" * 20, False), ("short", True))
    ),
    hiding("vectors-inside", msgspec.structs.replace(VECTOR, storage_type="x"), twice=True),
    Case("one-protocol-one-metadata", lambda told: (told.protocol, told.protocol), line=0),
    Case("one-protocol-one-metadata", lambda told: (told.metadata, told.metadata), line=0),
    Case("files-once", lambda _: (ADD, ADD), kind="add"),
    Case("files-once", lambda _: (ADD, RemoveFile(path=ADD.path, data_change=True)), kind="add"),
    Case("files-once", lambda _: (RemoveFile(path="b", data_change=True),) * 2, kind="remove"),
    Case(
        "applications-once",
        lambda _: tuple(AppTransaction(app_id="a", version=version) for version in (1, 2)),
        line=0,
    ),
    *(
        Case(
            "stays-managed",
            _proto(lambda old, gone=gone: with_features(old, without=(gone,))),
            kind="protocol",
            twice=gone != "catalogManaged",
        )
        for gone in ("catalogManaged", "inCommitTimestamp", "vacuumProtocolCheck")
    ),
    Case(
        "stays-managed",
        kind="protocol",
        twice=True,
        build=_proto(lambda _: Protocol(min_reader_version=1, min_writer_version=2)),
    ),
    _altering("stays-stamped", lambda old: with_properties(old, delta_enableInCommitTimestamps="false")),
    _altering("stays-stamped", lambda old: with_properties(old, delta_enableInCommitTimestamps=None)),
    _altering("no-wishes", lambda old: with_properties(old, delta_feature_deletionVectors="supported")),
    _altering("no-wishes", lambda old: with_properties(old, delta_minReaderVersion="1")),
    Case(
        "stored-expressions",
        lambda told: (
            with_features(told.protocol, "checkConstraints"),
            with_properties(told.metadata, delta_constraints_c="reflect('a', 'b') IS NULL"),
        ),
        line=3,
        kind="metaData",
    ),
    _altering("columns", lambda old: columns(old, ID, WRITER, Field("ID", Primitive("long")))),
    _altering("columns", lambda old: columns(old, ID, WRITER, *_WIDE.fields)),
    _altering("columns", lambda old: msgspec.structs.replace(old, schema_string="{}")),
    _altering("columns", lambda old: _deep(old, 200)),
    _altering("columns", lambda old: _deep(old, 20_000)),
    Case(
        "columns", lambda told: mapping(told, _ONE, mapped("two", 1, "p2"), most=2), line=3, kind="metaData"
    ),
    Case(
        "columns", lambda told: mapping(told, _ONE, mapped("two", 2, "p1"), most=2), line=3, kind="metaData"
    ),
    Case("columns", lambda told: mapping(told, ID, WRITER, most=2), line=3, kind="metaData"),
    Case("columns", lambda told: mapping(told, _ONE, _TWO, most=1), line=3, kind="metaData"),
    Case(
        "partition-columns",
        kind="metaData",
        twice=True,
        build=altered(lambda old: msgspec.structs.replace(old, partition_columns=("nobody",))),
    ),
    *(
        Case(
            "system-domains",
            _domain(name, text),
            first=_has("domainMetadata"),
            kind="domainMetadata",
            twice=name == "delta.rowTracking",
        )
        for name, text in (
            ("delta.forged", "{}"),
            ("DELTA.rowTracking", '{"rowIdHighWaterMark":9}'),
            ("delta.rowTracking", "?"),
            ("delta.rowTracking", '{"rowIdHighWaterMark":"9"}'),
            ("delta.clustering", '{"clusteringColumns":"x"}'),
        )
    ),
    Case(
        "system-domains",
        first=_has(*_MARKED),
        kind="domainMetadata",
        twice=True,
        build=_domain(
            "delta.rowTracking",
            '{"rowIdHighWaterMark":6}',
            msgspec.structs.replace(ADD, base_row_id=7, default_row_commit_version=2),
        ),
    ),
    _altering("same-table", lambda old: msgspec.structs.replace(old, id="another")),
    _altering("catalog-properties", lambda old: with_properties(old, ucTableId="x")),
    Case(
        "catalog-properties",
        kind="metaData",
        build=altered(lambda old: with_properties(old, delta_inCommitTimestampEnablementVersion="5")),
    ),
    _altering("columns-storable", lambda old: columns(old, ID, WRITER, HOLLOW)),
    _altering("schema-evolution", lambda old: columns(old, ID)),
    _altering("schema-evolution", lambda old: columns(old, ID, Field("Writer", Primitive("string")))),
    _altering("schema-evolution", lambda old: columns(old, Field("id", Primitive("integer")), WRITER)),
    _altering("schema-evolution", lambda old: columns(old, Field("id", Primitive("double")), WRITER)),
    _altering("schema-evolution", lambda old: columns(old, ID, Field("writer", Struct((ID,))))),
    Case(
        "schema-evolution",
        kind="metaData",
        build=altered(lambda old: msgspec.structs.replace(old, partition_columns=("writer",))),
    ),
    Case(
        "schema-evolution",
        kind="metaData",
        first=altered(lambda old: columns(old, ID, WRITER, PARTS)),
        build=altered(lambda old: columns(old, ID, WRITER, Field("parts", Primitive("string")))),
    ),
    *(
        Case(
            "schema-evolution",
            kind="metaData",
            first=lambda told: mapping(
                told, mapped("id", 1, "id"), mapped("writer", 2, "writer", "string"), most=2
            ),
            build=altered(lambda old, wanted=wanted, most=most: _naming(old, *wanted, most=most)),
        )
        for wanted, most in (
            ((mapped("id", 1, "p9"), mapped("writer", 2, "writer", "string")), 2),
            ((mapped("id", 1, "id", "string"), mapped("writer", 2, "writer", "string")), 2),
            ((mapped("id", 1, "id"), mapped("new", 2, "p3")), 2),
        )
    ),
    Case(
        "schema-evolution",
        lambda told: mapping(told, mapped("id", 1, "p1"), mapped("writer", 2, "writer", "string"), most=2),
        line=3,
        kind="metaData",
    ),
    Case(
        "schema-evolution",
        kind="metaData",
        first=lambda told: mapping(
            told, mapped("id", 1, "id"), mapped("writer", 2, "writer", "string"), most=2
        ),
        build=altered(lambda old: with_properties(old, delta_columnMapping_mode="none")),
    ),
    Case("protocol-fits", _proto(lambda old: with_features(old, "quantumFiles")), kind="protocol"),
    Case("protocol-fits", _proto(lambda old: with_features(old, "rowTracking")), kind="protocol"),
    _altering("protocol-fits", lambda old: with_properties(old, delta_appendOnly="true")),
    Case("features-used", lambda _: (LOOSE,), kind="add", twice=True),
    Case("features-used", lambda _: (msgspec.structs.replace(ADD, base_row_id=0),), kind="add"),
    Case("features-used", lambda _: (b'{"cdc":{"path":"x","partitionValues":{},"size":1}}\n',), kind="cdc"),
    Case("features-used", _domain("acme.x", "{}"), kind="domainMetadata", twice=True),
    Case(
        "domains-once",
        first=_has("domainMetadata"),
        line=3,
        kind="domainMetadata",
        build=_domain("acme.x", "1", DomainMetadata(domain="acme.x", configuration="2", removed=False)),
    ),
    Case(
        "row-ids",
        kind="domainMetadata",
        first=lambda told: (
            *_has(*_MARKED)(told),
            *_domain("delta.rowTracking", '{"rowIdHighWaterMark":9}')(told),
        ),
        build=_domain("delta.rowTracking", '{"rowIdHighWaterMark":3}'),
    ),
    Case(
        "identity-tag",
        altered(lambda old: with_properties(old, acme="1")),
        kind="metaData",
        info={"tags": {"delta.identity.schemaUpdate": "true"}},
    ),
    _altering("no-secrets", lambda old: with_properties(old, fs_s3a_secret_key="x")),
    _altering("no-secrets", lambda old: with_properties(old, acme="AKIAABCDEFGHIJKLMNOP")),
    _altering("no-secrets", lambda old: with_properties(old, my_PassWord="x")),
    _altering("no-secrets", lambda old: with_properties(old, acme='{"apikey":"x"}')),
    Case(
        "domains-nested",
        _domain("a", "[" * 65 + "]" * 65),
        first=_has("domainMetadata"),
        kind="domainMetadata",
    ),
    Case(
        "reserved-keys-in-domains",
        _domain("a", '{"k":"1","Delta.x":"1"}'),
        first=_has("domainMetadata"),
        kind="domainMetadata",
    ),
    Case(
        "no-secrets-in-domains",
        _domain("a", '{"client":{"api_key":"x"}}'),
        first=_has("domainMetadata"),
        kind="domainMetadata",
    ),
    Case(
        "no-secrets-in-domains",
        _domain("a", "postgresql://ana:hunter2@h/d"),
        first=_has("domainMetadata"),
        kind="domainMetadata",
    ),
    Case(
        "partition-values",
        lambda _: (
            msgspec.structs.replace(ADD, partition_values={"x": "1"}, data_change=False),
            RemoveFile(path="x", data_change=False),
        ),
        line=0,
    ),
    Case(
        "append-only",
        lambda _: (RemoveFile(path="x", data_change=True),),
        line=0,
        first=lambda told: (
            with_features(told.protocol, "appendOnly"),
            with_properties(told.metadata, delta_appendOnly="true"),
        ),
    ),
    Case(
        "vectors-counted",
        lambda _: (msgspec.structs.replace(LOOSE, stats=None),),
        first=VECTORS_ON,
        line=0,
        twice=True,
    ),
    Case("vectors-enabled", lambda _: (LOOSE,), first=_has("deletionVectors"), line=0),
    Case(
        "vectors-wide-bounds",
        lambda _: (msgspec.structs.replace(ADD, deletion_vector=VECTOR),),
        first=VECTORS_ON,
        line=0,
    ),
    Case(
        "isolation-level",
        altered(lambda old: with_properties(old, delta_isolationLevel="WriteSerializable")),
        line=0,
    ),
)


def replace_vector(kind: str, path: str) -> DeletionVector:
    return msgspec.structs.replace(VECTOR, storage_type=kind, path_or_inline_dv=path)


def _deep(metadata: Metadata, levels: int) -> Metadata:
    """Its columns are deeper than Headgate's own writers would write them."""
    found = '{"type":"array","containsNull":true,"elementType":' * levels + '"long"' + "}" * levels
    text = schema_json.render(Struct((ID, WRITER, Field("deep", Primitive("DEEP")))))
    return msgspec.structs.replace(metadata, schema_string=text.replace('"DEEP"', found))
