"""Texts that are kept in files: what a command shows is compared with what it showed when somebody read it.

``HEADGATE_WRITE_SNAPSHOTS=1`` writes them anew; read the difference.
"""

import os
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "cli" / "snapshots"
WRITES = "HEADGATE_WRITE_SNAPSHOTS"


def check_snapshot(name: str, text: str) -> None:
    """That the text is the one in the file of this name."""
    path = FOLDER / name
    if os.environ.get(WRITES):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.exists(), f"there is no snapshot {name}: write it with {WRITES}=1"
    assert text == path.read_text("utf-8")
