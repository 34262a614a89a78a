"""Where does the shell remember what was typed? In a file of the user that nobody else reads."""

import os
from pathlib import Path

_NAME = "sql_history"


def history_path() -> Path:
    """The file, made if there is none: ``$XDG_STATE_HOME/headgate/sql_history``."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    folder = Path(state) / "headgate"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / _NAME
    handle = os.open(path, os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    try:
        os.fchmod(handle, 0o600)
    finally:
        os.close(handle)
    return path


def usable_history() -> Path | None:
    """The file, or None where none can be kept."""
    try:
        return history_path()
    except OSError:
        return None
