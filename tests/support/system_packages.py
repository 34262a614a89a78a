"""A program that a test looks at, such as a browser or a shell: installed first, where it can be."""

import os
import shutil
import subprocess
from collections.abc import Sequence


def find_program(program: str, package: str) -> str | None:
    """Where the program is; None if it is not there and cannot be installed without asking anybody."""
    found = shutil.which(program)
    if found is None and shutil.which("apt-get") and (before := _unasked()) is not None:
        command = [*before, "apt-get", "install", "-y", "--no-install-recommends", package]
        subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL)
        found = shutil.which(program)
    return found


def _unasked() -> Sequence[str] | None:
    """What comes before a command of the administrator's; None if that would ask for a password."""
    if os.geteuid() == 0:
        return ()
    sudo = shutil.which("sudo")
    is_free = sudo and subprocess.run([sudo, "-n", "true"], check=False, capture_output=True).returncode == 0
    return (sudo, "-n") if sudo and is_free else None
