"""Commits that would make a table unreadable for some reader, or row and column ids mean two things."""

import json
from collections.abc import Callable
from typing import Any

import msgspec

from headgate.catalog.ports.commits import TableState
from headgate.protocol.actions import Action, AppTransaction, DomainMetadata, Metadata, Protocol, RemoveFile
from headgate.protocol.log import codec, deletion_vectors
from headgate.protocol.schema.types import Array, Field, Primitive, Struct
from tests.support.broken_commits import (
    ADD,
    ID,
    WRITER,
    Build,
    Case,
    altered,
    columns,
    hiding,
    mapped,
    mapping,
    with_features,
    with_properties,
)

_TOO_LARGE = 2**63
_LINE = codec.encode((ADD,))


def _text(line: bytes) -> Build:
    return lambda _: (line,)


def _numbered(**fields: int) -> Build:
    return lambda _: (msgspec.structs.replace(ADD, **fields),)


def _shape(**fields: Any) -> Case:
    """A schema whose last column is described like this."""
    told = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in _COLUMNS]
    said = {key: value for key, value in {**told[-1], **fields}.items() if value != "absent"}
    schema = json.dumps({"type": "struct", "fields": [*told[:-1], said]})
    return _schema(schema)


def _schema(text: str) -> Case:
    return Case(
        "columns", altered(lambda old: msgspec.structs.replace(old, schema_string=text)), kind="metaData"
    )


_COLUMNS = (("id", "long"), ("writer", "string"), ("new", "long"))


def placed(values: dict[str, str | None]) -> Action:
    """A file with these partition values."""
    return msgspec.structs.replace(ADD, partition_values=values)


def _mark(mark: int, *, removed: bool = False) -> DomainMetadata:
    text = f'{{"rowIdHighWaterMark":{mark}}}'
    return DomainMetadata(domain="delta.rowTracking", configuration=text, removed=removed)


def _tracked(*more: Action) -> Build:
    return lambda told: (with_features(told.protocol, "domainMetadata", "rowTracking"), *more)


_NUMBERED = msgspec.structs.replace(ADD, base_row_id=5, default_row_commit_version=2)
_TWO = (mapped("id", 1, "id"), mapped("writer", 2, "writer", "string"))


def _two_mapped(told: TableState) -> tuple[Action, ...]:
    return mapping(told, *_TWO, most=5)


def _remapped(*wanted: Field, most: str = "6") -> Case:
    def changed(old: Metadata) -> Metadata:
        return with_properties(columns(old, *wanted), delta_columnMapping_maxColumnId=most)

    return Case("schema-evolution", altered(changed), first=_two_mapped, kind="metaData")


def _listed(change: Callable[[Protocol], Protocol]) -> Case:
    return Case("protocol-fits", lambda told: (change(told.protocol),), kind="protocol")


MISREAD: tuple[Case, ...] = (
    # numbers that readers keep in 64 or 32 bits
    Case("ndjson", _numbered(size=_TOO_LARGE)),
    Case("ndjson", _numbered(modification_time=2**70)),
    Case("ndjson", _numbered(base_row_id=-_TOO_LARGE - 1)),
    Case("ndjson", lambda _: (AppTransaction(app_id="a", version=_TOO_LARGE),)),
    Case("ndjson", lambda _: (RemoveFile(path="a", data_change=True, deletion_timestamp=_TOO_LARGE),)),  # type: ignore[arg-type]
    Case("ndjson", altered(lambda old: msgspec.structs.replace(old, created_time=_TOO_LARGE))),
    # text that is split, or decoded, in more than one way
    Case("ndjson", _text(_LINE.replace(b"{", b"{\r", 1))),
    Case("ndjson", _text(_LINE.replace(b'"path"', b'"x":"\xff","path"'))),
    Case(
        "ndjson", _text(_LINE.replace(b'"path"', b'"x":' + b"1" * 5000 + b',"path":"b","path"')), kind="add"
    ),
    *(
        Case("ndjson", lambda _, stats=stats: (msgspec.structs.replace(ADD, stats=stats),))
        for stats in ("", "{", "[]", '{"numRecords":1e30}', '{"numRecords":-1}', '{"minValues":[]}', "1")
    ),
    # schemas
    *(
        _shape(type=kind)
        for kind in ("bogus", "", "LONG", "bigint", "decimal", "decimal(39,0)", "decimal(3,4)")
    ),
    *(_shape(name=name) for name in (5, None, "a\0b")),
    *(_shape(metadata=said) for said in ([1], "text", "absent")),
    *(_shape(nullable=said) for said in ("false", 1, "absent")),
    _shape(type={"type": "array", "elementType": "bogus", "containsNull": True}),
    _schema('{"type":"struct","fields":[],"fields":[]}'),
    Case(
        "columns",
        lambda told: mapping(told, mapped("one", 1, "p"), mapped("two", 2, "P"), most=2),
        line=3,
        kind="metaData",
    ),
    Case("columns", lambda told: mapping(told, *_TWO, most=10**18), line=3, kind="metaData"),
    Case("columns", altered(lambda old: with_properties(old, delta_columnMapping_mode="other")), line=0),
    Case(
        "partition-columns",
        altered(lambda old: msgspec.structs.replace(old, partition_columns=("WRITER",))),
        kind="metaData",
        info={"operation": "REPLACE TABLE"},
    ),
    _listed(lambda old: msgspec.structs.replace(old, writer_features=(*_writers(old), "deletionVectors"))),
    _listed(
        lambda old: msgspec.structs.replace(
            with_features(old, "appendOnly"), reader_features=(*(old.reader_features or ()), "appendOnly")
        )
    ),
    # columns that would have other values than were written for them
    _remapped(*_TWO, most="4"),
    _remapped(_TWO[0], mapped("other", 6, "writer", "string")),
    Case(
        "schema-evolution",
        altered(lambda old: columns(old, ID, WRITER, Field("new", Primitive("long"), nullable=False))),
        kind="metaData",
    ),
    Case(
        "schema-evolution",
        altered(lambda old: columns(old, Field("id", Primitive("long"), nullable=False), WRITER)),
        kind="metaData",
    ),
    *(
        Case(
            "schema-evolution",
            first=altered(lambda old, one=one: columns(old, ID, WRITER, Field("in", one))),
            build=altered(lambda old, other=other: columns(old, ID, WRITER, Field("in", other))),
            kind="metaData",
        )
        for one, other in (
            (Array(ID.type, contains_null=True), Array(ID.type, contains_null=False)),
            (Struct((ID,)), Struct((ID, Field("new", Primitive("long"), nullable=False)))),
        )
    ),
    # row ids that would be given twice, or can no longer be given
    Case("row-ids", lambda _: (_NUMBERED,), first=_tracked(_mark(3)), line=0),
    Case("row-ids", lambda _: (_mark(3, removed=True),), first=_tracked(_mark(3)), kind="domainMetadata"),
    Case("row-ids", lambda _: (_mark(2**63 - 1),), first=_tracked(), kind="domainMetadata"),
    Case("row-ids", lambda _: (_mark(6), _NUMBERED), first=_tracked(_mark(3)), kind="domainMetadata"),
    Case(
        "numbers",
        lambda _: (msgspec.structs.replace(_NUMBERED, base_row_id=-2),),
        first=_tracked(_mark(3)),
        kind="add",
    ),
)


_BY_ID = altered(lambda old: msgspec.structs.replace(old, partition_columns=("id",)))
_INLINE = deletion_vectors.encode_inline(deletion_vectors.DeletedRows.from_rows([3]))
MISREAD += (
    # partition values, of files that are added and nothing else
    *(
        Case(rule, lambda _, values=values: (placed(values),), first=_BY_ID, line=0)
        for rule, values in (
            ("partition-values", {}),
            ("partition-values", {"writer": "x"}),
            ("partition-types", {"id": "one"}),
            ("partition-types", {"id": str(_TOO_LARGE)}),
        )
    ),
    # rows that others track
    Case("rows-tracked", lambda _: (ADD,), first=_tracked(), kind="add"),
    Case(
        "rows-tracked",
        lambda _: (_mark(5), msgspec.structs.replace(_NUMBERED, default_row_commit_version=None)),
        first=_tracked(),
        line=3,
        kind="add",
    ),
    # vectors within the log
    *(
        hiding("vectors-readable", vector)
        for vector in (
            msgspec.structs.replace(_INLINE, path_or_inline_dv="\\\\\\"),
            msgspec.structs.replace(_INLINE, path_or_inline_dv=""),
            msgspec.structs.replace(_INLINE, cardinality=2),
            msgspec.structs.replace(_INLINE, size_in_bytes=_INLINE.size_in_bytes - 1),
        )
    ),
    # what a column says of itself
    *(
        _shape(metadata=said)
        for said in (
            {"CURRENT_DEFAULT": 5},
            {"comment": ["x"]},
            {"delta.generationExpression": {}},
            {"delta.identity.start": "1"},
            {"delta.identity.allowExplicitInsert": 1},
            {"delta.columnMapping.id": "7"},
        )
    ),
)


def _writers(protocol: Protocol) -> tuple[str, ...]:
    return protocol.writer_features or ()
