"""A step that has a clone beside the table: what the other engine does to it, the table does not notice."""

from random import Random

import headgate
from tests.support.histories.compare import compare_latest
from tests.support.histories.model import condition
from tests.support.histories.steps import Now, Site, Step


def shallow_clone(random: Random, now: Now) -> Step:
    """One makes a clone over the same files, the other deletes rows of it; both read both."""
    where = condition(random, now.state)
    kept = [row for row in now.state.rows if not where.holds(now.state.cells(row))]
    cloned = now.state.with_rows(kept)
    serial = random.randrange(10**9)

    def ours(site: Site) -> None:
        with headgate.connect(f"{site.path}-lake-{serial}") as lake:
            lake.create_schema("s")
            lake.clone(site.path, "s.clone", shallow=True)
            place = lake.release("s.clone").location
        site.delta.sql(f"DELETE FROM delta.`{place}` WHERE {where.text()}")
        compare_latest(site.at(place), cloned)

    def theirs(site: Site) -> None:
        clone = site.at(f"{site.path}-clone-{serial}")
        site.sql(f"CREATE TABLE delta.`{clone.path}` SHALLOW CLONE {{t}}")
        clone.table.delete(where.text(), spark=site.spark)
        compare_latest(clone, cloned)

    return Step(f"clone it, and delete of the clone {where.text()}", ours, theirs, now.state)
