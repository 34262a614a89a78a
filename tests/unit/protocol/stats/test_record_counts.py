"""How many rows a file has, and that a number is never changed by being passed on."""

import pytest

from headgate.protocol.stats import record_counts
from headgate.protocol.stats.record_counts import RecordCounts
from tests.support.commits import add


@pytest.mark.parametrize(
    ("stats", "found"),
    [
        (None, RecordCounts()),
        ("", RecordCounts()),
        ("no JSON", RecordCounts()),
        ('{"numRecords":"many"}', RecordCounts()),
        ('{"numRecords":-1}', RecordCounts()),
        ('{"numRecords":9223372036854775808}', RecordCounts()),
        ('{"numRecords":9223372036854775807}', RecordCounts(2**63 - 1)),
        ('{"numRecords":0}', RecordCounts(0)),
        ('{"numRecords":7,"minValues":' + "[" * 9_999 + "]" * 9_999 + "}", RecordCounts()),
        ('{"minValues":{}}', RecordCounts()),
        ('{"numRecords":7,"tightBounds":false}', RecordCounts(7, tight_bounds=False)),
        ('{"tightBounds":true}', RecordCounts(None, tight_bounds=True)),
    ],
)
def test_what_statistics_say_of_a_file_or_nothing(stats: str | None, found: RecordCounts) -> None:
    assert record_counts.counts_of_file(add("a", stats)) == found


def test_wide_bounds_leave_every_number_as_it_was() -> None:
    stats = '{"numRecords":7,"minValues":{"a":1.10000000000000000000000001},"tightBounds":true}'

    assert record_counts.with_wide_bounds(stats) == stats.replace("true", "false")
    assert record_counts.with_wide_bounds("{}") == '{"tightBounds":false}'
    assert record_counts.with_wide_bounds(None) is None


@pytest.mark.parametrize(
    ("stats", "readable"),
    [
        (None, True),
        ("{}", True),
        (
            '{"numRecords":7,"minValues":{"a":[1]},"maxValues":{},"nullCount":{"a":0},"tightBounds":true}',
            True,
        ),
        ('{"numRecords":null,"somethingNew":1}', True),
        ('{"numRecords":0}', True),
        ('{"numRecords":1099511627776}', True),
        ('{"numRecords":1099511627777}', False),
        ("", False),
        ("[]", False),
        ("{", False),
        ('{"numRecords":-1}', False),
        ('{"numRecords":9223372036854775808}', False),
        ('{"numRecords":1.5}', False),
        ('{"tightBounds":1}', False),
        ('{"nullCount":[]}', False),
    ],
)
def test_what_every_reader_can_make_something_of(stats: str | None, readable: bool) -> None:
    assert (record_counts.stats_problem(stats) is None) is readable


def test_statistics_nested_without_end_are_unreadable() -> None:
    assert record_counts.stats_problem('{"minValues":' + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}")
