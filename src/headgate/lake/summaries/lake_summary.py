"""What does a notebook show of a lake, or of several of its tables? Names, places and versions."""

from collections.abc import Mapping

from headgate.calls.summary import Grid, Summary
from headgate.catalog.ports.catalog import LakeCatalog


def summarize_lake(place: str, catalog: LakeCatalog) -> Summary:
    """The schemas and tables that whoever looks may see."""
    tables = sorted(catalog.tables(), key=lambda entry: str(entry.name))
    return Summary(
        f"Lake {place}",
        (
            ("principal", catalog.principal),
            ("schemas", ", ".join(catalog.schemas())),
            ("warehouse", catalog.warehouse),
        ),
        (Grid("tables", ("name", "location"), tuple((str(entry.name), entry.location) for entry in tables)),),
    )


def summarize_versions(
    title: str, versions: Mapping[str, int], facts: tuple[tuple[str, str], ...] = ()
) -> Summary:
    """Several tables, each at a version."""
    rows = tuple((name, str(version)) for name, version in sorted(versions.items()))
    return Summary(title, facts, (Grid("tables", ("name", "version"), rows),))
