"""What is ratified is checked: each rule of the catalog has a commit that breaks it, and only it."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from sqlalchemy import event

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import InlineCommit, Ratified, TableId, TableState
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ratification import ratify
from headgate.catalog.ratification.ratify import Candidate
from headgate.catalog.validation import content_rules, table_rules, text_rules, validation
from headgate.catalog.validation.content_rules import ContentRule
from headgate.errors import InvalidRequest
from headgate.protocol.actions import Action, CommitInfo, DomainMetadata, Metadata, Protocol, TxnId, Version
from headgate.protocol.log import codec
from headgate.protocol.schema.types import Field, Primitive, Struct
from tests.support.broken_commits import CASES as BROKEN
from tests.support.broken_commits import (
    HOLLOW,
    ID,
    WRITER,
    Build,
    Case,
    altered,
    columns,
    mapped,
    mapping,
    nothing,
    with_features,
    with_properties,
)
from tests.support.catalogs import DATABASE_KINDS, a_catalog
from tests.support.lenient import anything_goes
from tests.support.misread_commits import MISREAD, placed
from tests.support.proposals import inline, stamp
from tests.support.tables import create_managed, named_file

CASES = (*BROKEN, *MISREAD)


@dataclass(frozen=True)
class Place:
    """A catalog, in which every test makes a table of its own."""

    catalog: Catalog
    counter: list[int] = field(default_factory=lambda: [0])

    def table(self) -> TableId:
        self.counter[0] += 1
        return create_managed(self.catalog, TableName("t", f"t{self.counter[0]}")).table_id

    @cached_property
    def shared(self) -> TableId:
        """A table for commits that are refused, and so leave it as it is."""
        return self.table()

    def told(self, table_id: TableId) -> TableState:
        found = self.catalog.tail(table_id).description
        assert found is not None
        return found

    def propose(self, table_id: TableId, *parts: Action | bytes, **info: Any) -> object:
        version = self.catalog.tail(table_id).latest + 1
        txn_id = f"{table_id} {version}"
        told = CommitInfo(in_commit_timestamp=stamp(version), txn_id=TxnId(txn_id), **info)
        lines = (part if isinstance(part, bytes) else codec.encode((part,)) for part in parts)
        data = codec.encode((told,)) + b"".join(lines)
        return self.catalog.propose(inline(table_id, version, txn_id, data=data))


@pytest.fixture(scope="module", params=DATABASE_KINDS)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with a_catalog(request.param, tmp_path_factory.mktemp(request.param)) as catalog:
        yield Place(catalog)


def _names() -> Iterator[str]:
    for number, case in enumerate(CASES):
        yield f"{case.rule}-{number}"


@contextmanager
def without(rule: str) -> Iterator[None]:
    """The catalog as it would be without a rule."""
    with ExitStack() as stack:
        for module in (content_rules, text_rules, table_rules):
            kept: tuple[ContentRule, ...] = tuple(row for row in module.RULES if row.name != rule)
            stack.enter_context(patch.object(module, "RULES", kept))
        yield


@pytest.fixture(scope="module")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with a_catalog("sqlite", tmp_path_factory.mktemp("alone")) as catalog:
        yield Place(catalog)


@pytest.mark.parametrize("case", CASES, ids=_names())
def test_a_commit_that_breaks_a_rule_is_refused_by_name_and_changes_nothing(place: Place, case: Case) -> None:
    """S055; T4"""
    table_id = place.table() if case.first is not nothing else place.shared
    _set_up(place, table_id, case)
    before = place.catalog.tail(table_id)

    with pytest.raises(InvalidRequest) as caught:
        place.propose(table_id, *case.build(place.told(table_id)), **case.info)

    found = caught.value.fields
    assert (found["rule"], found["line"], found["action"]) == (case.rule, case.line, case.kind)
    assert "nothing was committed" in caught.value.message
    assert place.catalog.tail(table_id) == before
    assert isinstance(place.propose(table_id, operation="NOTHING AT ALL"), Ratified)


_GUARDED_TWICE = ("ndjson", "commit-info-first", "stays-stamped", "columns")
_ALONE = [case for case in CASES if not case.twice and case.rule not in _GUARDED_TWICE]


@pytest.mark.parametrize("case", _ALONE, ids=lambda case: case.rule)
def test_without_the_rule_the_same_commit_would_be_ratified(on_sqlite: Place, case: Case) -> None:
    """Else the test above could pass for another reason."""
    place = on_sqlite
    table_id = place.table()
    _set_up(place, table_id, case)

    with without(case.rule):
        answer = place.propose(table_id, *case.build(place.told(table_id)), **case.info)

    assert isinstance(answer, Ratified)


def _set_up(place: Place, table_id: TableId, case: Case) -> None:
    first = case.first(place.told(table_id))
    if first:
        with anything_goes():
            place.propose(table_id, *first)


def test_every_rule_has_a_commit_that_breaks_it() -> None:
    named = {
        row.name
        for row in (*content_rules.RULES, *text_rules.RULES, *table_rules.RULES, validation.PARSE_RULE)
    }
    of_coordinators = {f"coordinator{part}" for part in ("", "-feature", "-named", "-timestamps")}
    elsewhere = {"stamped", "identified", *of_coordinators}

    assert named - {case.rule for case in CASES} == elsewhere


# --- what is legal


def _both(*columns: Field, most: int) -> Build:
    return lambda told: mapping(told, *columns, most=most)


def _rows(first: int, count: int) -> Action:
    stats = f'{{"numRecords":{count}}}'
    add = msgspec.structs.replace(named_file(f"{first}"), stats=stats, default_row_commit_version=2)
    return msgspec.structs.replace(add, base_row_id=first)


def _marked(mark: int, *, removed: bool = False) -> Action:
    text = f'{{"rowIdHighWaterMark":{mark}}}'
    return DomainMetadata(domain="delta.rowTracking", configuration=text, removed=removed)


_LEGAL: dict[str, tuple[Build, Build]] = {
    "a column is added": (
        nothing,
        altered(lambda old: columns(old, ID, WRITER, Field("new", Primitive("date")))),
    ),
    "a nested column is added": (
        altered(lambda old: columns(old, ID, WRITER, Field("s", Struct((ID,))))),
        altered(lambda old: columns(old, ID, WRITER, Field("s", Struct((ID, WRITER))))),
    ),
    "a table that has a struct without fields is changed in another way": (
        altered(lambda old: columns(old, ID, WRITER, HOLLOW)),
        altered(lambda old: columns(old, ID, WRITER, HOLLOW, Field("new", Primitive("date")))),
    ),
    "columns change places": (nothing, altered(lambda old: columns(old, WRITER, ID))),
    "a small integer grows": (
        altered(lambda old: columns(old, Field("id", Primitive("byte")), WRITER)),
        altered(lambda old: columns(old, Field("id", Primitive("integer")), WRITER)),
    ),
    "a type is widened with the feature": (
        lambda told: (
            with_features(told.protocol, "typeWidening"),
            columns(told.metadata, Field("id", Primitive("decimal(10,2)")), WRITER),
        ),
        altered(lambda old: columns(old, Field("id", Primitive("decimal(12,2)")), WRITER)),
    ),
    "a mapped column is dropped, another renamed": (
        _both(mapped("id", 1, "id"), mapped("writer", 2, "writer", "string"), most=2),
        altered(lambda old: columns(old, mapped("author", 2, "writer", "string"))),
    ),
    "a mapped column is added": (
        _both(mapped("id", 1, "id"), mapped("writer", 2, "writer", "string"), most=2),
        _both(mapped("id", 1, "id"), mapped("writer", 2, "writer", "string"), mapped("c", 3, "p3"), most=3),
    ),
    "a file without rows gets the next row id, and the mark stays": (
        lambda told: (with_features(told.protocol, "domainMetadata", "rowTracking"),),
        lambda _: (_rows(0, 5), _rows(5, 0), _marked(4)),
    ),
    "row tracking is given up, and with it the mark": (
        lambda told: (with_features(told.protocol, "domainMetadata", "rowTracking"), _marked(4)),
        lambda told: (
            with_features(told.protocol, without=("rowTracking",)),
            _marked(4, removed=True),
        ),
    ),
    "a property that is not Delta's": (nothing, altered(lambda old: with_properties(old, acme="1"))),
    "a domain of a user, and the feature for it": (
        nothing,
        lambda told: (
            with_features(told.protocol, "domainMetadata"),
            DomainMetadata(domain="acme.x", configuration="{}", removed=False),
        ),
    ),
    "keys of Delta under the name of the domain itself": (
        lambda told: (with_features(told.protocol, "domainMetadata"),),
        lambda _: (DomainMetadata(domain="a", configuration='{"delta.a.x":"1"}', removed=False),),
    ),
    "a domain with keys of Delta is removed": (
        lambda told: (
            with_features(told.protocol, "domainMetadata"),
            DomainMetadata(domain="a", configuration='{"delta.x":"1"}', removed=False),
        ),
        lambda _: (DomainMetadata(domain="a", configuration='{"delta.x":"1"}', removed=True),),
    ),
    "a partition value with a slash": (nothing, lambda _: (named_file("p=..%252F..%252Fx/a%20b.parquet"),)),
    "dots in a name": (nothing, lambda _: (named_file("a..b/.hidden/c...parquet"),)),
}


@pytest.mark.parametrize(("first", "then"), _LEGAL.values(), ids=_LEGAL.keys())
def test_what_the_protocol_allows_is_ratified(place: Place, first: Build, then: Build) -> None:
    table_id = place.table()
    if parts := first(place.told(table_id)):
        with anything_goes():
            place.propose(table_id, *parts)

    answer = place.propose(table_id, *then(place.told(table_id)))

    assert isinstance(answer, Ratified)


@pytest.mark.parametrize("said", [{"mode": "Overwrite"}, {"outputMode": "Complete"}])
def test_a_commit_that_replaces_the_table_may_have_any_columns(place: Place, said: dict[str, str]) -> None:
    table_id = place.table()
    other = columns(place.told(table_id).metadata, Field("id", Primitive("string")))

    answer = place.propose(table_id, other, named_file("new"), operation="WRITE", operation_parameters=said)

    assert isinstance(answer, Ratified)


def test_a_clone_may_name_files_of_where_it_was_granted_and_of_nowhere_else(place: Place) -> None:
    table_id = place.table()
    name = f"t.t{place.counter[0]}"
    place.catalog.granting.allow_files(name, "s3://bucket/source/")

    for path in ("s3://bucket/source/a.parquet", "s3://bucket/source/p=1/a%20b.parquet"):
        assert isinstance(place.propose(table_id, named_file(path)), Ratified)
    for path in ("s3://bucket/sourceress/a", "s3://bucket/source/../a", "s3://bucket/other", "/source/a"):
        with pytest.raises(InvalidRequest):
            place.propose(table_id, named_file(path))


def test_of_two_changes_in_one_transaction_the_second_is_checked_against_the_first(place: Place) -> None:
    """They share a database transaction, in which the first is not written down yet."""
    table_id = place.table()
    told = place.told(table_id)
    wider = columns(told.metadata, ID, WRITER, Field("new", Primitive("long")))

    answers = ratify.ratify(
        place.catalog._database,
        [
            _candidate(table_id, 1, "grow", wider),
            _candidate(table_id, 2, "shrink", told.metadata),
            _candidate(table_id, 2, "keep", wider),
        ],
        ratify.RatificationTerms(),
    )

    assert answers[0] == Ratified(Version(1))
    assert isinstance(answers[1], InvalidRequest)
    assert answers[1].fields["rule"] == "schema-evolution"
    assert answers[2] == Ratified(Version(2))


def _candidate(
    table_id: TableId, version: int, txn_id: str, *actions: Action, operation: str | None = None
) -> Candidate:
    info = CommitInfo(in_commit_timestamp=stamp(version), txn_id=TxnId(txn_id), operation=operation)
    proposal = inline(table_id, version, txn_id, data=codec.encode((info, *actions)))
    assert isinstance(proposal.content, InlineCommit)
    content = proposal.content.content
    return Candidate(proposal, content, validation.check_content(proposal, content))


@pytest.mark.parametrize(("change", "rule"), [("protocol", "stays-managed"), ("path", "paths-inside")])
def test_version_0_is_checked_too(
    place: Place, change: str, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T4: a table cannot be made with what no later commit may bring."""
    encode = codec.encode

    def poisoned(actions: Iterable[Action]) -> bytes:
        if change == "path":
            return encode([*actions, named_file("../x")])
        return encode([_without_dependency(each) for each in actions])

    monkeypatch.setattr("headgate.table.alter.create.codec.encode", poisoned)

    with pytest.raises(InvalidRequest) as caught:
        place.table()

    assert caught.value.fields["rule"] == rule
    assert not [entry for entry in place.catalog.tables() if entry.name.table == f"t{place.counter[0]}"]


def _without_dependency(action: Action) -> Action:
    return with_features(action, without=("vacuumProtocolCheck",)) if isinstance(action, Protocol) else action


def test_a_plain_append_is_checked_without_asking_the_database_more_than_once(tmp_path: Path) -> None:
    """What the table allows is remembered until the table changes."""
    with a_catalog("sqlite", tmp_path) as catalog:
        place = Place(catalog)
        table_id = place.table()
        catalog.propose(inline(table_id, 1, "a"))
        statements: list[str] = []
        event.listen(
            catalog._database._engine, "before_cursor_execute", lambda *each: statements.append(each[2])
        )

        catalog.propose(inline(table_id, 2, "b"))

        assert [statement.split()[0] for statement in statements] == ["SELECT", "INSERT", "UPDATE"]


def _by_writer(told: TableState) -> Metadata:
    return msgspec.structs.replace(told.metadata, partition_columns=("writer",))


def test_an_append_is_compared_with_the_table_as_it_is_by_now(place: Place) -> None:
    table_id = place.table()
    plain, told = placed({}), place.told(table_id)
    assert isinstance(place.propose(table_id, plain), Ratified)

    place.propose(table_id, _by_writer(told), operation="REPLACE TABLE")

    with pytest.raises(InvalidRequest, match=r"is partitioned by \['writer'\]"):
        place.propose(table_id, plain)
    assert isinstance(place.propose(table_id, placed({"writer": "x"})), Ratified)
    place.propose(table_id, told.metadata, operation="REPLACE TABLE")
    with pytest.raises(InvalidRequest, match=r"is partitioned by \[\]"):
        place.propose(table_id, placed({"writer": "x"}))
    assert isinstance(place.propose(table_id, plain), Ratified)


def test_in_one_transaction_an_append_is_compared_with_the_table_before_it(place: Place) -> None:
    table_id = place.table()
    change, terms = _by_writer(place.told(table_id)), ratify.RatificationTerms()

    def answers(*candidates: Candidate) -> list[str | None]:
        found = ratify.ratify(place.catalog._database, candidates, terms)
        return [each.fields["rule"] if isinstance(each, InvalidRequest) else None for each in found]

    assert answers(
        _candidate(table_id, 1, "a", placed({})),
        _candidate(table_id, 2, "b", change, operation="REPLACE TABLE"),
        _candidate(table_id, 3, "c", placed({})),
        _candidate(table_id, 3, "d", placed({"writer": "x"})),
    ) == [None, None, "partition-values", None]
    assert answers(
        _candidate(table_id, 4, "e", placed({})),
        _candidate(table_id, 4, "f", placed({"writer": "y"})),
    ) == ["partition-values", None]
