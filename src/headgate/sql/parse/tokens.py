"""Into which tokens does a statement fall, exactly as Spark's own lexer splits it?

Each token knows where it stands. Comments go; a hint stays, between ``/*+`` and ``*/``. The time is linear,
also where much is nested: ``closes`` says of each parenthesis where its partner is.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

WORD, QUOTED, STRING, NUMBER, SIGN, UNCLOSED, END = (
    "word",
    "quoted",
    "string",
    "number",
    "sign",
    "unclosed",
    "end",
)
_TOKEN = re.compile(
    r"""
      (?P<space>\s++|--(?:\\\n|[^\r\n])*+)
    | (?P<comment>/\*(?!\+))
    | (?P<string>[rR](?:'[^']*+'|"[^"]*+")|'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+")
    | (?P<dollar>\$[A-Za-z]*\$)
    | (?P<quoted>`(?:[^`]|``)*+`)
    | (?P<number>(?:\d++\.\d*+|\.\d++|\d++)(?:[eE][+-]?\d++)?(?:[lLsSyYfFdD]|[bB][dD])?(?!\w))
    | (?P<word>\w++)
    | (?P<unclosed>['"`].*+)
    | (?P<sign><=>|\|>|\|\||::|->|=>|==|!=|<=|>=|<>|@[vV](?=['"0-9])|/\*\+|\*/|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE = re.compile(r"/\*(?!\+)|\*/")
_PARTNERS = {")": "(", "]": "["}


class SqlToken(NamedTuple):
    """A piece of the text. ``word`` is its text in lower case if it is a word, ``sign`` if it is a sign."""

    kind: str
    text: str
    start: int
    word: str = ""
    sign: str = ""

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_name(self) -> bool:
        """Whether it may be a part of a name."""
        return self.kind in (WORD, QUOTED)

    @property
    def name(self) -> str:
        """The part of a name that it is, without quotes."""
        return self.text[1:-1].replace("``", "`") if self.kind == QUOTED else self.text


@dataclass(frozen=True, slots=True)
class SqlTokens:
    """The tokens of a text up to ``stop``; what lies behind is as if the text ended there."""

    text: str
    tokens: Sequence[SqlToken]
    closes: Mapping[int, int]
    """Of each parenthesis and bracket that is closed, by its number, the number of the one that closes it."""
    questions: Mapping[int, int]
    """Of each ``?`` which one it is, from 0."""
    stop: int

    def __getitem__(self, index: int) -> SqlToken:
        if 0 <= index < self.stop:
            return self.tokens[index]
        return SqlToken(END, "", self.end_of(self.stop - 1) if index >= 0 else 0)

    def word(self, index: int) -> str:
        """The word there in lower case; nothing if there is none."""
        return self.tokens[index].word if 0 <= index < self.stop else ""

    def sign(self, index: int) -> str:
        """The sign there; nothing if there is none."""
        return self.tokens[index].sign if 0 <= index < self.stop else ""

    def has_words(self, index: int, *words: str) -> bool:
        """Whether these words stand there one after the other."""
        return all(self.word(index + count) == word for count, word in enumerate(words))

    def is_name(self, index: int) -> bool:
        """Whether a part of a name may stand there."""
        return self[index].is_name

    def after_group(self, index: int) -> int:
        """The token behind the parenthesis that closes the one there; the end if none does."""
        return min(self.closes.get(index, self.stop) + 1, self.stop)

    def end_of(self, index: int) -> int:
        """The offset behind a token."""
        return self.tokens[index].end if 0 <= index < len(self.tokens) else 0

    def slice(self, begin: int, stop: int) -> str:
        """The text from one token up to another, which is not in it."""
        return self.text[self.tokens[begin].start : self.end_of(stop - 1)] if begin < stop else ""

    def until(self, stop: int) -> "SqlTokens":
        """The same tokens with an earlier end."""
        return replace(self, stop=min(stop, self.stop))


def tokenize_statement(text: str) -> SqlTokens:
    """The tokens of a statement without the semicolons behind it."""
    tokens = _split(text)
    closes: dict[int, int] = {}
    questions: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.sign in ("(", "["):
            opened.append(index)
        elif token.sign in _PARTNERS and opened and tokens[opened[-1]].sign == _PARTNERS[token.sign]:
            closes[opened.pop()] = index
        elif token.sign == "?":
            questions[index] = len(questions)
    stop = len(tokens)
    while stop and tokens[stop - 1].sign == ";":
        stop -= 1
    return SqlTokens(text, tokens, closes, questions, stop)


def _split(text: str) -> list[SqlToken]:
    tokens: list[SqlToken] = []
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        kind = str(found.lastgroup) if found else SIGN
        end = found.end() if found else position + 1
        if kind == "comment":
            end = _comment_end(text, end)
        elif kind == "dollar":
            closing = text.find(text[position:end], end)
            kind, end = (STRING, closing + end - position) if closing >= 0 else (UNCLOSED, len(text))
        if kind not in ("space", "comment"):
            tokens.append(_token(kind, text[position:end], position))
        position = end
    return tokens


def _token(kind: str, text: str, start: int) -> SqlToken:
    if kind == WORD:
        return SqlToken(kind, text, start, text.lower())
    return SqlToken(kind, text, start, "", text.lower()) if kind == SIGN else SqlToken(kind, text, start)


def _comment_end(text: str, position: int) -> int:
    """Where a comment ends that began before ``position``: there may be others in it."""
    depth = 1
    for edge in _COMMENT_EDGE.finditer(text, position):
        depth += -1 if edge[0] == "*/" else 1
        if depth == 0:
            return edge.end()
    return len(text)
