"""An engine in a process of its own that runs the statements it is told, one line of JSON each."""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class EngineRefused(Exception):
    """The engine did not do it, and what it said."""


@dataclass(frozen=True)
class ForeignEngine:
    """The running process."""

    process: subprocess.Popen[str]
    log: Path

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements, one after the other; the rows of the last."""
        return [tuple(row) for row in self.ask({"statements": statements})]

    def ask(self, request: Any) -> Any:
        """The answer to a request; ``EngineRefused`` if there is an error instead."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the engine ended:\n{self.log.read_text(errors='replace')[-4000:]}"
        said = json.loads(line)
        if "refusal" in said:
            raise EngineRefused(said["refusal"])
        return said["answer"]


@contextmanager
def started(
    command: Sequence[str | Path], log: Path, environment: dict[str, str] | None = None
) -> Iterator[ForeignEngine]:
    """The engine, until the block ends; it ends with its input."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output,
            text=True, env={**_clean_environment(), **(environment or {})},
        )  # fmt: skip
    try:
        yield ForeignEngine(process, log)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _clean_environment() -> dict[str, str]:
    """That of the tests without their sources, which are nothing to a foreign engine."""
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
