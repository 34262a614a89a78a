"""What is on a reader's machine before the first command: Python, Java, and what pip finds.

``pip install headgate`` finds the wheel that was built from this tree, and nothing else of the project. What
the wheel depends on is already there, by links to the packages of the tests' environment, as installing
Spark takes minutes: all of them but Headgate itself and what belongs to an environment. A ``fresh`` machine
has none of them, and pip downloads everything, in the versions of ``constraints.txt``.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[3]
_NOT_LINKED = ("headgate", "_editable", "pip", "setuptools", "pkg_resources", "distutils", "__pycache__")
_KEPT = ("JAVA_HOME", "LANG", "PIP_CERT", "PIP_DEFAULT_TIMEOUT", "PIP_INDEX_URL", "SSL_CERT_FILE", "TMPDIR")


def build_wheel(place: Path) -> Path:
    """The wheel of this tree, by the build backend of the tests' environment."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-q",
        "-w",
        place,
        ROOT,
    ]
    subprocess.run(command, check=True)
    (wheel,) = place.glob("headgate-*.whl")
    return wheel


def link_packages(place: Path) -> None:
    """The packages that the wheel depends on, but no Headgate."""
    place.mkdir()
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if not package.name.startswith(_NOT_LINKED) and package.suffix != ".pth":
            (place / package.name).symlink_to(package)


def reader_environment(place: Path, *, fresh: bool) -> dict[str, str]:
    """The variables of a reader's terminals; ``place`` keeps the wheel and the links."""
    wheel = build_wheel(place / "wheels")
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    found = {
        **kept,
        "HOME": str(place),
        "PATH": f"{_python3(place)}:/usr/local/bin:/usr/bin:/bin",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "HEADGATE_PROGRESS": "0",
    }
    if fresh:
        constraints = place / "constraints.txt"
        pinned = (ROOT / "constraints.txt").read_text()
        constraints.write_text(f"{pinned}\nheadgate @ {wheel.as_uri()}\n")
        return {**found, "PIP_CONSTRAINT": str(constraints)}
    link_packages(place / "packages")
    alone = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheel.parent)}
    return {**found, **alone, "PYTHONPATH": str(place / "packages")}


def _python3(place: Path) -> Path:
    """A folder with the Python of the tests as ``python3``, and without their environment."""
    folder = place / "bin"
    folder.mkdir()
    python3 = folder / "python3"
    python3.write_text(f'#!/bin/sh\nexec "{sys.base_prefix}/bin/python3" "$@"\n')
    python3.chmod(0o755)
    return folder
