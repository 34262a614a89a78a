"""Proposals that share a transaction: each gets the answer it would get alone, and none spoils another."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection

from headgate.catalog.catalog import Catalog
from headgate.catalog.database.engine import Database
from headgate.catalog.ports.commits import InlineCommit, Lost, Proposal, Ratified, TableId, Unknown
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ratification import ratify
from headgate.catalog.ratification.ratify import Answer, Candidate
from headgate.catalog.store import new_commits
from headgate.catalog.store.new_commits import NewCommits
from headgate.catalog.validation import validation
from headgate.errors import CatalogUnavailable, CommitUnknown, InvalidRequest, TableNotFound
from headgate.protocol.actions import CommitInfo, Metadata, TxnId, Version
from headgate.protocol.log import codec
from tests.support.catalogs import a_catalog
from tests.support.proposals import content, inline, open_version, stamp
from tests.support.tables import create_managed


@dataclass(frozen=True)
class Two:
    """A catalog with two tables at version 0."""

    catalog: Catalog
    first: TableId
    second: TableId

    def together(self, *proposals: Proposal, database: Any = None) -> list[Answer]:
        candidates = [_candidate(each) for each in proposals]
        return ratify.ratify(database or self.catalog._database, candidates, ratify.RatificationTerms())

    def altered(self) -> Metadata:
        """The metadata of the first table with one property more."""
        told = self.catalog.tail(self.first).description
        assert told is not None
        configuration = {**told.metadata.configuration, "acme": "1"}
        return msgspec.structs.replace(told.metadata, configuration=configuration)

    def versions(self, table_id: TableId | None = None) -> dict[str, int]:
        commits = self.catalog.tail(table_id or self.first).commits
        return {str(commit.txn_id): commit.version for commit in commits}


@pytest.fixture(params=["sqlite", "postgresql"])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Two]:
    with a_catalog(request.param, tmp_path) as catalog:
        ids = [create_managed(catalog, TableName("s", name)).table_id for name in ("first", "second")]
        yield Two(catalog, *ids)


def test_each_of_a_group_gets_its_own_answer(two: Two) -> None:
    two.catalog.propose(inline(two.first, 1, "before"))

    answers = two.together(
        inline(two.first, 2, "a"),
        inline(two.first, 9, "gap"),
        inline(two.second, 1, "elsewhere"),
        inline(two.first, 3, "stale", data=content(3, "stale", at=stamp(2))),
        inline(two.first, 2, "late"),
        inline(two.first, 2, "a"),
        inline(TableId("nobody"), 1, "lost"),
        open_version(two.first, 1, "open"),
        inline(two.first, 5, "before"),
        inline(two.first, 4, "b"),
    )

    assert [type(answer) for answer in answers] == [
        Ratified, InvalidRequest, Ratified, InvalidRequest, Lost, Ratified, TableNotFound, Ratified, Ratified,
        Ratified,
    ]  # fmt: skip
    told = [answer.version for answer in answers if isinstance(answer, Ratified)]
    assert told == [2, 1, 2, 3, 1, 4]
    assert two.versions() == {"before": 1, "a": 2, "open": 3, "b": 4}
    assert two.versions(two.second) == {"elsewhere": 1}


def test_who_loses_within_its_group_is_told_all_winners_as_they_will_be_read(two: Two) -> None:
    *_, answer = two.together(
        inline(two.first, 1, "a"), open_version(two.first, 1, "open"), inline(two.first, 1, "late")
    )

    assert isinstance(answer, Lost)
    assert answer.winners == two.catalog.tail(two.first).commits
    assert [winner.version for winner in answer.winners] == [1, 2]


def test_an_open_version_after_a_change_of_the_table_in_the_same_group_is_lost(two: Two) -> None:
    changed = two.altered()
    change = inline(two.first, 1, "ddl", data=_line(1, "ddl", changed))

    answers = two.together(change, open_version(two.first, 1, "open"), open_version(two.first, 2, "after"))

    assert [type(answer) for answer in answers] == [Ratified, Lost, Ratified]
    told = two.catalog.tail(two.first).description
    assert told is not None and told.metadata == changed


def test_changes_of_the_table_in_one_group_are_told_like_changes_one_by_one(two: Two) -> None:
    before, changed = two.catalog.tail(two.first).description, two.altered()
    assert before is not None
    steps = [
        inline(two.first, 1, "x", data=_line(1, "x", two.altered())),
        inline(two.first, 2, "y"),
        inline(two.first, 3, "z", data=_line(3, "z", before.protocol)),
    ]

    two.together(*steps)

    told = two.catalog.tail(two.first).description
    assert told is not None and (told.protocol, told.metadata) == (before.protocol, changed)


@pytest.mark.parametrize("landed", [False, True], ids=["rolled back", "committed"])
def test_if_the_commit_is_not_answered_the_whole_group_is_unknown_and_one_fate(
    two: Two, landed: bool
) -> None:
    """Who lost to one of its own group must not be told so: that winner may not exist."""
    failing = _Failing(two.catalog._database, lambda: CommitUnknown("cut"), after=landed)
    group = [inline(two.first, 1, "a"), inline(two.first, 1, "late"), inline(two.first, 2, "b")]

    answers = two.together(*group, database=failing)

    assert [type(answer) for answer in answers] == [Unknown] * 3
    assert two.versions() == ({"a": 1, "b": 2} if landed else {})
    again = two.together(*group)
    assert [type(answer) for answer in again] == [Ratified, Lost, Ratified]
    assert two.versions() == {"a": 1, "b": 2}


def test_if_the_database_is_away_each_is_told_to_try_again(two: Two) -> None:
    failing = _Failing(two.catalog._database, lambda: CatalogUnavailable("away"), after=False)

    answers = two.together(inline(two.first, 1, "a"), inline(two.first, 2, "b"), database=failing)

    assert [type(answer) for answer in answers] == [CatalogUnavailable] * 2
    assert answers[0] is not answers[1]
    assert two.versions() == {}


def test_one_that_the_database_cannot_take_does_not_spoil_the_others(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = new_commits.insert_all

    def refuse(db: Connection, new: Sequence[NewCommits]) -> None:
        insert(db, new)
        if any(record.commit.txn_id == "poison" for each in new for record in each.records):
            raise InvalidRequest("too much")

    monkeypatch.setattr(new_commits, "insert_all", refuse)
    answers = two.together(
        inline(two.first, 1, "a"), inline(two.first, 2, "poison"), open_version(two.first, 1, "b")
    )

    assert [type(answer) for answer in answers] == [Ratified, InvalidRequest, Ratified]
    assert two.versions() == {"a": 1, "b": 2}


class _Failing:
    """A database whose transactions fail as they commit: before it, or after."""

    def __init__(self, inner: Database, error: Callable[[], Exception], *, after: bool) -> None:
        self._inner = inner
        self._error = error
        self._after = after

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._inner.writing() as db:
            yield db
            if not self._after:
                raise self._error()
        raise self._error()


def _candidate(proposal: Proposal) -> Candidate:
    assert isinstance(proposal.content, InlineCommit)
    data = proposal.content.content
    return Candidate(proposal, data, validation.check_content(proposal, data))


def _line(version: int, txn_id: str, action: Any) -> bytes:
    return codec.encode((CommitInfo(in_commit_timestamp=stamp(version), txn_id=TxnId(txn_id)), action))


@pytest.mark.parametrize("propose", [inline, open_version])
def test_no_commit_is_so_late_that_it_must_be_the_last(two: Two, propose: Callable[..., Proposal]) -> None:
    """Whoever may append could otherwise see to it that nobody ever can again."""
    end_of_9998 = 253_370_764_799_999
    two.together(inline(two.first, 1, "a", data=content(1, "a", at=end_of_9998 - 1)))

    late = propose(two.first, 2, "b", data=content(2, "b", at=end_of_9998 + 1))
    assert isinstance(two.together(late)[0], InvalidRequest)
    for version, stamped in enumerate((end_of_9998, end_of_9998 + 1, end_of_9998 + 2), 2):
        answer = two.together(
            propose(two.first, version, f"{stamped}", data=content(version, f"{stamped}", at=stamped))
        )
        assert answer == [Ratified(Version(version))]
