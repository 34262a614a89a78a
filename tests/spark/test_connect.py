"""What Headgate does on Spark works on Spark Connect: its tests run there, in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import JAVA, ON_CONNECT

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(bool(os.environ.get(ON_CONNECT)), reason="this run is on Spark Connect already")
def test_the_tests_of_spark_connect_pass(tmp_path: Path) -> None:
    java = {"JAVA_HOME": JAVA.read_text().strip()} if JAVA.exists() else {}
    options = ["-q", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "run")]

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(Path(__file__).parent / "connect")],
        cwd=ROOT,
        env={**java, **os.environ, ON_CONNECT: "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]
    assert " passed" in ran.stdout


def test_without_spark_connect_neither_grpc_nor_pandas_is_needed(tmp_path: Path) -> None:
    script = """
import sys
class Absent:
    def find_spec(self, name, *_):
        if name in ("grpc", "pandas", "zstandard"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import headgate
from pyspark.sql.types import LongType, StructField, StructType
table = headgate.at_path(sys.argv[1], columns=StructType([StructField("id", LongType())]))
print(table.version(), [name for name in sys.modules if name.startswith("pyspark.sql.connect.")])
"""

    ran = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "t"], capture_output=True, text=True, check=True
    )

    assert ran.stdout.split("\n")[0] == "0 []"
