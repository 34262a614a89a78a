"""Is what was read of a table still true, for who only read it?"""

import pytest

from headgate.errors import (
    ConcurrentAppend,
    ConcurrentTransaction,
    ConcurrentWrite,
    ConflictError,
    MetadataChanged,
)
from headgate.protocol.conflicts import read_validation
from headgate.protocol.log.replay import State
from headgate.protocol.predicates import from_sql
from headgate.protocol.predicates.tree import Predicate
from headgate.protocol.schema import json as schema_json
from headgate.protocol.transaction.attempt import ReadSet
from tests.support.attempts import BASE, side, table

STATE = table(["partitioned:p", "feature:domainMetadata"])


def asked(sql: str) -> Predicate:
    return from_sql.parse(sql, schema_json.parse(STATE.metadata.schema_string))


def judged(reads: ReadSet, *words: str, state: State = STATE) -> type[ConflictError] | None:
    """The conflict that a commit of these words is to who read this much; None if it is none."""
    try:
        read_validation.validate_reads(
            read_validation.read_only_attempt(state, reads), [side("theirs", words, state).as_winner()]
        )
    except ConflictError as error:
        return type(error)
    return None


def test_what_was_not_read_may_change() -> None:
    assert judged(ReadSet(predicates=(asked("p = 2"),)), "append:p=1") is None
    assert judged(ReadSet(predicates=(asked("p = 1"),)), "append:p=1") is ConcurrentAppend


def test_rows_mean_something_else_under_other_columns() -> None:
    """Also to who asked for none of them."""
    assert judged(ReadSet(predicates=(asked("p = 1"),)), "describe:otherwise") is MetadataChanged


def test_a_reader_must_be_right_whatever_isolation_the_table_has() -> None:
    relaxed = table(["partitioned:p", "set:delta.isolationLevel=WriteSerializable"])

    assert judged(ReadSet(whole_table=True), "append:p=1", state=relaxed) is ConcurrentAppend


def test_a_reader_that_is_still_right_goes_on_from_there() -> None:
    reader = read_validation.read_only_attempt(STATE, ReadSet(predicates=(asked("p = 1"),)))

    moved = read_validation.validate_reads(reader, [side("theirs", ["append:p=2"], STATE).as_winner()])

    assert (moved.read.version, moved.follows.version) == (BASE, BASE + 1)
    with pytest.raises(ConcurrentAppend):
        winner = side("theirs", ["append:p=1"], moved.follows).as_winner()
        read_validation.validate_reads(moved, [winner])


def test_what_was_looked_up_must_not_be_written() -> None:
    assert judged(ReadSet(domains=True), "domain:a=1") is ConcurrentWrite
    assert judged(ReadSet(app_ids=frozenset({"etl"})), "app:etl=3") is ConcurrentTransaction
    assert judged(ReadSet(app_ids=frozenset({"etl"})), "app:other=3") is None
