"""Does ratifying cost more in a catalog that has ratified a million commits? Beside a catalog that is new.

The long history is written into the database as the catalog would have, ids of transactions at random,
and all of it is published. Then both ratify appends, in turns: the same proposals, the version left open.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from uuid import UUID

from sqlalchemy import insert, update

from benchmarks.report import Measure, Result, latencies
from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import Ratified, TableId
from headgate.catalog.store import commit_store
from tests.support import proposals, tables

BLOCK = 50
_AT_ONCE = 10_000
_FIRST_MOMENT = 1_600_000_000_000


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    # The catalog would have more than a thousand published first.
    rows, commits = (1_000, 2 * BLOCK) if quick else (1_000_000, 900)
    with closing(open_catalog(place / "long")) as long, closing(open_catalog(place / "new")) as new:
        sides = [(catalog, tables.create_managed(catalog).table_id) for catalog in (long, new)]
        _remember(long, sides[0][1], rows)
        spent: list[list[float]] = [[], []]
        for start in range(-BLOCK, commits, BLOCK):  # the first block warms up
            for (catalog, table_id), seconds in zip(sides, spent, strict=True):
                block = _ratified(catalog, table_id, start)
                seconds.extend(block if start >= 0 else ())
    ours, fresh = spent
    yield Result(
        f"{rows:,} commits",
        Measure(commits / sum(ours)),
        Measure(commits / sum(fresh)),
        (f"long: {latencies(ours)}", f"new: {latencies(fresh)}"),
        peer_name="a new catalog",
    )


def _remember(catalog: Catalog, table_id: TableId, rows: int) -> None:
    """Have the catalog believe that this many versions of the table were ratified and published."""
    random = Random(1)
    for start in range(1, rows + 1, _AT_ONCE):
        with catalog._database.writing() as db:
            db.execute(
                insert(commit_store.commits),
                [
                    {
                        "table_id": table_id,
                        "version": version,
                        "txn_id": str(UUID(int=random.getrandbits(128))),
                        "in_commit_timestamp": _FIRST_MOMENT + version,
                        "size": 500,
                        "sha256": f"{version:064x}",
                        "operation": "WRITE",
                    }
                    for version in range(start, min(rows + 1, start + _AT_ONCE))
                ],
            )
    with catalog._database.writing() as db:
        row = {"latest": rows, "published": rows, "latest_timestamp": _FIRST_MOMENT + rows}
        db.execute(
            update(commit_store.tables).where(commit_store.tables.c.table_id == table_id).values(**row)
        )


def _ratified(catalog: Catalog, table_id: TableId, start: int) -> list[float]:
    seconds = []
    for number in range(start, start + BLOCK):
        proposal = proposals.open_version(table_id, 1, str(UUID(int=2**64 + number + BLOCK)))
        began = time.perf_counter()
        answer = catalog.propose(proposal)
        seconds.append(time.perf_counter() - began)
        assert isinstance(answer, Ratified)
    return seconds
