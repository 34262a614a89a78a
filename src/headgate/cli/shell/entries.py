"""Into which entries does a text fall? Statements, which end at a semicolon, and commands such as ``\\d``.

    reader = EntryReader()
    reader.feed("SELECT 1; SELECT")      [Entry("SELECT 1", line=1)]
    reader.feed("2;")                    [Entry("SELECT\\n2", line=1)]

A semicolon in quotes or in a comment ends nothing, by the same tokens as the statements are parsed with.
"""

from dataclasses import dataclass

from headgate.sql.parse.tokens import tokenize_statement

COMMAND_SIGN = "\\"


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement without its semicolon, or one command of the shell."""

    text: str
    line: int
    """In which line of the input it begins."""

    @property
    def is_command(self) -> bool:
        """Whether it is a command of the shell, and no SQL."""
        return self.text.startswith(COMMAND_SIGN)


@dataclass(slots=True)
class EntryReader:
    """Takes lines, and gives entries as soon as they are complete."""

    line: int = 0
    _pending: str = ""
    _begin: int = 0

    @property
    def is_within(self) -> bool:
        """Whether a statement, a text in quotes or a comment has begun and not ended."""
        return bool(self._pending)

    def feed(self, text: str) -> tuple[Entry, ...]:
        """The entries that are complete with these lines."""
        return tuple(entry for line in text.splitlines() for entry in self._feed_line(line))

    def finish(self) -> Entry | None:
        """What is left at the end of the input: a statement without a semicolon."""
        text, self._pending = self._pending.strip(), ""
        if not text or not tokenize_statement(text).tokens:
            return None
        return Entry(text, self._begin)

    def _feed_line(self, line: str) -> list[Entry]:
        self.line += 1
        if not self._pending:
            if line.lstrip().startswith(COMMAND_SIGN):
                return [Entry(line.strip(), self.line)]
            self._begin = self.line
        self._pending = f"{self._pending}\n{line}" if self._pending else line
        found = self._take_statements() if ";" in line else []
        if not _has_begun(self._pending):
            self._pending = ""
        return found

    def _take_statements(self) -> list[Entry]:
        found: list[Entry] = []
        text, begin = self._pending, 0
        for token in tokenize_statement(text).tokens:
            if token.sign != ";":
                continue
            said = text[begin : token.start]
            if tokenize_statement(said).tokens:
                skipped = len(said) - len(said.lstrip())
                at = self._begin + text.count("\n", 0, begin + skipped)
                found.append(Entry(said.strip(), at))
            begin = token.end
        self._begin += text.count("\n", 0, begin)
        self._pending = text[begin:]
        return found


def _has_begun(text: str) -> bool:
    """Whether there is more than blanks and whole comments."""
    if tokenize_statement(text).tokens:
        return True
    # A word on a line of its own is lost in a comment that did not end.
    return "/*" in text and not tokenize_statement(f"{text}\nend").tokens


def is_complete(text: str) -> bool:
    """Whether nothing is missing at the end of a text that somebody types."""
    reader = EntryReader()
    reader.feed(text)
    return not reader.is_within
