"""Which regular expressions may users give the catalog, and what do they match?

Commits wait while one is matched, so it is matched in a time that grows with the text and no faster:
by RE2, which has neither look-around nor references back.
"""

from functools import lru_cache
from typing import Any

import re2

MAX_LENGTH = 1_000
"""How many characters a regular expression may have."""
_MEMORY = 1 << 20
"""How many bytes it may take once it is compiled, which also bounds what a repetition multiplies."""


def is_pattern(text: str) -> bool:
    """Whether it is a regular expression that may be used."""
    return _compiled(text) is not None


def matches(pattern: str, text: str) -> bool | None:
    """Whether the pattern matches the whole text; None if it is no pattern that may be used."""
    compiled = _compiled(pattern)
    return None if compiled is None else compiled.fullmatch(text) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    if len(pattern) > MAX_LENGTH:
        return None
    options = re2.Options()
    options.max_mem, options.log_errors = _MEMORY, False
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError):
        return None
