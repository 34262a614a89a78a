"""How does an object show itself to a person? As one line, or as HTML of a notebook.

    Summary("Table s.orders", (("version", "3"),), (Grid("columns", ("name", "type"), (("id", "long"),)),))

is a value without any look. Names and comments are other people's words, so every one of them is taken as
text: what would act on a terminal or in a page is spelled out, and what looks like a credential is masked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from itertools import islice

from headgate.redaction import mask_value, names_a_secret, redact

_MOST_ROWS = 100
_MOST_CHARACTERS = 300
_SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_STYLE = "text-align: left; vertical-align: top"


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows under a heading."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """What is shown of an object: what it is, facts with their names but for empty ones, and rows."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    grids: tuple[Grid, ...] = ()


def one_line(kind: str, *said: object, **named: object) -> str:
    """What ``repr`` says: ``Table('sales.orders', version=3)``; parts that are None are left out."""
    parts = [repr(part) for part in said if part is not None]
    parts += [f"{name}={value!r}" for name, value in named.items() if value is not None]
    return plain(f"{kind}({', '.join(parts)})")


def plain(text: str) -> str:
    """A text of others in one line: nothing that a terminal acts on, no credentials, and not too long."""
    shown = redact(text)
    if not shown.isprintable():
        shown = "".join(letter if letter.isprintable() else _spelled(letter) for letter in shown)
    return shown if len(shown) <= _MOST_CHARACTERS else f"{shown[:_MOST_CHARACTERS]}…"


def pairs_text(pairs: Mapping[str, str]) -> str:
    """Properties in one line; of those that are named after a credential only the name."""
    return ", ".join(
        f"{key}={mask_value(key, value) if names_a_secret(key) else value}" for key, value in pairs.items()
    )


def size_text(number_of_bytes: int) -> str:
    """A size that a person can compare, in powers of 1024: ``17.2 MiB``."""
    shown, unit = float(number_of_bytes), 0
    while abs(shown) >= 1024 and unit < len(_SIZE_UNITS) - 1:
        shown, unit = shown / 1024, unit + 1
    return f"{number_of_bytes:,} B" if unit == 0 else f"{shown:,.1f} {_SIZE_UNITS[unit]}"


def metrics_summary(kind: str, version: int, metrics: Mapping[str, int]) -> Summary:
    """A statement that was carried out: its version, and those of its metrics that are not zero."""
    counted = tuple((name, f"{value:,}") for name, value in metrics.items() if value)
    return Summary(kind, (("version", str(version)), *counted))


def to_html(summary: Summary) -> str:
    """The summary as HTML, which has no script, no style sheet and no link."""
    parts = [f"<div><strong>{_text(summary.title)}</strong>"]
    facts = [(name, value) for name, value in summary.facts if value]
    if facts:
        rows = "".join(
            f'<tr><th style="{_STYLE}">{_text(name)}</th><td style="{_STYLE}">{_text(value)}</td></tr>'
            for name, value in facts
        )
        parts.append(f"<table><tbody>{rows}</tbody></table>")
    parts += [_grid_html(grid) for grid in summary.grids]
    return "".join((*parts, "</div>"))


def html_or_line(summarize: Callable[[], Summary], line: str) -> str:
    """What a notebook shows: the summary, or if it cannot be had the one line and why, and never an error."""
    try:
        return to_html(summarize())
    except Exception as failure:  # looking at an object must not fail, whoever does not answer
        return f"<pre>{_text(line)}</pre><p>{_text(f'{type(failure).__name__}: {failure}')}</p>"


def _grid_html(grid: Grid) -> str:
    head = "".join(f'<th style="{_STYLE}">{_text(name)}</th>' for name in grid.columns)
    rows = "".join(
        "<tr>" + "".join(f'<td style="{_STYLE}">{_text(cell)}</td>' for cell in row) + "</tr>"
        for row in islice(grid.rows, _MOST_ROWS)
    )
    notes = "".join(f"<p>{_text(note)}</p>" for note in _left_out(grid))
    body = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<p>{_text(grid.title)}</p>{body}{notes}"


def _left_out(grid: Grid) -> tuple[str, ...]:
    more = len(grid.rows) - _MOST_ROWS
    return (f"… and {more:,} more",) if more > 0 else ()


def _text(words: str) -> str:
    return escape(plain(words))


def _spelled(letter: str) -> str:
    return letter.encode("unicode_escape").decode()
