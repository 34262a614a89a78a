"""One history: steps of either engine by chance, after which both read in every version what the model says.

Headgate reads a version as the newest when it is made, and both read it by its number: versions never change,
and Delta takes a second of a processor to work out the state of one. At the end both read the newest.

What it does depends on its seed alone. What differs ends it with the seed, the shape and the steps so far.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from headgate.errors import HeadgateError
from tests.support.delta_spark import Refused
from tests.support.histories import chances, row_steps, shapes
from tests.support.histories.compare import (
    compare_changes,
    compare_latest,
    compare_ours,
    compare_statistics,
    compare_table,
    compare_versions,
    settled,
)
from tests.support.histories.model import State
from tests.support.histories.shapes import Shape
from tests.support.histories.steps import Draw, Engine, Now, Site, Step

STEPS = 12
_WIDTH = 300
"""Of a step that is told, unless it is the last."""


class Different(AssertionError):
    """An engine did not do what the model did, or did not do it at all."""


@dataclass
class History:
    """A history as far as it was played."""

    seed: int
    site: Site
    random: Random
    shape: Shape
    lines: list[str] = field(default_factory=list)
    versions: dict[int, State] = field(default_factory=dict)
    """Those that can be read."""
    properties: dict[int, Mapping[str, str]] = field(default_factory=dict)
    metrics: dict[int, Mapping[str, int]] = field(default_factory=dict)
    pending: list[int] = field(default_factory=list)
    """Those that nobody has read again since they were the latest."""
    vacuumed: int = -1
    """The last version of which the files that came and went may be gone."""
    given: set[int] = field(default_factory=set)
    """Values of identity columns."""

    def now(self) -> Now:
        """The table as the next step finds it."""
        version = max(self.versions)
        protocol = self.site.table.log.snapshot().state.protocol
        features = frozenset((*(protocol.reader_features or ()), *(protocol.writer_features or ())))
        return Now(
            self.versions[version],
            self.properties[version],
            features,
            version,
            self.versions,
            self.properties,
        )


def play(seed: int, site: Site, steps: int = STEPS) -> History:
    """Play the history of this seed to its end."""
    random = Random(seed)
    history = History(seed, site, random, shapes.draw(random))
    with _told_of(history):
        _make(history)
        for _ in range(steps):
            _take(history)
        _finish(history)
    return history


def play_steps(site: Site, shape: Shape, draws: Sequence[tuple[Engine, Draw]]) -> History:
    """Play these steps on a table of this shape that Headgate makes, and look back at the end."""
    history = History(0, site, Random(0), shape)
    with _told_of(history):
        shape.make_ours(site.path)
        _record(history, Step("create", None, None, shape.state), Engine.HEADGATE)
        for engine, draw in draws:
            step = draw(history.random, history.now())
            assert step is not None
            _carry_out(history, step, engine)
        _finish(history)
    return history


@contextmanager
def _told_of(history: History) -> Iterator[None]:
    try:
        yield
    except Exception as exc:
        raise Different(_told(history, exc)) from exc


def _finish(history: History) -> None:
    _look_back(history)
    compare_latest(history.site, history.versions[max(history.versions)])
    compare_table(history.site, history.metrics)


def _told(history: History, exc: Exception) -> str:
    shown = [
        *(line if len(line) < _WIDTH else f"{line[:_WIDTH]}…" for line in history.lines[:-1]),
        history.lines[-1],
    ]
    steps = "\n".join(f"{number:>4} {line}" for number, line in enumerate(shown))
    again = f"HEADGATE_TESTS_HISTORIES={history.seed} python -m pytest tests/interop/test_random_histories.py"
    return f"seed {history.seed}\n{history.shape}\n{steps}\n{type(exc).__name__}: {str(exc)[:4000]}\n{again}"


def _engine(random: Random) -> Engine:
    return random.choice(list(Engine))


def _make(history: History) -> None:
    site, shape, engine = history.site, history.shape, _engine(history.random)
    history.lines.append(f"{engine.value}: create")
    if engine is Engine.HEADGATE:
        shape.make_ours(site.path)
    else:
        site.delta.sql(shape.make_theirs(site.path))
    _record(history, Step("create", None, None, shape.state), engine)
    _carry_out(history, row_steps.append(history.random, history.now()), _engine(history.random))


def _take(history: History) -> None:
    if history.random.random() < 0.25:
        history.site.kept.clear()
    now = history.now()
    step, engine = chances.draw(history.random, now), _engine(history.random)
    if step.closes or step.forgets or step.after.columns != now.state.columns:
        _look_back(history)
    _carry_out(history, step, engine)


def _carry_out(history: History, step: Step, engine: Engine) -> None:
    if step.theirs is None:
        engine = Engine.HEADGATE
    act = step.ours if engine is Engine.HEADGATE else step.theirs
    assert act is not None
    history.lines.append(f"{engine.value}: {step.name}")
    before = history.site.latest()
    try:
        act(history.site)
    except (HeadgateError, Refused) as exc:
        if not (step.refusable or step.forbidden):
            raise
        history.lines[-1] += f"\n       refused: {str(exc)[:150]}"
    else:
        assert not step.forbidden, "it was not refused"
    made = range(before + 1, history.site.latest() + 1)
    history.lines[-1] = f"{[*made]} {history.lines[-1]}"
    assert not (step.forbidden and made), "a version was made"
    _record(history, step, engine)
    if len(made) == 1:
        history.metrics[made[0]] = step.metrics


def _record(history: History, step: Step, engine: Engine) -> None:
    """Read the table, and remember the versions that the step made.

    Delta says what it takes from the statistics of Headgate; the rows it reads later, by the version.
    """
    latest = history.site.latest()
    first = max(history.versions, default=-1) + 1
    state = settled(history.site, step.after, history.given)
    compare_ours(history.site, state)
    if engine is Engine.HEADGATE:
        compare_statistics(history.site, state)
    if step.forgets:
        history.versions.clear()
        history.pending.clear()
        first = history.vacuumed = latest
    made = range(min(first, latest), latest + 1)
    for version in made:
        history.versions[version] = state
        history.properties[version] = history.site.properties(version)
    history.pending += [version for version in made if version not in history.pending]


def _look_back(history: History) -> None:
    """Have both read all versions again that can be read in these columns, and what changed in them."""
    for tracked in (True, False):
        alike = [version for version in history.pending if _tracked(history, version) is tracked]
        compare_versions(
            history.site, {version: history.versions[version] for version in alike}, tracked=tracked
        )
    for mode in ("none", "id", "name"):
        compare_changes(history.site, history.versions, _feed(history, mode))
    history.pending.clear()


def _feed(history: History, mode: str) -> list[int]:
    """The versions that say what changed in them, of one mode of column mapping.

    Delta reads no feed over versions of several, as a RESTORE may leave them behind.
    """
    properties = history.properties
    return [
        version for version in history.pending
        if version > history.vacuumed
        and properties[version].get("delta.enableChangeDataFeed") == "true"
        and properties[version].get("delta.columnMapping.mode", "none") == mode
    ]  # fmt: skip


def _tracked(history: History, version: int) -> bool:
    return history.properties[version].get("delta.enableRowTracking") == "true"
