"""Whether the bytes of a compaction can stand for its commits."""

from collections.abc import Sequence

import pytest

from headgate.protocol.actions import Action, AppTransaction, DomainMetadata, Version
from headgate.protocol.log import codec, log_compaction
from tests.support.attempts import with_vector
from tests.support.commits import MANAGED, PROTOCOL, add, metadata, remove


def domain(name: str, value: str) -> DomainMetadata:
    return DomainMetadata(domain=name, configuration=value, removed=False)


def app(name: str, version: int) -> AppTransaction:
    return AppTransaction(app_id=name, version=version)


@pytest.mark.parametrize(
    ("actions", "reconciled"),
    [
        ([], True),
        ([PROTOCOL, metadata(), app("a", 1), domain("a", "1"), remove("a"), add("b")], True),
        ([add("a"), with_vector(add("a"), "v"), add("b")], True),
        ([app("a", 1), app("b", 1), domain("a", "1"), domain("b", "1")], True),
        ([add("a"), remove("b"), add("a")], False),
        ([remove("a"), add("a")], False),
        ([app("a", 1), app("a", 2)], False),
        ([domain("a", "1"), domain("a", "2")], False),
        ([PROTOCOL, MANAGED], False),
        ([metadata(), metadata(delta_appendOnly="true")], False),
    ],
)
def test_a_compaction_that_says_one_thing_of_each_stands_for_its_commits(
    actions: Sequence[Action], *, reconciled: bool
) -> None:
    assert log_compaction.is_reconciled(Version(3), codec.encode(actions)) is reconciled


def test_what_cannot_be_read_stands_for_nothing() -> None:
    assert not log_compaction.is_reconciled(Version(3), b'{"add":')
