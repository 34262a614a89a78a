"""What the catalog says of a table's latest commits, put in order and believed only if it is whole."""

from dataclasses import replace

from headgate.catalog.ports.commits import CommitCatalog, TableId, Tail
from headgate.errors import CorruptLog


def fetch_tail(catalog: CommitCatalog, table_id: TableId) -> Tail:
    """The catalog's tail in ascending order; ``CorruptLog`` unless all after the published version is there.

    What is missing is not looked for in the log: a published file need not be what was ratified.
    """
    return require_contiguous(table_id, catalog.tail(table_id))


def require_contiguous(table_id: TableId, tail: Tail) -> Tail:
    """A tail in ascending order, if it is whole."""
    first = min(tail.published, tail.latest - len(tail.commits)) + 1  # it may hold more than it must
    expected = range(first, tail.latest + 1)
    if [commit.version for commit in tail.commits] == list(expected):
        return tail
    commits = tuple(sorted(tail.commits, key=lambda commit: commit.version))
    if found := {commit.version for commit in commits} ^ set(expected):
        raise CorruptLog(
            f"the catalog's commits of table {table_id} are not contiguous from its published version, "
            f"{tail.published}, up to its latest, {tail.latest}: it holds "
            f"{[int(commit.version) for commit in commits]}; look at version {max(found)}",
            version=max(found), latest=tail.latest,
        )  # fmt: skip
    return replace(tail, commits=commits)
