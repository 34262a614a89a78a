"""What DELETE, UPDATE and MERGE tell of themselves: results, metrics and parameters, in Delta's names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from pyspark.sql import Column

from headgate.calls import summary
from headgate.catalog.ports.maintenance import Permission
from headgate.clock import World
from headgate.protocol.actions import AddFile
from headgate.spark.dml.rewrite import RewriteOutput
from headgate.spark.predicates import from_column, sql_forms


@dataclass(frozen=True, slots=True)
class FileSizes:
    """How many files, and how large they are; ``least`` and ``most`` are None of no file."""

    count: int = 0
    total: int = 0
    least: int | None = None
    most: int | None = None

    @classmethod
    def of_files(cls, sizes: Sequence[int]) -> "FileSizes":
        """Of files with these sizes."""
        return cls(len(sizes), sum(sizes), min(sizes, default=None), max(sizes, default=None))


@dataclass(frozen=True, slots=True)
class RewrittenFiles:
    """What an OPTIMIZE did to files, of which the history tells only a part."""

    considered: int = 0
    """How many files there were of what was selected."""
    added: FileSizes = FileSizes()
    removed: FileSizes = FileSizes()
    partitions: int = 0
    """Of how many partitions files were written anew."""
    vectors: int = 0
    """How many of the removed files had a deletion vector."""
    vector_rows: int = 0
    """How many rows these marked as deleted."""
    columns: int = 0
    """How many the table has."""
    started_ms: int = 0
    ended_ms: int = 0


@dataclass(frozen=True, slots=True)
class OperationResult:
    """What became of a statement."""

    version: int
    """The version that has its changes; the one it read if it found nothing to change."""
    metrics: Mapping[str, int] = field(default_factory=dict)
    """How many rows and files it was about, in the names of the table's history."""
    permission: Permission | None = None
    """By whose word files were rearranged; None for statements that change rows."""
    rewritten: RewrittenFiles | None = None
    """What became of files; None for statements that change rows."""

    def _repr_html_(self) -> str:
        return summary.to_html(summary.metrics_summary("OperationResult", self.version, self.metrics))


class Stopwatch:
    """How long a statement takes, and which part of it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._began = self._searched = world.now_ms()

    def scanned(self) -> None:
        """The rows are found; from here on files are written."""
        self._searched = self._world.now_ms()

    def times(self) -> dict[str, int]:
        """So far, in milliseconds."""
        now = self._world.now_ms()
        return {
            "executionTimeMs": now - self._began,
            "scanTimeMs": self._searched - self._began,
            "rewriteTimeMs": now - self._searched,
        }


def file_metrics(done: RewriteOutput) -> dict[str, int]:
    """How many files, bytes, copied rows and vectors, as DELETE and UPDATE call them."""
    plan = done.plan
    removed = [*plan.removed, *(file for file, _ in plan.rewritten)]
    hidden = [file for file, _ in plan.hidden]
    return {
        "numAddedFiles": len(done.adds),
        "numRemovedFiles": len(removed),
        "numAddedBytes": _bytes(done.adds),
        "numRemovedBytes": _bytes(removed),
        "numCopiedRows": done.copied,
        "numAddedChangeFiles": len(done.changes),
        "numDeletionVectorsAdded": sum(file.deletion_vector is None for file in hidden),
        "numDeletionVectorsUpdated": sum(file.deletion_vector is not None for file in hidden),
        "numDeletionVectorsRemoved": sum(file.deletion_vector is not None for file in removed),
    }


def as_strings(metrics: Mapping[str, int]) -> dict[str, str]:
    """Metrics as commits have them."""
    return {name: str(value) for name, value in metrics.items()}


def condition_text(condition: Column | str) -> str:
    """A condition as history shows it."""
    if isinstance(condition, str):
        return condition
    found = from_column.to_sql(condition)
    return str(condition) if found is None or sql_forms.UNKNOWN in found else found


def predicate_parameter(condition: Column | str | None) -> str:
    """The parameter that says which rows a statement was about."""
    return msgspec.json.encode([] if condition is None else [condition_text(condition)]).decode()


def _bytes(files: Sequence[AddFile]) -> int:
    return sum(file.size for file in files)
