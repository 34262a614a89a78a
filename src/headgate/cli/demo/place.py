"""Where the demo may put its lake: in a new folder, or in one it made itself."""

import shutil
from pathlib import Path

from headgate.catalog.targets import DATABASE_FILE, WAREHOUSE_FOLDER
from headgate.errors import InvalidRequest

MARKER = ".headgate-demo"
CHECKPOINTS, ORDINARY_TABLE = "checkpoints", "visitors"
"""Beside the lake: what the demo's stream remembers, and a table that is ordinary before and after."""
_MARKER_TEXT = "headgate demo made this lake, and replaces it when it runs here again.\n"


def prepare(folder: Path, *, fresh: bool) -> bool:
    """Make the folder ready, without an earlier demo's lake if ``fresh``; whether one was there."""
    marker = folder / MARKER
    ours = marker.is_file()
    if not ours and (folder.is_file() or (folder.is_dir() and any(folder.iterdir()))):
        raise InvalidRequest(
            f"{str(folder)!r} exists and the demo did not make it, so nothing in it was touched: "
            "choose a new folder with --lake DIR",
            code="HEADGATE_NOT_A_DEMO_LAKE",
        )
    if ours and fresh:
        _remove(folder)
    folder.mkdir(parents=True, exist_ok=True)
    marker.write_text(_MARKER_TEXT)
    return ours


def _remove(folder: Path) -> None:
    # Only what the demo makes: the folder may hold other things by now.
    for database in folder.glob(f"{DATABASE_FILE}*"):
        database.unlink()
    for name in (WAREHOUSE_FOLDER, CHECKPOINTS, ORDINARY_TABLE):
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)
