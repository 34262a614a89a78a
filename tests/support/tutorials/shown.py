"""Is what a reader sees what the page says? Yes, if times, ids, sizes, spaces and folder alone differ."""

import re
from pathlib import Path

FOLDER = "/home/you/headgate"
"""The empty folder in which the readers of the pages are."""
PORT = "8080"
_CHANGING = (
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?"), "<time>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "<id>"),
    (re.compile(r"\b\d+(\.\d+)? (B|KiB|MiB)\b"), "<size>"),
    (re.compile(r"-{2,}"), "--"),
    (re.compile(r"[ \t]+"), " "),
)
_PROGRESS = "▕"
"""How the bar begins that DuckDB draws where a query takes longer than two seconds."""


def comparable(text: str) -> str:
    """The text without what differs from reader to reader."""
    for pattern, name in _CHANGING:
        text = pattern.sub(name, text)
    lines = (line.strip() for line in text.strip().split("\n") if _PROGRESS not in line)
    return "\n".join(lines).strip()


def as_on_the_page(text: str, folder: Path, port: int) -> str:
    """What this reader saw, with the folder and the port of the page."""
    return text.replace(str(folder), FOLDER).replace(f":{port}", f":{PORT}")


def as_typed(source: str, port: int) -> str:
    """What the page says to type, with a port that is free here."""
    return source.replace(PORT, str(port))
