"""How does the Delta API of a server behave? With our extensions, or strictly as Unity Catalog does."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeltaApiSettings:
    """What the routes of ``/delta/v1`` may do."""

    strict: bool = False
    """Behave as Unity Catalog does: no extensions, and 429 when too many commits wait to be published."""
    unpublished_limit: int = 10
    """With so many staged commits unpublished the server publishes them, or, if strict, refuses the next."""
