"""The bank of SQL statements: what is in its files, and what each statement is expected to give.

A file of ``statements/`` is SQL with comments. A group begins with ``-- # its name`` and has a schema ``s``
of its own. A statement ends with a line that ends in ``;``. Comments right below it say what it gives:

    SELECT id, name FROM s.t ORDER BY id;
    -- id int, name string           the columns; then a line for each row
    -- 1 | 'a'
    -- 2 | NULL

    DROP TABLE s.t;
    -- ok                            no columns

    SELECT nothing FROM s.t;
    -- error UNRESOLVED_COLUMN.WITH_SUGGESTION

Lines that begin with ``-- @`` are marks: above a statement, or below the name of a group for all of it:

    @ours why                 Delta Spark has no such statement
    @differs why              it gives something else, which stands in lines that begin with ``-- delta:``
    @shown a, b               only the values of these columns are compared; of the others, names and types
    @mask a, b                the values of these are not compared
    @args {"id": 1}           parameters, by name or as a list by place
    @frames {"new": "…"}      DataFrames, as queries that make them
    @classic why              Spark Connect has no such statement

``${folder}`` is a folder of the group, ``${time s.t 1}`` the moment at which version 1 of a table was made,
``${catalog}`` what the catalog of ``s`` is called.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parent / "statements"
_GROUP, _MARK, _THEIRS = "-- # ", "-- @", "delta: "
MARKS = frozenset({"ours", "differs", "shown", "mask", "args", "frames", "classic"})


@dataclass(frozen=True)
class Statement:
    """One statement, and what it is to give."""

    file: str
    line: int
    text: str
    marks: Mapping[str, str]
    expected: tuple[str, ...]
    """Of Headgate, and of Delta Spark unless it differs."""
    theirs: tuple[str, ...]
    span: tuple[int, int] = field(compare=False)
    """The lines of the file in which the expectation stands."""

    @property
    def of_delta(self) -> tuple[str, ...]:
        """What Delta Spark is to give."""
        return self.theirs if "differs" in self.marks else self.expected

    @property
    def is_ours(self) -> bool:
        return "ours" in self.marks

    @property
    def args(self) -> dict[str, Any] | list[Any] | None:
        return json.loads(self.marks["args"]) if "args" in self.marks else None

    @property
    def frames(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.marks.get("frames", "{}"))
        return found

    @property
    def keeps_order(self) -> bool:
        """Whether the order of its rows is a part of what it gives."""
        return bool(re.match(r"(?i)desc", self.text) or re.search(r"(?i)\border\s+by\b", self.text))

    def is_compared(self, column: str) -> bool:
        """Whether the values of a column are."""
        if "shown" in self.marks:
            return column in _names(self.marks["shown"])
        return column not in _names(self.marks.get("mask", ""))


def _names(listed: str) -> list[str]:
    return [each.strip() for each in listed.split(",")]


@dataclass(frozen=True)
class Group:
    """Statements that share tables, in their order."""

    file: str
    name: str
    statements: tuple[Statement, ...]

    def __str__(self) -> str:
        return f"{self.file}: {self.name}"

    @property
    def of_delta(self) -> tuple[Statement, ...]:
        """Those that Delta Spark has too."""
        return tuple(each for each in self.statements if not each.is_ours)

    @property
    def on_connect(self) -> tuple[Statement, ...]:
        """Those that Spark Connect has too."""
        return tuple(each for each in self.statements if "classic" not in each.marks)


def load_bank(files: Iterable[Path] = ()) -> tuple[Group, ...]:
    """Every group of the files, or of all files there are."""
    return tuple(group for file in files or sorted(PLACE.glob("*.sql")) for group in load_file(file))


def load_file(file: Path) -> tuple[Group, ...]:
    """The groups of one file."""
    reader = _Reader(file.name)
    for number, line in enumerate(file.read_text().splitlines()):
        reader.take(number, line)
    return tuple(reader.groups())


def refill(file: Path, given: Mapping[int, Sequence[str]]) -> None:
    """Write what statements give, by their lines, in place of what the file has."""
    lines = file.read_text().splitlines()
    statements = [each for group in load_file(file) for each in group.statements]
    for statement in reversed(statements):
        if statement.line in given:
            start, stop = statement.span
            lines[start:stop] = [f"-- {line}" for line in given[statement.line]]
    file.write_text("\n".join(lines) + "\n")


def file_lines(expected: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """An expectation as it stands in a file."""
    return [*expected, *(_THEIRS + line for line in theirs)]


class _Reader:
    """Lines of a file, taken one by one."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[tuple[str, list[Statement]]] = []
        self.group_marks: dict[str, str] = {}
        self.marks: dict[str, str] = {}
        self.text: list[str] = []
        self.begun = 0
        self.is_below_name = False
        self.is_below_statement = False

    def groups(self) -> Iterator[Group]:
        for name, statements in self.found:
            yield Group(self.file, name, tuple(statements))

    def take(self, number: int, line: str) -> None:
        if self.text or not (line.startswith("--") or not line.strip()):
            self._take_sql(number, line)
        elif not line.strip():
            if self.is_below_name:
                self.group_marks, self.marks = self.marks, {}
            self.is_below_name = self.is_below_statement = False
        elif line.startswith(_GROUP):
            self.found.append((line.removeprefix(_GROUP).strip(), []))
            self.group_marks, self.marks = {}, {}
            self.is_below_name, self.is_below_statement = True, False
        elif line.startswith(_MARK):
            name, _, value = line.removeprefix(_MARK).partition(" ")
            if name not in MARKS:
                raise ValueError(f"{self.file}:{number + 1}: there is no mark @{name}")
            self.marks[name] = value.strip()
            self.is_below_statement = False
        elif self.is_below_statement:
            self._expect(number, line.removeprefix("--").removeprefix(" "))

    def _take_sql(self, number: int, line: str) -> None:
        if not self.text:
            self.begun = number + 1
        self.text.append(line)
        self.is_below_name = False
        if line.rstrip().endswith(";"):
            text = "\n".join(self.text).rstrip().removesuffix(";")
            marks = {**self.group_marks, **self.marks}
            here = (number + 1, number + 1)
            self.found[-1][1].append(Statement(self.file, self.begun, text, marks, (), (), here))
            self.text, self.marks = [], {}
            self.is_below_statement = True

    def _expect(self, number: int, line: str) -> None:
        statements = self.found[-1][1]
        last = statements[-1]
        expected, theirs = last.expected, last.theirs
        if line.startswith(_THEIRS):
            theirs = (*theirs, line.removeprefix(_THEIRS))
        else:
            expected = (*expected, line)
        statements[-1] = Statement(
            last.file, last.line, last.text, last.marks, expected, theirs, (last.span[0], number + 1)
        )
