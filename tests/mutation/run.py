"""Do the tests of a module notice a change in it? Each mutant lives in a process of its own, a fork.

Most changes lie in the body of a function. For those the tests are collected once, and each fork
swaps the code of that one function: quick, and seen by everyone who imported it. What survives that
way, and what lies elsewhere, is tried again in a fork that imports the changed module afresh.
"""

import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import hypothesis
import pytest
from typing_extensions import override

from tests.mutation.changes import Mutant, mutants

ROOT = Path(__file__).parents[2]
_SOURCES = ROOT / "src"
_PRELOADED = (
    "alembic.command", "msgspec", "obstore.store", "pyarrow.compute", "pyarrow.dataset", "pyarrow.parquet",
    "pyroaring", "pyspark.sql", "sqlalchemy", "sqlglot",
)  # fmt: skip
_OPTIONS = ("-q", "-x", "-s", "-p", "no:cacheprovider", "-p", "no:randomly", "--timeout", "0")
_POLL = 0.003
_MOST_MEMORY = 4 * 2**30  # a loop that never ends may also never stop to collect
_KILLED, _SURVIVED, _NOT_SWAPPED, _BROKEN = 0, 10, 11, 12


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one mutant, and after how long."""

    mutant: Mutant
    fate: Fate
    seconds: float


def source(module: str) -> Path:
    """The file of a module, given by its name below the package."""
    return _SOURCES / "headgate" / f"{module.replace('.', '/')}.py"


def mutants_of(module: str) -> list[Mutant]:
    """The mutants of a module, in the order of its lines."""
    return list(mutants(module, source(module).read_text()))


def judge(
    found: Sequence[Mutant], tests: Mapping[str, Sequence[str]], *, jobs: int = 2, limit: float = 60
) -> Iterator[Verdict]:
    """The fate of each mutant under the tests of its module, as they become known."""
    for name in _PRELOADED:
        importlib.import_module(name)
    swapped = [mutant for mutant in found if mutant.owner is not None]
    afresh = [mutant for mutant in found if mutant.owner is None]
    wanted = sorted({path for mutant in swapped for path in tests[mutant.module]})
    with tempfile.TemporaryDirectory(prefix="headgate-mutants-") as scratch:
        answers = _in_a_server(swapped, wanted, tests, Forks(jobs, limit, Path(scratch))) if swapped else ()
        for mutant, code, seconds in answers:
            if code in (_KILLED, None):
                yield Verdict(mutant, Fate.TIMEOUT if code is None else Fate.KILLED, seconds)
            else:
                afresh.append(mutant)

        def act(mutant: Mutant) -> int:
            _begin_afresh()
            sys.meta_path.insert(0, _Changed(mutant))
            return _SURVIVED if pytest.main([*_OPTIONS, *tests[mutant.module]]) == 0 else _KILLED

        for mutant, code, seconds in Forks(jobs, limit * 2, Path(scratch)).each(afresh, act):
            fate = Fate.TIMEOUT if code is None else Fate.KILLED if code == _KILLED else Fate.SURVIVED
            yield Verdict(mutant, fate, seconds)


def _begin_afresh() -> None:
    """Forget what was imported of the project, and have the same examples tried for every mutant."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("headgate", "tests")]:
        del sys.modules[name]
    hypothesis.settings.register_profile(
        "mutation",
        database=None,
        deadline=None,
        derandomize=True,
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile("mutation")


@dataclass(frozen=True, slots=True)
class Forks:
    """At most ``jobs`` processes at once, each ended after ``limit`` seconds."""

    jobs: int
    limit: float
    scratch: Path

    def each(
        self, found: Sequence[Mutant], act: Callable[[Mutant], int]
    ) -> Iterator[tuple[Mutant, int | None, float]]:
        """What ``act`` returned for each mutant in a fork of its own; None if it took too long."""
        waiting = list(reversed(found))
        running: dict[int, tuple[Mutant, float]] = {}
        while waiting or running:
            while waiting and len(running) < self.jobs:
                mutant = waiting.pop()
                running[self._start(mutant, act)] = mutant, time.monotonic()
            for pid, (mutant, began) in list(running.items()):
                seconds = time.monotonic() - began
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    code: int | None = os.waitstatus_to_exitcode(status)
                elif seconds > self.limit:
                    with suppress(ProcessLookupError):
                        os.killpg(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                    code = None
                else:
                    continue
                del running[pid]
                shutil.rmtree(self.scratch / str(pid), ignore_errors=True)
                yield mutant, code, seconds
            time.sleep(_POLL)

    def _start(self, mutant: Mutant, act: Callable[[Mutant], int]) -> int:
        pid = os.fork()
        if pid:
            return pid
        os.setsid()
        code = _BROKEN
        try:
            own = self.scratch / str(os.getpid())
            own.mkdir()
            with suppress(OSError, ValueError):  # not every system can limit it
                resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
            os.environ["PYTEST_DEBUG_TEMPROOT"] = os.environ["TMPDIR"] = tempfile.tempdir = str(own)
            _silence()
            code = act(mutant)
        except MemoryError:
            code = _KILLED  # a loop that never ends, and collects; pytest cannot even report it
        except BaseException:  # whatever a mutant does, its process must end here
            code = _BROKEN
        finally:
            os._exit(code)


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    sys.stdout = sys.stderr = os.fdopen(nowhere, "w")  # whoever started this may have replaced them


def _in_a_server(
    found: Sequence[Mutant], wanted: Sequence[str], tests: Mapping[str, Sequence[str]], forks: Forks
) -> Iterator[tuple[Mutant, int | None, float]]:
    """The answers of a process that has collected every test, and forks once for each mutant."""
    reading, writing = os.pipe()
    server = os.fork()
    if not server:
        os.close(reading)
        with suppress(BaseException):
            _silence()
            _begin_afresh()
            pytest.main([*_OPTIONS, *wanted], plugins=[_Server(found, tests, forks, writing)])
        os._exit(0)
    os.close(writing)
    answered = 0
    with open(reading) as answers:
        for line in answers:
            index, code, seconds = line.split()
            answered += 1
            yield found[int(index)], None if code == "None" else int(code), float(seconds)
    os.waitpid(server, 0)
    if answered < len(found):
        raise RuntimeError(f"the tests cannot be collected: run pytest {' '.join(wanted)}")


class _Server:
    """A plugin that, instead of running the tests, runs them in a fork for each mutant."""

    def __init__(
        self, found: Sequence[Mutant], tests: Mapping[str, Sequence[str]], forks: Forks, answers: int
    ) -> None:
        self._found = found
        self._tests = tests
        self._forks = forks
        self._answers = answers

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        functions = _functions()
        killers: dict[str, list[str]] = {}
        indices = {id(mutant): index for index, mutant in enumerate(self._found)}

        def act(mutant: Mutant) -> int:
            if not _swap(mutant, functions):
                return _NOT_SWAPPED
            first = killers.get(mutant.module, [])
            killer = _first_failure(session, _chosen(session.items, self._tests[mutant.module], first))
            if killer is None:
                return _SURVIVED
            (self._forks.scratch / f"{id(mutant)}.killer").write_text(killer)
            return _KILLED

        for mutant, code, seconds in self._forks.each(self._found, act):
            os.write(self._answers, f"{indices[id(mutant)]} {code} {seconds:.3f}\n".encode())
            note = self._forks.scratch / f"{id(mutant)}.killer"
            if note.exists():
                killer = note.read_text()
                others = [name for name in killers.get(mutant.module, []) if name != killer]
                killers[mutant.module] = [killer, *others]
        return True


def _chosen(items: Sequence[pytest.Item], paths: Sequence[str], first: Sequence[str]) -> list[pytest.Item]:
    """The tests of these files, in this order; those that killed another mutant come first."""
    order = {ROOT / path: index for index, path in enumerate(paths)}
    chosen = sorted((item for item in items if item.path in order), key=lambda item: order[item.path])
    recent = {name: index for index, name in enumerate(first)}
    return sorted(chosen, key=lambda item: recent.get(item.nodeid, len(recent)))


def _first_failure(session: pytest.Session, items: Sequence[pytest.Item]) -> str | None:
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return item.nodeid
    return None


def _functions() -> dict[tuple[str, str, int], list[FunctionType]]:
    """Every function of the package that somebody holds, by file, name and first line."""
    found: dict[tuple[str, str, int], list[FunctionType]] = {}
    for held in gc.get_objects():
        if isinstance(held, FunctionType) and held.__code__.co_filename.startswith(str(_SOURCES)):
            code = held.__code__
            found.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno), []).append(held)
    gc.freeze()
    return found


def _swap(mutant: Mutant, functions: Mapping[tuple[str, str, int], list[FunctionType]]) -> bool:
    path = str(source(mutant.module))
    assert mutant.owner is not None
    wanted = mutant.owner.name, mutant.owner.line
    held = functions.get((path, *wanted), [])
    changed = [code for code in _codes(compile(mutant.apply(), path, "exec")) if _key(code) == wanted]
    if not held or len(changed) != 1:
        return False
    for function in held:
        if function.__code__.co_freevars != changed[0].co_freevars:
            return False
        function.__code__ = changed[0]
    return True


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


class _Changed(importlib.abc.MetaPathFinder):
    """Finds the changed module in the place of the one on disk."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    @override
    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> Any:
        if name != f"headgate.{self._mutant.module}":
            return None
        file = str(source(self._mutant.module))
        return importlib.util.spec_from_file_location(name, file, loader=_Loader(name, file, self._mutant))


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, mutant: Mutant) -> None:
        super().__init__(name, path)
        self._mutant = mutant

    @override
    def get_code(self, fullname: str) -> CodeType:
        return compile(self._mutant.apply(), self.path, "exec")
