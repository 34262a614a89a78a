"""Is a history of transactions over several tables serializable? Who must come before whom: is there a cycle?

Every transaction appends a value of its own to the tables it writes and says which version of each table
it saw, so all dependencies are known (as in Elle): the writer of a version comes before the writer of the
next one (ww) and before who read it (wr); who read a version comes before the writer of the next one (rw);
and who had ended before another began comes first, too (time). There is a serial order that explains all
exactly if these do not go in a circle.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from tests.linear.checker import Violation
from tests.linear.history import FOREVER, Told


class Transaction(msgspec.Struct, frozen=True):
    """What one transaction read and wrote, by table; a version that was read is the latest it saw."""

    name: str
    begin: int
    end: int
    told: Told
    reads: Mapping[int, int]
    writes: frozenset[int]


Logs = Mapping[int, Sequence[str]]
"""The transactions that each table has in the end, by version."""
_TRIED = 5
Edges = dict[str, list[tuple[str, str]]]
"""Who comes after whom, and why."""


def check(transactions: Sequence[Transaction], logs: Logs) -> Iterator[Violation]:
    """Torn groups, failures that happened, and circles."""
    known = {each.name: each for each in transactions}
    became: dict[str, list[int]] = defaultdict(list)
    for table, log in logs.items():
        for txn in log[1:]:
            became[txn].append(table)
    for name, tables in became.items():
        if name not in known:
            yield Violation("proposed", tables[0], f"{name} was proposed by nobody")
        elif sorted(tables) != sorted(known[name].writes):
            yield Violation(
                "torn",
                tables[0],
                f"{name} wrote tables {sorted(known[name].writes)}, and is in {sorted(tables)}",
            )
    for each in transactions:
        if each.told is Told.DONE and each.writes and each.name not in became:
            yield Violation("acknowledged", -1, f"{each.name} was told that it is committed, and is nowhere")
        if each.told is Told.LOST and each.name in became:
            yield Violation(
                "refused", became[each.name][0], f"{each.name} was told that it lost, and is there"
            )
        for table, version in each.reads.items():
            if version >= len(logs[table]):
                yield Violation("contents", table, f"{each.name} read version {version}, which is not there")
    happened = [each for each in transactions if each.name in became or (each.told is Told.DONE)]
    cycle = _cycle(_edges(happened, logs))
    if cycle:
        yield Violation(_kind(cycle), -1, "; ".join(f"{a} –{why}→ {b}" for a, why, b in cycle))


def _edges(happened: Sequence[Transaction], logs: Logs) -> Edges:
    edges: Edges = defaultdict(list)
    for log in logs.values():
        for before, after in pairwise(log[1:]):
            edges[before].append((after, "ww"))
    for each in happened:
        for table, version in each.reads.items():
            log = logs[table]
            if 0 < version < len(log) and log[version] != each.name:
                edges[log[version]].append((each.name, "wr"))
            if version + 1 < len(log) and log[version + 1] != each.name:
                edges[each.name].append((log[version + 1], "rw"))
    _add_times(edges, happened)
    return edges


def _add_times(edges: Edges, happened: Sequence[Transaction]) -> None:
    """By way of moments, so that not every pair needs an edge."""
    ends = sorted((each.end, each.name) for each in happened if each.end < FOREVER)
    begins = sorted((each.begin, each.name) for each in happened)
    at, moment = 0, ""
    for begin, name in begins:
        while at < len(ends) and ends[at][0] < begin:
            following = f"@{at}"
            edges[ends[at][1]].append((following, "time"))
            if moment:
                edges[moment].append((following, "time"))
            at, moment = at + 1, following
        if moment:
            edges[moment].append((name, "time"))


def _cycle(edges: Edges) -> list[tuple[str, str, str]]:
    """One circle, if there is any: depth first, without recursion."""
    done: set[str] = set()
    for start in list(edges):
        if start in done:
            continue
        path: list[str] = []
        on_path: dict[str, int] = {}
        waiting: list[tuple[str, Iterator[tuple[str, str]]]] = [(start, iter(edges.get(start, ())))]
        on_path[start] = 0
        path.append(start)
        while waiting:
            node, following = waiting[-1]
            step = next(following, None)
            if step is None:
                waiting.pop()
                path.pop()
                del on_path[node]
                done.add(node)
            elif step[0] in on_path:
                return _shortest(edges, path[on_path[step[0]] :])
            elif step[0] not in done:
                on_path[step[0]] = len(path)
                path.append(step[0])
                waiting.append((step[0], iter(edges.get(step[0], ()))))
    return []


def _shortest(edges: Edges, circle: Sequence[str]) -> list[tuple[str, str, str]]:
    """The shortest circle through a node of this one, which explains more than a long one."""
    members = set(circle)
    best: list[tuple[str, str, str]] = []
    for start in [node for node in circle if not node.startswith("@")][:_TRIED]:
        found = _back_to(edges, start, members)
        if found and (not best or len(found) < len(best)):
            best = found
    return best


def _back_to(edges: Edges, start: str, members: set[str]) -> list[tuple[str, str, str]]:
    came: dict[str, tuple[str, str]] = {}
    level = [start]
    while level:
        following: list[str] = []
        for node in level:
            for target, why in edges.get(node, ()):
                if target == start:
                    return [*_way(came, start, node), (node, why, start)]
                if target in members and target not in came:
                    came[target] = (node, why)
                    following.append(target)
        level = following
    return []


def _way(came: Mapping[str, tuple[str, str]], start: str, end: str) -> list[tuple[str, str, str]]:
    steps: list[tuple[str, str, str]] = []
    while end != start:
        before, why = came[end]
        steps.append((before, why, end))
        end = before
    return steps[::-1]


def _kind(cycle: Sequence[tuple[str, str, str]]) -> str:
    """What such a circle is called."""
    reasons = [why for _, why, _ in cycle]
    if "time" in reasons:
        return "stale"
    if reasons.count("rw") >= 2:
        return "write-skew"
    if "ww" in reasons and "rw" in reasons and "wr" not in reasons:
        return "lost-update"
    return "fractured-read" if "rw" in reasons else "circular"
