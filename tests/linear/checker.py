"""Is a history linearizable? A checker for tables, whose versions count up by one.

A search for an order of all operations would take for ever; here none is needed, because every
operation says where it belongs. An append belongs to its version; whoever saw version v as the
latest one belongs between the append of v and that of v + 1. So all operations stand in a row of
groups, and there is an order that agrees with their times exactly if no operation ended before
one of an earlier group began. Looking for that takes one pass.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from tests.linear.history import FOREVER, Kind, Operation, Told, digest


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that the history of a table breaks."""

    rule: str
    table: int
    what: str


class _Placed(NamedTuple):
    """An operation in its group."""

    group: int
    begin: int
    end: int
    what: str


@dataclass(frozen=True)
class History:
    """One table: what was done to it, and the transactions it has in the end, by version."""

    table: int
    operations: Sequence[Operation]
    log: Sequence[str]

    @cached_property
    def versions(self) -> Mapping[str, int]:
        return {txn: version for version, txn in enumerate(self.log)}

    @cached_property
    def appends(self) -> Mapping[str, Sequence[Operation]]:
        """The attempts of each transaction."""
        found: dict[str, list[Operation]] = defaultdict(list)
        for operation in self.operations:
            if operation.kind is Kind.APPEND:
                found[operation.txn].append(operation)
        return found

    @cached_property
    def digests(self) -> Sequence[tuple[int, int]]:
        """How many files each version has, and their digest; version 0 has none."""
        sums = accumulate((digest(txn) for txn in self.log[1:]), initial=0)
        return [(files, total & 0xFFFF_FFFF_FFFF_FFFF) for files, total in enumerate(sums)]

    def seen(self) -> Iterator[tuple[Operation, int]]:
        """Every operation that saw the table as it was at one moment, and its latest version then."""
        for operation in self.operations:
            sees = operation.kind in (Kind.TAIL, Kind.LOAD, Kind.PUBLISH) and operation.told is Told.DONE
            lost = operation.told is Told.LOST and operation.version >= 0
            if sees or lost:
                yield operation, operation.version

    @cached_property
    def placed(self) -> Sequence[_Placed]:
        """Appends of v in group 2v, those who saw v as the latest in group 2v + 1."""
        rows = [
            _Placed(2 * version + 1, operation.begin, operation.end, _named(operation))
            for operation, version in self.seen()
        ]
        for txn, attempts in self.appends.items():
            version = self.versions.get(txn)
            if version is not None:
                begin = min(attempt.begin for attempt in attempts)
                acknowledged = [attempt.end for attempt in attempts if attempt.told is Told.DONE]
                end = min(acknowledged, default=FOREVER)
                rows.append(_Placed(2 * version, begin, end, f"the append of version {version}, {txn}"))
        return sorted(rows)


def check(history: History) -> Iterator[Violation]:
    """Every rule that the history breaks."""
    for rule in RULES:
        for what in rule(history):
            yield Violation(rule.__name__.strip("_").replace("_", "-"), history.table, what)


def _once(history: History) -> Iterator[str]:
    """No transaction is two versions."""
    for txn, times in Counter(history.log).items():
        if times > 1:
            yield f"{txn} is {times} versions"


def _acknowledged(history: History) -> Iterator[str]:
    """Who was told a version has that version."""
    for operation in history.operations:
        told = operation.kind in (Kind.APPEND, Kind.OUTCOME) and operation.told is Told.DONE
        if told and history.versions.get(operation.txn) != operation.version:
            found = history.versions.get(operation.txn)
            yield f"{_named(operation)} was told version {operation.version}, and is {found}"


def _refused(history: History) -> Iterator[str]:
    """Who was told that it lost is no version."""
    for operation in history.operations:
        if (
            operation.kind is Kind.APPEND
            and operation.told is Told.LOST
            and operation.txn in history.versions
        ):
            yield f"{_named(operation)} lost, and is version {history.versions[operation.txn]}"


def _proposed(history: History) -> Iterator[str]:
    """Every version but the first was proposed by somebody, before the end of who saw it."""
    for version, txn in enumerate(history.log):
        if version > 0 and txn not in history.appends:
            yield f"version {version}, {txn}, was proposed by nobody"


def _contents(history: History) -> Iterator[str]:
    """Who saw transactions saw those of the log, where they are; who saw files saw all up to its version."""
    for operation in history.operations:
        for version, txn in operation.txns:
            if version >= len(history.log) or history.log[version] != txn:
                yield f"{_named(operation)} saw {txn} as version {version}"
        if operation.kind is Kind.LOAD and operation.told is Told.DONE:
            known = history.digests[operation.version] if operation.version < len(history.log) else None
            if known != (operation.files, operation.digest):
                yield f"{_named(operation)} saw other files than versions 0 to {operation.version} have"


def _real_time(history: History) -> Iterator[str]:
    """No operation ended before one began that must have come first."""
    latest_begin, who, group = -1, "", -1
    waiting: list[_Placed] = []
    for row in history.placed:
        if row.group != group:
            for earlier in waiting:
                if earlier.begin > latest_begin:
                    latest_begin, who = earlier.begin, earlier.what
            waiting, group = [], row.group
        waiting.append(row)
        if row.end < latest_begin:
            yield f"{row.what} had ended before {who} began, which came first"


def _outcomes(history: History) -> Iterator[str]:
    """Who is told that a transaction is open or lost asks before it is ratified for all to see."""
    ends = {
        row.group // 2: (row.begin, row.end) for row in history.placed if row.group % 2 == 0
    }  # fmt: skip
    for operation in history.operations:
        version = history.versions.get(operation.txn)
        if operation.kind is not Kind.OUTCOME or version is None or version not in ends:
            continue
        begin, end = ends[version]
        if operation.told in (Told.OPEN, Told.LOST) and operation.begin > end:
            yield f"{_named(operation)} did not find version {version}, which had been acknowledged"
        if operation.told is Told.DONE and operation.end < begin:
            yield f"{_named(operation)} found version {version} before it was proposed"


def _watermark(history: History) -> Iterator[str]:
    """What is published stays so: nobody is told less than somebody before, or than is ratified."""
    marks = [operation for operation in history.operations if operation.published >= 0]
    for operation in marks:
        if operation.published > operation.version:
            yield f"{_named(operation)} saw {operation.published} published of {operation.version}"
    ended = sorted((operation.end, operation.published) for operation in marks)
    highest = list(accumulate((published for _, published in ended), max))
    at = 0
    for operation in sorted(marks, key=lambda operation: operation.begin):
        while at < len(ended) and ended[at][0] < operation.begin:
            at += 1
        if operation.kind is Kind.TAIL and at and highest[at - 1] > operation.published:
            yield f"{_named(operation)} saw {operation.published} published, others {highest[at - 1]} before"


RULES: tuple[Callable[[History], Iterator[str]], ...] = (
    _once, _acknowledged, _refused, _proposed, _contents, _real_time, _outcomes, _watermark,
)  # fmt: skip


def _named(operation: Operation) -> str:
    subject = operation.txn or f"version {operation.version}"
    return f"the {operation.kind.value} of {subject} by {operation.process}"


def by_table(operations: Iterable[Operation]) -> Mapping[int, Sequence[Operation]]:
    """The operations of each table."""
    found: dict[int, list[Operation]] = defaultdict(list)
    for operation in operations:
        found[operation.table].append(operation)
    return found
