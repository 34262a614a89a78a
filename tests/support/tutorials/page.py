"""What does a tutorial have its reader type, where, and what should they then see?

A ``sh`` block is typed into a shell, a ``python`` block behind the prompt of Python, and a ``text`` block is
what the block above it shows. ``<!-- terminal: second -->`` before a block says where it is typed, and
``<!-- terminal: second, goes on -->`` that its command runs on, as a server does.
"""

import re
from dataclasses import dataclass
from pathlib import Path

_PART = re.compile(
    r"^<!-- terminal: (?P<terminal>\w+)(?P<goes_on>, goes on)? -->$"
    r"|^```(?P<language>sh|python|text)\n(?P<source>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
FIRST = "first"


@dataclass(frozen=True, slots=True)
class Step:
    """One block that a reader types."""

    language: str
    source: str
    shown: str | None
    terminal: str = FIRST
    goes_on: bool = False

    @property
    def installs(self) -> bool:
        """Whether it makes the reader's environment, or enters it."""
        return self.language == "sh" and bool(re.search(r"pip install|bin/activate", self.source))

    @property
    def opens_python(self) -> bool:
        return self.language == "sh" and self.source.rstrip().splitlines()[-1] == "python"


def steps(page: Path) -> tuple[Step, ...]:
    """The blocks of a page, from top to bottom."""
    found: list[Step] = []
    terminal, goes_on = FIRST, False
    for part in _PART.finditer(page.read_text()):
        if part["terminal"]:
            terminal, goes_on = part["terminal"], bool(part["goes_on"])
        elif part["language"] == "text":
            last = found.pop()
            assert last.shown is None, f"{page.name}: two blocks say what is shown by {last.source}"
            found.append(Step(last.language, last.source, part["source"], last.terminal, last.goes_on))
        else:
            found.append(Step(part["language"], part["source"], None, terminal, goes_on))
            terminal, goes_on = FIRST, False
    return tuple(found)
