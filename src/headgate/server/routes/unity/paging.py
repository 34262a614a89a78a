"""Which part of a list is the answer? So many at most, after the one that the token names."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from headgate.errors import InvalidRequest

Item = TypeVar("Item")
MOST = 1_000
"""What one page has at most, however many are asked for."""
_USUAL = 100


def take_page(
    items: Sequence[Item],
    key: Callable[[Item], str],
    *,
    max_results: int | None,
    page_token: str | None,
) -> tuple[tuple[Item, ...], str | None]:
    """The page after the token, of a list that is sorted by ``key``, and the token of the next one.

    The token is the key of the last item, so what comes and goes between two pages moves nothing else.
    Zero, which Spark sends, and nothing mean the usual number.
    """
    if max_results is not None and max_results < 0:
        raise InvalidRequest(f"max_results is {max_results}: ask for a number that is not negative")
    rest = [item for item in items if not page_token or key(item) > page_token]
    page = tuple(rest[: min(max_results or _USUAL, MOST)])
    return page, key(page[-1]) if page and len(page) < len(rest) else None
