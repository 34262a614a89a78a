"""What the string literals of a SQL text say, by Spark's rules of escaping.

Other parsers unescape a little differently, and a difference here would select other rows. So
strings are taken out before a text is parsed, and a placeholder is left for each.
"""

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
      (?P<skip>--[^\n]*|/\*.*?\*/|`(?:[^`]|``)*+`|(?<!\w)[xX](?:'[^']*'|"[^"]*"))
    | (?<!\w)[rR](?P<raw>'[^']*'|"[^"]*")
    | (?P<string>'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+")
    | (?P<open>(?:['"`]|/\*).*)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[01][0-7]{2}|.)", re.DOTALL)
_SINGLE = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": r"\%", "_": r"\_"}
_WITHOUT = re.compile(r"\bwithout\b", re.IGNORECASE)
_PLACE = "headgate-string-"


@dataclass(frozen=True, slots=True)
class DetachedSql:
    """A SQL text without its strings."""

    sql: str
    strings: tuple[str | None, ...]

    @property
    def is_ambiguous(self) -> bool:
        """Whether sqlglot reads it differently from Spark.

        It skips a word of TIMESTAMP WITHOUT TIME ZONE. Spark goes on with a comment in the next line if it
        ends with a backslash.
        """
        lines = self.sql.split("\n") if "\\\n" in self.sql else []
        goes_on = any(line.endswith("\\") and "--" in line for line in lines[:-1])
        return goes_on or _WITHOUT.search(self.sql) is not None

    def text(self, literal: str) -> str | None:
        """What a literal of the text says, once parsed; None if it depends, or several were joined."""
        if not literal.startswith(_PLACE):
            return literal
        number = literal.removeprefix(_PLACE)
        return self.strings[int(number)] if number.isdecimal() else None


def detach_strings(sql: str) -> DetachedSql:
    """Take out the string literals; comments, names and X'1F' stay as they are."""
    strings: list[str | None] = []

    def replace(found: re.Match[str]) -> str:
        if found["skip"] or found["open"]:  # what is not closed goes on to the end
            return found[0]
        strings.append(found["raw"][1:-1] if found["raw"] else unescape(found["string"]))
        return f" '{_PLACE}{len(strings) - 1}' "

    return DetachedSql(_TOKEN.sub(replace, sql), tuple(strings))


def unescape(quoted: str) -> str | None:
    """What a quoted literal says; None if that depends: two quotes in it are one, on Spark 4.0 none."""
    mark, body = quoted[0], quoted[1:-1]
    if mark in _ESCAPE.sub("", body):
        return None
    return _ESCAPE.sub(_character, body)


def _character(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) > 4:
        return _code_point(int(code[1:], 16))
    if len(code) == 3:
        return chr(int(code, 8))
    return _SINGLE.get(code, code)


def _code_point(number: int) -> str:
    return chr(number) if number <= 0x10FFFF else "\ud800"  # no character: makes the literal unusable


def quote(text: str) -> str:
    """The literal that says ``text``."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
