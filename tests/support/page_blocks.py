"""The fenced blocks of the pages: which language each says it is in, and where it stands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "benchmarks").glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "tests").rglob("*.md"),
    ]
)
_FENCE = re.compile(r"^(?P<indent>\s*)(?P<fence>```+|~~~+)\s*(?P<language>[\w+-]*)")


@dataclass(frozen=True, slots=True)
class PageBlock:
    """A block of code on a page; the line is that of its fence."""

    page: Path
    line: int
    language: str
    indent: int
    text: str

    @property
    def place(self) -> str:
        """The page and the line, for people."""
        return f"{self.page.as_posix().removeprefix(f'{ROOT.as_posix()}/')}:{self.line}"


def blocks_of(page: Path) -> Iterator[PageBlock]:
    """The blocks of a page, from top to bottom."""
    opened, begin, lines = None, 0, list[str]()
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if opened is None:
            if opened := _FENCE.match(line):
                begin, lines = number, []
        elif line.strip() == opened["fence"]:
            text = "".join(f"{each[len(opened['indent']) :]}\n" for each in lines)
            yield PageBlock(page, begin, opened["language"], len(opened["indent"]), text)
            opened = None
        else:
            lines.append(line)
    assert opened is None, f"{page}:{begin} is never closed"


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
