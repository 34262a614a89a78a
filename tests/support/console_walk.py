"""Every page of the console."""

from collections.abc import Iterator

LAKE_PAGES = (
    "",
    "/tables",
    "/events",
    "/conflicts",
    "/transactions",
    "/grants",
    "/rules",
    "/maintenance",
    "/adopt",
)
TABLE_PAGES = (
    "",
    "/rows",
    "/files",
    "/versions",
    "/versions/1",
    "/compare",
    "/maintenance",
    "/check",
    "/release",
)


def addresses(lake: str, table: str) -> Iterator[str]:
    """Every page of a lake with a table."""
    yield from (f"/console/lakes/{lake}{page}" for page in LAKE_PAGES)
    yield from (f"/console/lakes/{lake}/tables/{table}{page}" for page in TABLE_PAGES)
