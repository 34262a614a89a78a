"""The jars of Delta Spark, fetched once into the environment of the tests.

Only those that PySpark does not bring, each of one version, so that two runs have the same referee.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

VERSION = "4.4.0"
SPARK = "4.2"
"""The Spark that these jars are built for."""
_JARS = (
    ("io.delta", f"delta-spark_{SPARK}_2.13", VERSION),
    ("io.delta", "delta-storage", VERSION),
    ("io.delta", "delta-kernel-api", VERSION),
    ("io.delta", "delta-kernel-defaults", VERSION),
    ("io.delta", "delta-kernel-unitycatalog", VERSION),
    ("io.unitycatalog", "unitycatalog-client", "0.6.0"),
    ("io.unitycatalog", "unitycatalog-hadoop", "0.6.0"),
    ("org.locationtech.jts", "jts-core", "1.20.0"),
)
PLACE = Path(sys.prefix) / f"delta-spark-{VERSION}"
_PATIENCE_SECONDS = 240
_PROJECT = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tests</groupId><artifactId>referee</artifactId><version>1</version>
  <dependencies>{}</dependencies>
</project>
"""
_DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>"
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>"
)


class Unavailable(Exception):
    """Delta Spark cannot be had here, and why."""


def fits() -> bool:
    """Whether the PySpark of this environment is the one they are built for."""
    return pyspark.__version__.startswith(f"{SPARK}.")


def fetch(place: Path = PLACE) -> Path:
    """The folder of the jars; Maven fetches them if they are not there, for one process at a time.

    Raises Unavailable where there is no Maven, Maven Central does not answer, or PySpark is another version.
    """
    if not fits():
        raise Unavailable(f"Delta Spark {VERSION} runs on Spark {SPARK}, and this is {pyspark.__version__}")
    with open(place.parent / f"{place.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            _fetch_into(place)
    return place


def _fetch_into(place: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable(f"Delta Spark {VERSION} is fetched by Maven, and there is no mvn on the PATH")
    with tempfile.TemporaryDirectory(dir=place.parent) as name:
        folder = Path(name)
        folder.joinpath("pom.xml").write_text(
            _PROJECT.format("".join(_DEPENDENCY.format(*jar) for jar in _JARS))
        )
        command = [maven, "-q", "-B", "-f", name, "dependency:copy-dependencies"]
        command += ["-DincludeScope=runtime", f"-DoutputDirectory={folder / 'jars'}"]
        try:
            ran = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, timeout=_PATIENCE_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Unavailable(f"Maven Central did not answer in {_PATIENCE_SECONDS} s") from None
        if ran.returncode:
            raise Unavailable(f"Maven did not get Delta Spark {VERSION}: {_why(ran.stdout)}")
        os.replace(folder / "jars", place)


def _why(output: str) -> str:
    errors = [line for line in output.splitlines() if line.startswith("[ERROR]")]
    return (errors or ["it said nothing"])[0][:500]
