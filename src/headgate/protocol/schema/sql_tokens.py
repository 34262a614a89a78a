"""Into which tokens does SQL text fall, as far as every parser agrees on it?

Where Spark and others could split a text differently there is a token of kind ODD, and nothing after it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class TokenKind(Enum):
    """What a token is."""

    WORD = "word"
    """A keyword, a name or a number: whatever is made of letters, digits and underscores."""
    STRING = "string"
    QUOTED = "quoted"
    """A name in backticks."""
    OPERATOR = "operator"
    ODD = "odd"


@dataclass(frozen=True, slots=True)
class Token:
    """One token, as it is written."""

    kind: TokenKind
    text: str

    @property
    def word(self) -> str:
        """A word in lower case; nothing if it is something else."""
        return self.text.lower() if self.kind is TokenKind.WORD else ""

    @property
    def ends_value(self) -> bool:
        """Whether a value may end with it."""
        return self.kind is not TokenKind.OPERATOR or self.text in (")", "]")


NO_TOKEN = Token(TokenKind.OPERATOR, "")
"""What stands before the first and after the last."""

# A name that is not in backticks has no letters but these: there are others of which the upper case is one.
_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\n]++)
    | (?P<string>'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")
    | (?P<quoted>`[^`]*+`)
    | (?P<word>[A-Za-z0-9_]++)
    | (?P<operator><=>|::|->|=>|--|/\*|[-+*/%<>=!~&|^:,.\[\]()])
    """,
    re.VERBOSE | re.DOTALL,
)
_RAW = ("r'", 'r"')  # in which a backslash is one, so that they end elsewhere
MAX_PARSED_DEPTH = 10
"""How deep a text may be nested that is given to a parser which tries one thing after another."""

_DEEPER = {"(": 1, "[": 1, ")": -1, "]": -1}


def tokenize(sql: str) -> Sequence[Token]:
    """The tokens of a text, without the blanks between them."""
    tokens: list[Token] = []
    position = 0
    while position < len(sql):
        found = _TOKEN.match(sql, position)
        if found is None or (sql[position : position + 2].lower() in _RAW and found.lastgroup == "word"):
            return [
                *tokens,
                Token(TokenKind.ODD, sql[position : position + 1 if found is None else position + 2]),
            ]
        position = found.end()
        if found.lastgroup != "space":
            tokens.append(Token(TokenKind(found.lastgroup), found[0]))
    return tokens


def nesting_depth(tokens: Sequence[Token]) -> int:
    """How deep parentheses and brackets are nested."""
    deepest = level = 0
    for token in tokens:
        level += _DEEPER.get(token.text, 0)
        deepest = max(deepest, level)
    return deepest


def is_too_deep(sql: str) -> bool:
    """Whether sqlglot could take for ever: it tries a type, then a call, so each level may double the time.

    What cannot be split counts by all its characters.
    """
    if sql.count("(") + sql.count("[") <= MAX_PARSED_DEPTH:
        return False
    tokens = tokenize(sql)
    if tokens[-1].kind is TokenKind.ODD:
        return True
    return nesting_depth(tokens) > MAX_PARSED_DEPTH
