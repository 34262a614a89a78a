"""What a client is told when things go wrong half way: unknown is unknown, and nobody is asked to publish."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.decision import UnpublishedLimits
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import Proposal, TableId, Unknown
from headgate.errors import CatalogUnavailable, StorageUnavailable
from headgate.server.routes.delta import session
from tests.support import delta_api
from tests.support.delta_api import (
    UNKNOWN,
    DeltaApi,
    DeltaTable,
    backfill,
    error_of,
    now_ms,
    publish_file,
    stage_file,
)
from tests.support.http_server import serving


class AnsweringOtherwise:
    """A catalog whose proposals are answered by somebody else, who may ask it."""

    def __init__(self, inner: Any, propose: Callable[[Any, Proposal], Any]) -> None:
        self._inner = inner
        self._propose = propose

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def acting_as(self, principal: str, **options: Any) -> "AnsweringOtherwise":
        return AnsweringOtherwise(self._inner.acting_as(principal, **options), self._propose)

    def propose(self, proposal: Proposal) -> Any:
        return self._propose(self._inner, proposal)


@contextmanager
def answering(catalog: Catalog, propose: Callable[[Any, Proposal], Any]) -> Iterator[DeltaApi]:
    wrapped: Any = AnsweringOtherwise(catalog, propose)
    with serving(wrapped, name="unity") as url:
        yield DeltaApi(url)


def test_what_nobody_knows_is_told_as_unknown_and_can_be_asked_again(catalog: Catalog) -> None:
    def lose_the_answer(inner: Any, proposal: Proposal) -> Unknown:
        inner.propose(proposal)
        return Unknown("the connection was lost")

    with answering(catalog, lose_the_answer) as api:
        table = api.create()
        staged = stage_file(table.location, 1)

        assert error_of(table.update(staged.update)) == UNKNOWN
        assert table.update(staged.update).status_code == 200
        assert table.load()["latest-table-version"] == 1


def test_a_catalog_that_cannot_be_reached_changed_nothing(catalog: Catalog) -> None:
    def refuse(inner: Any, proposal: Proposal) -> Any:
        raise CatalogUnavailable("the database is away")

    with answering(catalog, refuse) as api:
        table = api.create()

        assert table.update(stage_file(table.location, 1).update).status_code == 503
        assert table.load()["latest-table-version"] == 0


def test_a_server_publishes_rather_than_refuse_for_want_of_room(tmp_path: Path) -> None:
    with closing(open_catalog(tmp_path / "lake", limits=UnpublishedLimits(commits=3))) as catalog:
        catalog.create_schema("sales")
        with serving(catalog, name="unity") as url:
            table = DeltaApi(url).create()
            for version in range(1, 9):
                table.commit(version)
            assert catalog.tail(TableId(table.uuid)).published >= 5


def test_a_ratified_commit_is_answered_although_the_store_fails_afterwards(
    table: DeltaTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that needs the store is done before the proposal, so nothing after it can fail."""
    content = delta_api.commit_content(now_ms() + 1, txn_id="held").decode()
    table.update(
        {"action": "add-commit", "commit": {"version": 1, "timestamp": 1, "content": content}}
    ).raise_for_status()
    staged, calls = stage_file(table.location, 2), list[str]()
    publish = session.publish.publish

    def once(*arguments: Any) -> Any:
        calls.append("publish")
        if len(calls) > 1:
            raise StorageUnavailable("the disk is away")
        return publish(*arguments)

    monkeypatch.setattr(session.publish, "publish", once)

    answered = table.update(staged.update)

    assert answered.status_code == 200, answered.text
    assert calls == ["publish"]
    assert [commit["version"] for commit in answered.json()["commits"]] == [2]


def test_a_store_that_fails_before_the_proposal_leaves_the_table_as_it_was(
    table: DeltaTable, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = delta_api.commit_content(now_ms() + 1, txn_id="held").decode()
    table.update(
        {"action": "add-commit", "commit": {"version": 1, "timestamp": 1, "content": content}}
    ).raise_for_status()

    def fail(*_: Any) -> Any:
        raise StorageUnavailable("the disk is away")

    monkeypatch.setattr(session.publish, "publish", fail)

    assert table.update(stage_file(table.location, 2).update).status_code == 503
    assert table.api.get(table.path).status_code == 503
    assert catalog.tail(TableId(table.uuid)).latest == 1


def test_the_answer_to_a_commit_leaves_out_what_it_reported_as_published(table: DeltaTable) -> None:
    publish_file(table.location, table.commit(1))

    answered = table.update(stage_file(table.location, 2).update, backfill(1))

    assert [commit["version"] for commit in answered.json()["commits"]] == [2]
    assert answered.json() == table.load()


def test_a_table_that_the_catalog_does_not_describe_is_read_from_its_log(
    table: DeltaTable, catalog: Catalog
) -> None:
    table.commit(1)
    before = table.load()
    catalog.books(TableId(table.uuid)).forget_description()

    loaded = table.load()

    assert catalog.tail(TableId(table.uuid)).description is None
    for part in ("etag", "columns", "protocol", "location", "table-uuid"):
        assert loaded["metadata"][part] == before["metadata"][part]
    assert loaded["commits"] == before["commits"]
    table.commit(2)
