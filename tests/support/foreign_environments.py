"""Environments of their own for engines that others wrote, made once and used again.

Each is a folder below that of the tests' own environment, with packages of exact versions. It is made anew
when the list of packages changes. Where the package index does not answer, tests are skipped and say why.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

PLACE = Path(sys.prefix) / "foreign"
_PATIENCE_SECONDS = 600
_STAMP = "stamp"


@dataclass(frozen=True)
class ForeignEnvironment:
    """An environment by its name and what is installed in it."""

    name: str
    packages: tuple[str, ...]
    dependencies: bool = True
    """Whether what the packages depend on is installed too."""

    @property
    def folder(self) -> Path:
        return PLACE / self.name

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """Where its packages are, for a program that has all they depend on."""
        return self.folder / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"

    def require(self) -> Path:
        """Its interpreter; the test is skipped if it cannot be had, or fails on CI, where it has to be."""
        PLACE.mkdir(exist_ok=True)
        with open(PLACE / f"{self.name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._is_made():
                self._make()
        return self.python

    @property
    def _asked(self) -> tuple[str, ...]:
        return self.packages if self.dependencies else ("--no-deps", *self.packages)

    @property
    def _stamp(self) -> str:
        return "\n".join((sys.version, *self.packages))

    def _is_made(self) -> bool:
        stamp = self.folder / _STAMP
        return stamp.exists() and stamp.read_text() == self._stamp

    def _make(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        venv.create(self.folder, with_pip=True)
        command = [str(self.python), "-m", "pip", "install", "--quiet", "--no-input", *self._asked]
        try:
            ran = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, timeout=_PATIENCE_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            _unavailable(f"the package index did not answer in {_PATIENCE_SECONDS} s")
            return
        if ran.returncode:
            _unavailable(f"the environment {self.name} could not be made: {ran.stdout[-500:]}")
        (self.folder / _STAMP).write_text(self._stamp)


def _unavailable(why: str) -> None:
    (pytest.fail if os.environ.get("CI") else pytest.skip)(why)


DUCKDB = ForeignEnvironment(
    "duckdb",
    (
        "duckdb==1.5.5",
        "duckdb_extensions==1.5.5",
        "duckdb_extension_unity_catalog==1.5.5",
        "duckdb_extension_delta==1.5.5",
        "duckdb_extension_httpfs==1.5.5",
    ),
)
DELTA_SPARK = ForeignEnvironment("delta-spark", ("delta-spark==4.4.0",), dependencies=False)
"""The Python part of Delta Spark, beside its jars."""
SAIL = ForeignEnvironment("sail", ("pysail==0.7.2", "pyspark-client==4.2.0", "pandas==2.3.3"))
