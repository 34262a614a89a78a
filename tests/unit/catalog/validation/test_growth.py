"""Nobody stops the lake: whatever users write, the time to look at it grows no faster than it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import msgspec
import pytest

from headgate import redaction
from headgate.catalog.access import commit_policies, required_privileges
from headgate.catalog.access.commit_policies import BuiltInPolicy
from headgate.catalog.ports.access import ForeignKey, Principal, Privilege
from headgate.catalog.ports.commits import TableId, TableState
from headgate.catalog.ports.policies import Review
from headgate.catalog.store import linear_patterns
from headgate.catalog.validation import content_rules, table_rules, text_rules
from headgate.catalog.validation.content_rules import ContentRule, ProposedCommit, first_breach
from headgate.errors import InvalidRequest
from headgate.protocol.actions import (
    Action,
    AddFile,
    AppTransaction,
    CommitInfo,
    DomainMetadata,
    EpochMillis,
    Metadata,
    Protocol,
    RemoveFile,
    TxnId,
    Version,
    commit_from_actions,
)
from headgate.protocol.log import codec, file_names, log_retention, strict_codec, strict_schema
from headgate.protocol.metadata import stored_expressions
from headgate.protocol.metadata.sql_functions import ExpressionPlace
from headgate.protocol.predicates import from_sql, literals, spark_strings
from headgate.protocol.schema import column_path, expression_columns, partition_values, sql_tokens
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.protocol.stats import indexed_columns
from tests.support import commits
from tests.support.growth import LARGER, check_growth

LETTERS = 2_000
"""Characters of the smaller text."""
THINGS = 400
"""Columns, files or properties of the smaller commit."""
INFO = CommitInfo(in_commit_timestamp=EpochMillis(1), txn_id=TxnId("t"))
SCHEMA = Struct((Field("a", Primitive("string")), Field("b", Primitive("long"))))

HOSTILE = (
    *("a", "A", "1", " ", "'", '"', "`", "\\", "(", "[", "{", "-", "=", ".", "/", "%", ":", "é", "\n"),
    *(
        "a ",
        "a=",
        "a.",
        "a'",
        'a":',
        "aA",
        "1.",
        "0.0",
        "1e",
        "''",
        "\\'",
        "``",
        "a,",
        "a-",
        "://a:",
        "?sig=",
    ),
    *(
        "eyJ-",
        "eyJaaaaaaaa.",
        "AKIA",
        "ghp_",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        "password=",
        "Pass",
    ),
    *(
        '{"a":',
        '{"password":',
        "[[",
        "a(",
        "int(",
        "array[",
        "/*",
        "--",
        "x'",
        "r'",
        "a or ",
        "a in (1) and ",
    ),
    *(
        "1 week ",
        "-1 day",
        "2020-01-01",
        "00:",
        "a\x00",
        "$",
        "${",
        "not ",
        "case when ",
        "a->",
        "cast(a as ",
    ),
)

TEXTS: Mapping[str, Callable[[str], object]] = {
    "names_a_secret": redaction.names_a_secret,
    "redacted": redaction.redact,
    "held": redaction.credential_in_text,
    "breach": lambda text: redaction.first_credential({"key": text}),
    "the text of an error": lambda text: str(InvalidRequest(text)),
    "pattern": lambda text: linear_patterns.matches("(a+a+)+b|(a|aa)+$|(.*)*x", text),
    "patterns": linear_patterns.is_pattern,
    "stored expressions": lambda text: stored_expressions.expression_breach.__wrapped__(
        text, ExpressionPlace.CONSTRAINT
    ),
    "invariants": lambda text: stored_expressions.check_invariant(text, "c"),
    "tokens": sql_tokens.tokenize,
    "references": expression_columns.top_level_columns,
    "conditions": lambda text: from_sql.parse(f"a = 1 or {text}", SCHEMA, time_zone="UTC"),
    "strings": spark_strings.detach_strings,
    "depth": strict_codec.json_depth,
    "a line of a commit": lambda text: strict_codec.parse(text.encode()),
    "a line with names twice": lambda text: strict_codec.parse(_line(f'{{"a":1,"a":{text}')),
    "a commitInfo": lambda text: strict_codec.parse(
        _line('{"commitInfo":{"operation":' + _json(text) + "}}")
    ),
    "statistics": lambda text: strict_codec.parse(codec.encode((commits.add("f", stats=text),))),
    "reading a commit": lambda text: codec.decode(Version(1), text.encode()),
    "a schema": strict_schema.schema_breach,
    "a name in the log": lambda text: file_names.parse(f"_delta_log/{text}"),
    "a staged file": file_names.staged_version,
    "a moment": lambda text: literals.parse_timestamp(text, None),
    "a partition value": lambda text: partition_values.canonical_text(text, Primitive("timestamp")),
    "an interval": log_retention.interval_ms,
    "indexed columns": indexed_columns.parse_stats_columns,
    "the path of a column": column_path.parse_path,
}


def _line(text: str) -> bytes:
    return text.encode(errors="replace")


def _json(text: str) -> str:
    return msgspec.json.encode(text).decode()


@pytest.mark.parametrize("rule", TEXTS)
def test_a_text_is_looked_at_in_time(rule: str) -> None:
    for hostile in HOSTILE:

        def make(size: int, hostile: str = hostile) -> Callable[[], object]:
            return partial(TEXTS[rule], hostile * (size // len(hostile)))

        check_growth(make(LETTERS * LARGER), make, LETTERS)


def _fields(count: int, kind: str = "long") -> tuple[Field, ...]:
    return tuple(Field(f"c{number}", Primitive(kind)) for number in range(count))


def _metadata(fields: tuple[Field, ...], *by: str, **configuration: str) -> Metadata:
    found = commits.metadata(schema_json.render(Struct(fields)), **configuration)
    return msgspec.structs.replace(found, partition_columns=by)


def _columns(count: int) -> tuple[Action, ...]:
    return (_metadata(_fields(count, "string")),)


def _mapped(count: int) -> tuple[Action, ...]:
    fields = tuple(
        replace(
            field, metadata={"delta.columnMapping.id": at, "delta.columnMapping.physicalName": field.name}
        )
        for at, field in enumerate(_fields(count), 1)
    )
    most = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": str(count)}
    return (msgspec.structs.replace(_metadata(fields), configuration=most),)


def _partitioned(count: int) -> tuple[Action, ...]:
    fields = _fields(count)
    return (_metadata(fields, *(field.name.upper() for field in fields)),)


def _properties(count: int) -> tuple[Action, ...]:
    said = {f"delta.constraints.c{number}": f"c0 > {number}" for number in range(count)}
    said |= {f"acme.{number}": '{"a": 1}' for number in range(count)}
    return (msgspec.structs.replace(_metadata(_fields(1)), configuration=said),)


def _computed(count: int) -> tuple[Action, ...]:
    said = {"delta.generationExpression": "abs(c0)", "CURRENT_DEFAULT": "1", "EXISTS_DEFAULT": "1"}
    return (_metadata(tuple(replace(field, metadata=said) for field in _fields(count))),)


def _nested(count: int) -> tuple[Action, ...]:
    inner = Struct(_fields(count))
    for level in range(20):
        inner = Struct((Field(str(level) * 100, inner),))
    return (_metadata(inner.fields),)


def _hollow(count: int) -> tuple[Action, ...]:
    return (_metadata(tuple(replace(field, type=Struct(())) for field in _fields(count))),)


def _adds(count: int) -> tuple[Action, ...]:
    return tuple(commits.add(f"{number}.parquet", stats='{"numRecords":1}') for number in range(count))


def _files_twice(count: int) -> tuple[Action, ...]:
    return (*_adds(count), *_adds(count))


def _replaced(count: int) -> tuple[Action, ...]:
    gone: list[AddFile | RemoveFile] = [
        RemoveFile(path=f"{number}.old", data_change=True) for number in range(count)
    ]
    return (*gone, *_adds(count))


def _domains(count: int) -> tuple[Action, ...]:
    return tuple(
        DomainMetadata(domain=f"d{number}", configuration='{"a": [1]}', removed=False)
        for number in range(count)
    )


def _applications(count: int) -> tuple[Action, ...]:
    return tuple(AppTransaction(app_id=str(number), version=1) for number in range(count))


def _features(count: int) -> tuple[Action, ...]:
    named = tuple(f"f{number}" for number in range(count))
    return (
        Protocol(min_reader_version=3, min_writer_version=7, reader_features=named, writer_features=named),
    )


SHAPES: Mapping[str, Callable[[int], tuple[Action, ...]]] = {
    shape.__name__.strip("_"): shape
    for shape in (
        _columns, _mapped, _partitioned, _properties, _computed, _nested, _hollow,
        _adds, _files_twice, _replaced, _domains, _applications, _features,
    )
}  # fmt: skip
RULES = (*content_rules.RULES, *text_rules.RULES, *table_rules.RULES)
FEATURES = ("columnMapping", "domainMetadata", "deletionVectors", "rowTracking", "checkConstraints")


@dataclass(frozen=True)
class Facts:
    """A table with as many columns as a commit has things, in which everything is allowed."""

    told: TableState
    count: int

    def before(self) -> TableState:
        return self.told

    def privileges(self, principal: Principal) -> frozenset[Privilege]:
        return frozenset(Privilege)

    def terms(self) -> Mapping[str, str]:
        return {"column_names": "c.*", "max_commit_files": "1000000000"}

    def foreign_keys(self) -> tuple[ForeignKey, ...]:
        return (ForeignKey(TableId("t"), tuple(f"c{n}" for n in range(self.count)), TableId("u"), ("x",)),)


def _told(count: int) -> TableState:
    protocol = Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=FEATURES[:3],
        writer_features=FEATURES,
    )
    return TableState(protocol, _metadata(_fields(count)), domains={})


def _proposed(shape: str, count: int) -> ProposedCommit:
    actions = (INFO, *SHAPES[shape](count))
    credentials = {f"acme.{number}": "why" for number in range(count)} if shape == "properties" else {}
    return ProposedCommit(
        TxnId("t"), actions, commit_from_actions(Version(5), actions), _told(count), (), credentials
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_rules_are_asked_in_time(shape: str) -> None:
    proposed = _proposed(shape, THINGS * LARGER)
    for rule in RULES:

        def make(count: int, rule: ContentRule = rule) -> Callable[[], object]:
            return partial(first_breach, (rule,), _proposed(shape, count))

        check_growth(partial(first_breach, (rule,), proposed), make, THINGS)


def _review(shape: str, count: int) -> Review:
    found, facts = _proposed(shape, count), Facts(_told(count), count)
    return Review(TableId("t"), Principal("ana"), found.commit, found.actions, 1, facts)


@pytest.mark.parametrize("shape", SHAPES)
def test_policies_are_asked_in_time(shape: str) -> None:
    review = _review(shape, THINGS * LARGER)
    for row in commit_policies.POLICIES:

        def make(count: int, row: BuiltInPolicy = row) -> Callable[[], object]:
            return partial(row.review, _review(shape, count))

        check_growth(partial(row.review, review), make, THINGS)


UNKNOWN = required_privileges.AppendEvidence(is_fresh=lambda _add: False, owns=lambda _app_id: False)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_commit_is_parsed_and_its_needs_found_in_time(shape: str) -> None:
    def make(count: int) -> Callable[[], object]:
        actions, told = (INFO, *SHAPES[shape](count)), _told(count)
        spaced = codec.encode(actions).replace(b'":', b'" :')  # so that names are counted one by one
        return lambda: (
            strict_codec.parse(spaced),
            tuple(required_privileges.required_privileges(actions, told, UNKNOWN)),
            codec.decode(Version(1), spaced),
        )

    check_growth(make(THINGS * LARGER), make, THINGS)
