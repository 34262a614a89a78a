"""Whether both engines say of a table what the model says, and the same where it says nothing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

import headgate
from headgate.errors import HeadgateError
from tests.support.delta_spark import Refused
from tests.support.histories.model import UNKNOWN, Row, State
from tests.support.histories.steps import Site
from tests.support.plain_rows import plain_rows

_IDS = ("_metadata.row_id AS _row_id", "_metadata.row_commit_version AS _row_commit_version")
_SIGNS = {"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}


def settled(site: Site, state: State, given: set[int]) -> State:
    """The same with the values that an identity column got: new ones, and none of them twice."""
    place = next((at for at, column in enumerate(state.columns) if column.identity), None)
    if place is None:
        return state
    left = Counter(plain_rows(site.table.read(spark=site.spark)))
    known = Counter(row for row in state.rows if row[place] is not UNKNOWN)
    assert known <= left, f"rows that were there are gone: {known - left}"
    new = [*(left - known).elements()]
    values = {row[place] for row in new}
    assert len(values) == len(new) and None not in values and not values & given, f"values come again: {new}"
    wanted = Counter(_without(row, place) for row in state.rows if row[place] is UNKNOWN)
    assert Counter(_without(row, place) for row in new) == wanted
    given |= values
    return replace(state, rows=(*known.elements(), *new))


def _without(row: Row, place: int) -> Row:
    return (*row[:place], *row[place + 1 :])


def compare_latest(site: Site, state: State) -> None:
    """The rows and columns of the newest version, as either finds it who asks for no other."""
    answer = site.delta.read(site.path)
    _compare("the latest version", _latest(site), Found(list(answer.columns), answer.rows), state)


def compare_ours(site: Site, state: State) -> None:
    """The rows and columns of the newest version, as Headgate finds it."""
    found = _latest(site)
    _compare("the latest version", found, found, state)


def compare_versions(site: Site, states: Mapping[int, State], *, tracked: bool) -> None:
    """The rows and columns of these versions, with ids of rows if they are tracked, and their checksums."""
    theirs = site.delta.look_back(site.path, [*states], _IDS if tracked else ())
    for (version, state), seen in zip(states.items(), theirs, strict=True):
        frame = site.table.read(version=version, row_ids=tracked, spark=site.spark)
        ours = Found(_columns(frame), plain_rows(frame))
        _compare(f"version {version}", ours, Found(list(seen.answer.columns), seen.answer.rows), state)
        if tracked:
            ids = [row[-2] for row in ours.rows]
            assert len({*ids}) == len(ids) and None not in ids, f"ids of version {version}: {ids}"
        assert seen.complaint is None, (
            f"Delta finds the checksum of version {version} wrong: {seen.complaint}"
        )


@dataclass(frozen=True)
class Found:
    """What an engine has of a version."""

    columns: list[tuple[str, str]]
    rows: list[Row]


def _compare(what: str, ours: Found, theirs: Found, state: State) -> None:
    wanted = [(column.name, _simple(column.kind.sql)) for column in state.columns]
    assert ours.columns == theirs.columns, f"columns of {what}"
    assert ours.columns[: len(wanted)] == wanted, f"columns of {what}"
    for engine, found in (("Headgate", ours), ("Delta", theirs)):
        rows = Counter(row[: len(wanted)] for row in found.rows)
        assert rows == state.counted, _difference(f"{engine}, {what}", rows, state.counted)
    one, other = Counter(ours.rows), Counter(theirs.rows)
    assert one == other, _difference(f"ids of {what}", one, other)


def compare_statistics(site: Site, state: State) -> None:
    """What Delta takes from the statistics of files and not from their rows: how many, and how far ids go.

    Of the latest version, whose state it has at hand; for any other it replays the log.
    """
    place = state.names.index("id")
    ids = [row[place] for row in state.rows]
    (found,) = site.delta.sql(f"SELECT count(*), min(id), max(id) FROM delta.`{site.path}`").rows
    assert found == (len(ids), min(ids, default=None), max(ids, default=None)), "statistics"


def _simple(sql: str) -> str:
    """A type as Spark writes it; names of fields are in lower case."""
    return sql.replace(", ", ",").replace(": ", ":").lower()


def _difference(what: str, found: Counter[Row], wanted: Counter[Row]) -> str:
    return f"{what}: too many {[*(found - wanted).elements()]}, missing {[*(wanted - found).elements()]}"


def _columns(frame: DataFrame) -> list[tuple[str, str]]:
    return [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]


def _latest(site: Site) -> Found:
    frame = site.table.read(spark=site.spark)
    return Found(_columns(frame), plain_rows(frame))


def compare_changes(site: Site, states: Mapping[int, State], versions: Sequence[int]) -> None:
    """The change data feed of these versions: the same to both, and leading from each version to the next."""
    for start, end in _runs(versions):
        ours, theirs = _feeds(site, start, end)
        assert ours == theirs, f"changes of {start} to {end}: {_unlike(ours, theirs)}"
        if isinstance(ours, str):
            continue
        for version in range(start, end + 1):
            if version - 1 in states and states[version - 1].columns == states[version].columns:
                _check_balance(ours, version, states[version - 1], states[version])


def _unlike(ours: object, theirs: object) -> str:
    if isinstance(ours, Counter) and isinstance(theirs, Counter):
        return _difference("of ours", ours, theirs)
    return f"{str(ours)[:1500]} and {str(theirs)[:1500]}"


def _feeds(site: Site, start: int, end: int) -> tuple[Counter[Row] | str, Counter[Row] | str]:
    """What either tells; a refusal is as good as any other answer, if both refuse."""
    ours: Counter[Row] | str
    theirs: Counter[Row] | str
    try:
        ours = Counter(plain_rows(site.table.changes(start, end, spark=site.spark)))
    except HeadgateError as exc:
        ours, why = "refused", str(exc)
    try:
        theirs = site.delta.changes(site.path, start, end).counted
    except Refused as exc:
        theirs = "refused" if ours == "refused" else f"refused: {exc}"
    else:
        ours = f"refused: {why}" if ours == "refused" else ours
    return ours, theirs


def _runs(versions: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for version in versions:
        if runs and runs[-1][1] == version - 1:
            runs[-1] = runs[-1][0], version
        else:
            runs.append((version, version))
    return runs


def _check_balance(changes: Counter[Row], version: int, before: State, after: State) -> None:
    width = len(after.columns)
    balance = before.counted
    for row, count in changes.items():
        if row[width + 1] == version:
            balance[row[:width]] += _SIGNS[row[width]] * count
    left = Counter({row: count for row, count in balance.items() if count})
    assert left == after.counted, _difference(f"changes of {version}", left, after.counted)


def compare_table(site: Site, metrics: Mapping[int, Mapping[str, int]]) -> None:
    """What both tell of the table besides its rows, and what Headgate finds wrong with the log of both."""
    _compare_history(site, metrics)
    _compare_detail(site)
    domains = {
        name: text for name, text in site.delta.domains(site.path).items() if not name.startswith("delta.")
    }
    assert {k: v for k, v in site.table.domains().items() if not k.startswith("delta.")} == domains
    report = headgate.check_path(site.path)
    assert report.is_clean, f"Headgate finds the table wrong: {report.findings}"


def _compare_history(site: Site, metrics: Mapping[int, Mapping[str, int]]) -> None:
    frame = site.table.history(spark=site.spark)
    ours = [dict(zip(frame.columns, row, strict=True)) for row in plain_rows(frame)]
    theirs = site.delta.history(site.path)
    assert ours == theirs, [(one, two) for one, two in zip(ours, theirs, strict=False) if one != two]
    for row in ours:
        told: dict[str, Any] = dict(row["operationMetrics"] or ())
        wanted = {key: str(count) for key, count in metrics.get(row["version"], {}).items() if key in told}
        found = {key: told[key] for key in wanted}
        assert found == wanted, f"version {row['version']} by {row['engineInfo']}: {told}"


def _compare_detail(site: Site) -> None:
    frame = site.table.detail(spark=site.spark)
    ours = dict(zip(frame.columns, plain_rows(frame)[0], strict=True))
    theirs = site.delta.detail(site.path)
    assert Path(ours.pop("location")) == Path(theirs.pop("location").removeprefix("file:"))
    ours.pop("name"), theirs.pop("name")
    for found in (ours, theirs):
        found["tableFeatures"] = frozenset(found["tableFeatures"] or ())
    unlike = {key: (ours[key], theirs[key]) for key in theirs if ours[key] != theirs[key]}
    assert not unlike, f"details, ours and theirs: {unlike}"
