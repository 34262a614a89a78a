"""What becomes of a commit when its owner is behind HTTP, and answers with each kind of failure."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from headgate import owners
from headgate.catalog.coordinator.failures import FAILURES
from headgate.catalog.ports.commits import Lost, Unknown
from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    ConcurrentWrite,
    HeadgateError,
    InvalidRequest,
    NotAllowed,
    TooManyUnpublished,
)
from headgate.table.alter import coordination
from headgate.table.opened_table import OpenedTable
from tests.support.faulty_store import DictStore
from tests.support.http_owner import LOSE_REPLY, HttpOwner, Service, serving
from tests.support.owned import CONF, NAME, Place, append
from tests.support.tables import append_change, create_filesystem, named_file
from tests.support.versions import paths

RETRYABLE = [500, 502, 503, 504, 408, 418, 301]


@dataclass(frozen=True)
class Served:
    """A table whose owner is behind HTTP, given to it with version 1, with one append: version 2."""

    place: Place
    service: Service

    def files(self) -> list[str]:
        """What a fresh reader finds."""
        return sorted(paths(self.place.opened()))

    def asked(self) -> list[int]:
        """The versions that were asked for since the table was made."""
        return [request.body["version"] for request in self.service.commits()[1:]]


@pytest.fixture
def served() -> Iterator[Served]:
    store = DictStore()
    service = Service(store)
    with serving(service) as address:
        place = Place(store, owners={NAME: HttpOwner(address)})
        create_filesystem(store, world=place.world)
        coordination.coordinate(place.opened(), place.find, NAME, CONF)
        append(place.opened(), ["first"])
        yield Served(place, service)


@contextmanager
def while_committing(table: OpenedTable) -> Iterator[Callable[[], int]]:
    """An append of the file ``late`` that is based on the latest version at the start."""
    base = table.snapshot()
    yield lambda: table.commit(append_change(named_file("late")), base=base)


@pytest.mark.parametrize("status", RETRYABLE)
def test_a_failure_that_says_nothing_is_asked_again_with_the_same_version_and_content(
    served: Served, status: int
) -> None:
    """S065: 500, and every status without a meaning of its own"""
    served.service.script = [status, status]

    assert append(served.place.opened(), ["second"]) == [3]

    assert served.asked() == [3, 3, 3]
    assert len({(request.body["txn"], request.content) for request in served.service.commits()[1:]}) == 1
    assert served.files() == ["first", "second"]


def test_a_commit_whose_answer_was_lost_is_not_made_twice(served: Served) -> None:
    """S065: 500 after the commit was ratified"""
    served.service.script = [LOSE_REPLY]

    assert append(served.place.opened(), ["second"]) == [3]

    assert served.asked() == [3]
    assert served.files() == ["first", "second"]


def test_a_version_that_is_taken_is_rebased_onto_its_winners(served: Served) -> None:
    """S065: 409"""
    with while_committing(served.place.opened()) as commit:
        append(served.place.opened(), ["second", "third"])

        assert commit() == 5

    assert served.asked() == [3, 4, 3, 5]
    assert served.files() == ["first", "late", "second", "third"]


@pytest.mark.parametrize(
    ("status", "error"),
    [(400, NotAllowed), (401, NotAllowed), (403, NotAllowed), (404, InvalidRequest)],
)
def test_a_final_no_fails_at_once_and_says_why(
    served: Served, status: int, error: type[HeadgateError]
) -> None:
    """S065: 400 and 404"""
    served.service.script = [status]

    with pytest.raises(error, match=f"as planned, {status}") as caught:
        append(served.place.opened(), ["second"])

    assert type(caught.value) is error
    assert served.asked() == [3]
    assert served.files() == ["first"]
    assert append(served.place.opened(), ["third"]) == [3]


def test_a_final_no_after_silence_proves_nothing(served: Served) -> None:
    """S065, P13: the earlier proposal may have been ratified since it was looked for."""
    served.service.script = [500, 400]

    with pytest.raises(CommitUnknown, match="as planned, 500"):
        append(served.place.opened(), ["second"])


def test_at_the_limit_what_is_ratified_is_published_first(served: Served) -> None:
    """S065: 429"""
    served.service.limit = 1
    assert served.place.published() == [0, 1]

    assert append(served.place.opened(), ["second", "third"]) == [3, 4]

    assert served.asked() == [3, 3, 4, 4]
    assert served.place.published() == [0, 1, 2, 3]
    assert served.files() == ["first", "second", "third"]


def test_a_limit_that_publishing_does_not_lift_is_said(served: Served) -> None:
    """S065: 429 for another reason; nothing was committed, which is certain."""
    served.service.script = [429] * 1_000

    with pytest.raises(TooManyUnpublished, match="as planned, 429"):
        append(served.place.opened(), ["second"])

    served.service.script = []
    assert served.files() == ["first"]
    assert append(served.place.opened(), ["third"]) == [3]


def test_rows_say_of_each_status_what_the_failure_means() -> None:
    """S065"""
    rows = {row.status: (row.retryable, row.conflict) for row in FAILURES}

    assert rows[400] == rows[404] == (False, False)
    assert rows[409] == (True, True)
    assert rows[429] == rows[None] == (True, False)
    assert list(rows)[-1] is None


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, NotAllowed),
        (404, InvalidRequest),
        (409, NotAllowed),
        (429, CatalogUnavailable),
        (503, CatalogUnavailable),
    ],
)
def test_questions_fail_by_an_error_that_says_whether_to_ask_again(
    status: int, error: type[HeadgateError]
) -> None:
    found = owners.error_from_status(status, "why")

    assert type(found) is error
    assert f"why (HTTP {status})" in found.message


def test_a_success_is_no_failure() -> None:
    for say in (owners.commit_failure_from_status, owners.error_from_status):
        with pytest.raises(InvalidRequest, match="200 is no failure"):
            say(200, "all is well")


@pytest.mark.parametrize(
    ("retryable", "conflict", "expected"),
    [
        (True, True, Lost(())),
        (True, False, Unknown("why")),
        (False, True, ConcurrentWrite),
        (False, False, NotAllowed),
    ],
)
def test_the_two_words_of_a_coordinator_have_one_meaning(
    retryable: bool, conflict: bool, expected: object
) -> None:
    """S065"""
    if isinstance(expected, type):
        with pytest.raises(expected, match="why"):
            owners.commit_failure("why", retryable=retryable, conflict=conflict)
    else:
        assert owners.commit_failure("why", retryable=retryable, conflict=conflict) == expected
