"""What does ``make test`` leave out? Of suites that ask the same question of many things, some of the things.

Every question is asked of something: of a test with parameters a row says how many of them stay, chosen by
their names, so that it is the same ones each time; a test without any always stays. ``make everything``, and
pytest for whoever calls it, leave nothing out.

    Sample("tests/contract/", 6, ("http-", "postgresql"))

keeps every contract of the embedded catalog over SQLite, and of each test one in six of its parameters that
name a server or PostgreSQL.
"""

import os
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

SHORT = "HEADGATE_TESTS_SHORT"
"""The variable that asks for a short run; ``scripts/run-tests`` sets it."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One row: of the parameters of each test below a path one in so many stays, and never none."""

    path: str
    one_in: int
    only: tuple[str, ...] = ()
    """Applies to parameters with one of these in their names; to all if empty."""

    def covers(self, item: pytest.Item) -> bool:
        test, _, parameters = item.nodeid.partition("[")
        return test.startswith(self.path) and (not self.only or any(word in parameters for word in self.only))


SAMPLES: tuple[Sample, ...] = (
    Sample("tests/browser/test_console_guards.py", 2),
    Sample("tests/chaos/test_benchmarks_run.py", 7),
    Sample("tests/chaos/test_kills.py", 9),
    Sample("tests/chaos/", 3),
    Sample("tests/contract/test_s3_faults.py", 4),
    Sample("tests/contract/", 8, ("http-", "postgresql")),
    Sample("tests/linear/test_linear.py", 4),
    Sample("tests/interop/test_corpora_rows.py", 3),
    Sample("tests/interop/test_delta_api.py", 4),
    Sample("tests/interop/test_random_histories.py", 2),
    Sample("tests/interop/test_referee.py", 3),
    Sample("tests/interop/test_statements_on_delta.py", 2),
    Sample("tests/interop/test_http_java_kernel.py", 2),
    Sample("tests/interop/test_http_sail.py", 2),
    Sample("tests/scenarios/http/", 8, ("postgresql",)),
    Sample("tests/scenarios/http/", 3),
    Sample("tests/simulation/", 4),
    Sample("tests/spark/connect/", 3),
    Sample("tests/spark/test_binders.py", 4),
    Sample("tests/spark/test_concurrent_merges.py", 3),
    Sample("tests/spark/test_hostile_names.py", 9),
    Sample("tests/spark/test_moments.py", 3),
    Sample("tests/spark/test_odd_folders.py", 4),
    Sample("tests/spark/test_odd_tables.py", 9),
    Sample("tests/spark/test_partitioned_writes.py", 3),
    Sample("tests/spark/test_row_filter.py", 6),
    Sample("tests/spark/test_scan_cache.py", 4),
    Sample("tests/spark/test_self_reads.py", 4),
    Sample("tests/spark/test_small_data.py", 4),
    Sample("tests/spark/test_state.py", 4),
    Sample("tests/spark/test_state_scans.py", 6),
    Sample("tests/spark/", 2),
    Sample("tests/sql/test_statements.py", 4),
    Sample("tests/unit/catalog/handover/test_adoption_steps.py", 3),
    Sample("tests/unit/catalog/unity/", 3),
    Sample("tests/unit/catalog/validation/test_growth.py", 3),
    Sample("tests/unit/catalog/wire/test_operation_codec.py", 3),
    Sample("tests/unit/protocol/conflicts/test_domain_races.py", 3),
    Sample("tests/unit/server/", 3),
    Sample("tests/unit/storage/test_odd_folders.py", 4),
    Sample("tests/unit/table/alter/", 4),
    Sample("tests/unit/table/maintenance/", 2),
    Sample("tests/unit/table/read/test_flipped_bytes.py", 2),
)
"""The first row that covers a test is the one that counts."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not os.environ.get(SHORT):
        return
    left_out = set(_left_out(items))
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def _left_out(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    groups: dict[tuple[Sample, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        row = next((sample for sample in SAMPLES if sample.covers(item)), None)
        if row is not None:
            groups[row, item.nodeid.partition("[")[0]].append(item)
    return [item for (row, _), group in groups.items() for item in _beyond(row, group)]


def _beyond(row: Sample, group: list[pytest.Item]) -> list[pytest.Item]:
    """The parameters of one test that stay out: all but the first of them, by a hash of their names."""
    group.sort(key=lambda item: zlib.crc32(item.nodeid.encode()))
    return group[-(-len(group) // row.one_in) :]
