"""A program that streams a table of a lake into another one, and dies at some step of a batch.

``python -m tests.support.stream_sources lake checkpoint files point number`` streams ``s.source`` and
``s.more``, two sources of one query, into ``s.target``, which the first batch makes if there is none. A
batch has so many files of the first, and one more of the other. It dies when it comes to that
point for the given time; ``never`` has it come to an end.
"""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import headgate
from headgate.spark.streaming.stream_source import _TableSource
from headgate.table.opened_table import OpenedTable
from tests.conftest import JAVA
from tests.support.shared_spark import SparkAddress, join
from tests.support.streams import _session

PLANNED, ASKED, READ, WRITTEN, COMMITTED, NEXT = POINTS = (
    "planned", "asked", "read", "written", "committed", "next",
)  # fmt: skip
"""Before Spark writes down how far a batch goes; after that; once the source named its rows; before the sink
commits them; after that; and once Spark wrote down that the batch is done."""
NEVER = "never"
_passed: Counter[str] = Counter()


def run(lake: Path, checkpoint: Path, *, files: int, point: str = NEVER, number: int = 1) -> bool:
    """Run the program in a process of its own; whether it died where it should, or came to its end."""
    java = {"JAVA_HOME": JAVA.read_text().strip()} if JAVA.exists() else {}
    told = [str(lake), str(checkpoint), str(files), point, str(number)]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.support.stream_sources", *told],
        cwd=Path(__file__).parents[2],
        env={**java, **os.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # Spark, which runs in a process of its own, dies with it
        check=False,
    )
    assert ran.returncode in (0, -signal.SIGKILL), ran.stdout[-5_000:]
    return ran.returncode != 0


def copy_on(address: SparkAddress, run_number: int, *told: str) -> None:
    """Be the program, in a JVM that outlives it; to be called in a process of its own."""
    os.setsid()
    _copy(join(address, run_number), *told)


def _main(*told: str) -> None:
    spark = _session()
    _copy(spark, *told)
    spark.stop()


def _copy(spark: SparkSession, lake: str, checkpoint: str, files: str, point: str, number: str) -> None:
    def passes(here: str) -> None:
        _passed[here] += 1
        if here == point and _passed[here] == int(number):
            os.killpg(os.getpgrp(), signal.SIGKILL)

    _step(_TableSource, "latestOffset", after=lambda: passes(PLANNED))
    _step(_TableSource, "getBatch", before=lambda: passes(ASKED), after=lambda: passes(READ))
    _step(_TableSource, "commit", before=lambda: passes(NEXT))
    _step(OpenedTable, "commit", before=lambda: passes(WRITTEN), after=lambda: passes(COMMITTED))
    with headgate.connect(lake) as opened:
        first = opened.table("s.source").read_stream(spark=spark, max_files_per_trigger=int(files))
        more = opened.table("s.more").read_stream(spark=spark, max_files_per_trigger=int(files) + 1)
        stream = first.union(more)
        opened.write_stream(stream, "s.target", checkpoint=checkpoint, available_now=True).awaitTermination()


def _step(
    owner: type,
    name: str,
    *,
    before: Callable[[], None] = lambda: None,
    after: Callable[[], None] = lambda: None,
) -> None:
    call = getattr(owner, name)

    def stepped(*given: Any, **named: Any) -> Any:
        before()
        answer = call(*given, **named)
        after()
        return answer

    setattr(owner, name, stepped)


if __name__ == "__main__":
    _main(*sys.argv[1:])
