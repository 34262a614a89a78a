"""Which names of properties are not a table's own, and what to use in their place.

Spark reserves them: a catalog shows the table's place, owner and format under them, so a property of
that name would be contradicted by the table itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from headgate.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class ReservedProperty:
    """One row."""

    name: str
    instead: str


_NONE = "leave it out"
RESERVED_PROPERTIES: tuple[ReservedProperty, ...] = (
    ReservedProperty("location", "`lake.clone`, `lake.adopt` and `lake.release` say where a table is"),
    ReservedProperty("owner", "`lake.grant` and `lake.revoke` say who may do what"),
    ReservedProperty("provider", "every table here is a Delta table: leave it out"),
    ReservedProperty("external", "`lake.adopt` takes a table in that stays where it is"),
    ReservedProperty("is_managed_location", _NONE),
    ReservedProperty("table_type", _NONE),
    ReservedProperty("collation", "a column has its collation in its type"),
)
"""``comment`` is reserved too, and can be set: it is the table's description."""
_BY_NAME = {row.name: row for row in RESERVED_PROPERTIES}


def check_not_reserved(names: Iterable[str]) -> None:
    """Refuse to give a property one of these names."""
    for row in filter(None, map(_BY_NAME.get, names)):
        raise InvalidRequest(
            f"{row.name!r} is no property of a table, so it cannot be set as one: "
            + row.instead.replace("`", ""),
            code="UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY",
            property=row.name,
        )
