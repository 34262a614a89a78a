"""A window that is too narrow for a table shows each value on a line of its own, and no name in crumbs."""

from io import StringIO

import pytest
from rich.console import Console

from headgate.cli import console
from headgate.cli.console import OutputColumn

_COLUMNS = (
    OutputColumn("table", style="bold"),
    OutputColumn("published", right=True),
    OutputColumn("last commit (UTC)", is_whole=True),
)
_ROWS = [("sales.orders_of_today", "12,345", "2026-11-19 23:05"), ("sales.stock", "0", "2026-11-19 23:02")]


def _shown(width: int, *, is_terminal: bool = True) -> list[str]:
    file = StringIO()
    console.show_table(
        Console(file=file, force_terminal=is_terminal, width=width, color_system=None), _COLUMNS, _ROWS
    )
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_with_room_for_all_rows_stand_under_headings() -> None:
    assert _shown(80)[0] == "table                  published  last commit (UTC)"
    assert len(_shown(80)) == 4


def test_a_name_goes_on_below_as_long_as_it_is_no_crumb() -> None:
    lines = _shown(45)

    assert lines[0] == "table            published  last commit (UTC)"
    assert lines[2].startswith("sales.orders_of")


@pytest.mark.parametrize("width", [41, 40])
def test_with_less_each_value_has_a_line(width: int) -> None:
    assert _shown(42)[0].split()[:2] == ["table", "published"]
    assert _shown(width) == [
        "table              sales.orders_of_today",
        "published          12,345",
        "last commit (UTC)  2026-11-19 23:05",
        "",
        "table              sales.stock",
        "published          0",
        "last commit (UTC)  2026-11-19 23:02",
        "",
    ]


def test_with_no_room_beside_it_a_value_stands_behind_its_heading() -> None:
    assert _shown(20) == [
        "table",
        "sales.orders_of_toda",
        "y",
        "published 12,345",
        "last commit (UTC)",
        "2026-11-19 23:05",
        "",
        "table sales.stock",
        "published 0",
        "last commit (UTC)",
        "2026-11-19 23:02",
        "",
    ]


def test_a_pipe_has_no_edge() -> None:
    assert len(_shown(10_000, is_terminal=False)) == 3
