"""No JVM is started for small data: a process that has none makes a table, appends to it and reads it."""

import os
import subprocess
import sys
from pathlib import Path

import headgate

SOURCES = Path(headgate.__file__).parents[1]
PROGRAM = """
import headgate
from pyspark import SparkContext

with headgate.connect("lake") as lake:
    lake.create_schema("s")
    columns = "id BIGINT GENERATED ALWAYS AS IDENTITY, s STRING DEFAULT 'x' CHECK (s <> '')"
    table = lake.create_table("s.t", columns)
    table.append([{}])
    table.append([{"s": "y"}])
    assert table.to_arrow(where="id = 2").to_pylist() == [{"id": 2, "s": "y"}]
    assert table.log.snapshot().state.protocol.has("allowColumnDefaults")
    assert table.properties()["delta.constraints.s_check"] == "s <> ''"
other = headgate.at_path("plain", columns="id BIGINT, at TIMESTAMP")
other.append([{"id": 1}])
assert other.to_arrow(limit=1).num_rows == 1
assert SparkContext._gateway is None
print("done")
"""


def test_all_of_it_works_without_java(tmp_path: Path) -> None:
    bare = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_HOME")}

    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**bare, "PATH": "", "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.stdout == "done\n", ran.stderr
