"""Which lakes does a server serve? Each by its name, which is the first part of a table's name elsewhere.

lakes = ServedLakes((ServedLake("main", catalog),))
lakes.find("main").catalog_for("ada").resolve(TableName("sales", "orders"))
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from headgate.catalog.ports.access import ScopedPrincipal
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.clock import SystemWorld, World
from headgate.errors import LakeNotFound
from headgate.plugins import domain_handlers, policies
from headgate.settings import Settings
from headgate.table.catalog_table import CatalogTables
from headgate.table.commit.background import PostCommitScheduler

_MOST_ACTING = 1_000


@dataclass(frozen=True, slots=True)
class ServedLake:
    """A lake, and what the server needs to open its tables."""

    name: str
    catalog: LakeCatalog
    """On behalf of the owner: only for what the server does by itself."""
    after_commit: PostCommitScheduler
    settings: Settings = field(default_factory=Settings)
    world: World = field(default_factory=SystemWorld)
    _acting: dict[Hashable, LakeCatalog] = field(default_factory=dict, repr=False)
    """By the latest callers: to make one takes as long as a sixth of a commit."""

    def catalog_for(self, principal: str) -> LakeCatalog:
        """The catalog on behalf of the caller, under the policies that are registered."""
        key = _credentials(principal)
        found = self._acting.get(key)
        if found is None:
            found = self.catalog.acting_as(principal, policies=policies.registered)
            if len(self._acting) >= _MOST_ACTING:
                self._acting.clear()
            self._acting[key] = found
        return found

    def tables_for(self, principal: str) -> CatalogTables:
        """Opens tables on behalf of the caller."""
        return CatalogTables(
            self.catalog_for(principal),
            self.settings,
            self.world,
            self.after_commit,
            domain_handlers.registered,
        )


def _credentials(principal: str) -> Hashable:
    """The caller, with all that its credentials limit it to: two tokens of one principal are not the same."""
    if isinstance(principal, ScopedPrincipal):
        return str(principal), principal.scope, principal.groups, principal.token_id
    return principal


@dataclass(frozen=True, slots=True)
class ServedLakes:
    """All lakes of a server, by name."""

    lakes: tuple[ServedLake, ...]

    def __iter__(self) -> Iterator[ServedLake]:
        return iter(self.lakes)

    def only(self, name: str) -> "ServedLakes":
        """That lake alone, as if no other were served."""
        return ServedLakes(tuple(lake for lake in self.lakes if lake.name == name))

    def find(self, name: str) -> ServedLake:
        """The lake of that name, in any case; ``LakeNotFound`` names those that are served to nobody."""
        found = next((lake for lake in self.lakes if lake.name == name.lower()), None)
        if found is None:
            raise LakeNotFound(
                f"no lake {name!r} is served here: ask for the names of those that are", name=name
            )
        return found
