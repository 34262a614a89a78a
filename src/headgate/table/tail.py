"""What the catalog says of a table's latest commits, put in order and believed only if it is whole."""

from dataclasses import replace

from headgate.catalog.api import CommitCatalog, TableId, Tail
from headgate.errors import CorruptLog


def ask(catalog: CommitCatalog, table_id: TableId) -> Tail:
    """The catalog's tail in ascending order; ``CorruptLog`` if it has a gap or does not end at the latest.

    What is missing is not looked for in the log: a published file need not be what was ratified.
    """
    tail = catalog.tail(table_id)
    commits = tuple(sorted(tail.commits, key=lambda commit: commit.version))
    expected = range(tail.latest - len(commits) + 1, tail.latest + 1)
    if found := {commit.version for commit in commits} ^ set(expected):
        raise CorruptLog(
            f"the catalog's commits of table {table_id} are not contiguous up to its latest version, "
            f"{tail.latest}: it holds {[int(commit.version) for commit in commits]}; look at version "
            f"{max(found)}",
            version=max(found), latest=tail.latest,
        )  # fmt: skip
    return replace(tail, commits=commits)
