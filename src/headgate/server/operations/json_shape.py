"""How deep and how wide is a JSON text? Told before it is decoded, in one pass and without building it.

A decoder that recurses fails on ``[[[[…``, and a million empty lists are 50 times larger than their text.
Text that is no JSON gets an answer too, which may be wrong: whoever decodes it refuses it.
"""

import re

_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NEITHER = re.compile(rb"[^\[\]{}]++")


def is_deeper(text: bytes, depth: int) -> bool:
    """Whether lists and objects are nested more deeply than this."""
    if text.count(b"[") + text.count(b"{") <= depth:
        return False
    level = 0
    for sign in _NEITHER.sub(b"", _STRINGS.sub(b"", text)):
        level += 1 if sign in b"[{" else -1
        if level > depth:
            return True
    return False


def has_more_values(text: bytes, count: int) -> bool:
    """Whether it has more values than this, those in lists and objects counted."""
    if text.count(b",") + text.count(b"[") + text.count(b"{") <= count:
        return False
    bare = _STRINGS.sub(b"", text)
    return bare.count(b",") + bare.count(b"[") + bare.count(b"{") > count
