"""Which mutants may survive, and why: the table of survivors.md."""

import re
from pathlib import Path

PAGE = Path(__file__).with_name("survivors.md")
_ROW = re.compile(r"^\| `([a-z_.]+)` \| (.+?) \| (.+?) \| (.+) \|$", re.MULTILINE)

Survivor = tuple[str, str, str]
"""The module, the line that changes, and the change."""


def explained() -> dict[Survivor, str]:
    """The reason for each survivor of the page."""
    page = PAGE.read_text().replace("\\|", "\0")
    return {
        (module, _plain(text)[1:-1].strip(), _plain(change)): _plain(reason)
        for module, text, change, reason in _ROW.findall(page)
    }


def _plain(cell: str) -> str:
    return cell.replace("\0", "|")
