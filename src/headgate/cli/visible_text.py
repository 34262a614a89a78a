"""What of a text would a terminal obey rather than show? That is written out: others wrote it (T11).

visible_line("a\\x1b[31mb\\nc")     a\\x1b[31mb\\nc, on one line: for cells, headings and names
visible_lines("a\\x1b[31mb\\nc")    a\\x1b[31mb, and c below it: for sentences and plans
"""

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
"""Escapes, and what moves the cursor."""
_SEPARATORS = (0x2028, 0x2029)
"""At which some terminals begin another line."""
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Marks that turn the direction of text, so that what is shown is not what is there."""

_HIDDEN = {
    code: f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"
    for code in (*_CONTROLS, *_SEPARATORS, *_DIRECTIONS)
} | {ord("\n"): "\\n", ord("\t"): "\\t", ord("\r"): "\\r"}
_HIDDEN_IN_LINES = {code: shown for code, shown in _HIDDEN.items() if chr(code) not in "\n\t"}


def visible_line(text: str) -> str:
    """The text on one line."""
    return text.translate(_HIDDEN)


def visible_lines(text: str) -> str:
    """The text, which keeps its lines and tabs."""
    return text.translate(_HIDDEN_IN_LINES)
