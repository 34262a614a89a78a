"""What is a table now, whoever else has a hand in it? What a client hears when it opens one, or several.

Most tables are the catalog's alone, and one transaction tells all: names, versions, what is not published.
Of a table that is on its way in or out, or whose log others write too, only its log can tell: it is looked
at, the catalog writes down what it says, and the question is asked again.

Several tables are asked for in one transaction, which sees one state of the database. Whoever begins one of a
lake over ``orders`` and ``stock`` asks one statement for both, and a second if one of them has commits that
are not published. ``benchmarks/group_commits.py`` justifies it: names and tails took a transaction each.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from headgate.catalog.directory.directory import DatabaseDirectory
from headgate.catalog.handover.adoption import Adoptions
from headgate.catalog.handover.release import Releases
from headgate.catalog.ports.catalog import Policies
from headgate.catalog.ports.commits import TableId, Tail
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.groups import PinnedTables
from headgate.catalog.ports.handover import ReleaseStatus
from headgate.catalog.ports.serving import LoadedTable
from headgate.catalog.ratification.external_commits import ExternalCommitImporter
from headgate.catalog.store import grant_store, opening, table_not_found, transfer_store
from headgate.catalog.store.opening import TableOpening
from headgate.errors import TableNotFound

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class SettledTables:
    """Tables as they are once it is settled what became of them, for one principal."""

    directory: DatabaseDirectory
    adoptions: Adoptions
    releases: Releases
    external_commits: ExternalCommitImporter
    policies: Policies

    def resolve(self, name: TableName) -> TableEntry:
        """The table of that name, or ``TableNotFound``."""
        self.adoptions.settle_name(name)
        return self.directory.resolve(name)

    def resolve_all(self, names: Sequence[TableName]) -> tuple[TableEntry, ...]:
        """The tables of these names, as they are at one moment; ``TableNotFound`` if one is missing."""
        return self._after_adoptions(names, lambda: self._resolved(names))

    def load(self, name: TableName) -> LoadedTable:
        """The table of that name with all a reader needs, in one call; or ``TableNotFound``."""
        as_of, opened = self.directory.database.writes, None
        with suppress(TableNotFound):  # unless one is on its way into the catalog
            opened = self._opened(name)
        if opened is None or opened[0].is_name_claimed:
            self.adoptions.settle_name(name)
            opened = self._opened(name)
        found, tail = opened
        told = tail if found.head.is_ours_alone else self.tail(found.entry.table_id)
        return LoadedTable(self.directory.located(found.entry), told, found.hints, as_of)

    def tail(self, table_id: TableId) -> Tail:
        """The latest version, and every ratified commit that is not yet published."""
        with self.directory.database.reading() as db:
            grant_store.require_visible(db, self.directory.principal, table_id)
            opened = opening.find_opening_by_id(db, table_id)
            if opened is None:
                raise transfer_store.not_live_error(db, table_id)
            head, found = opened.head, opening.load_tail(db, opened)
        if head.shares_log and self.external_commits.import_versions(table_id, self.policies()):
            return self.tail(table_id)
        # Of a table that is leaving only the log can tell whether it has left.
        if head.frozen and self.releases.settle(table_id) is not ReleaseStatus.OPEN:
            return self.tail(table_id)
        return found

    def pin(self, names: Sequence[TableName], table_ids: Iterable[TableId]) -> PinnedTables:
        """The tables of these names, and how far they and those with these ids reached, all at one moment."""
        beside = tuple(dict.fromkeys(table_ids))
        return self._after_adoptions(names, lambda: self._pin(names, beside))

    def _resolved(self, names: Sequence[TableName]) -> tuple[TableEntry, ...]:
        with self.directory.database.reading() as db:
            return self._entries(self.directory.find_openings(db, names))

    def _pin(self, names: Sequence[TableName], table_ids: Sequence[TableId]) -> PinnedTables:
        found, is_final = self._pinned(names, table_ids)
        if not is_final:
            asked = tuple(found.tails)
            self.releases.settle_those_leaving(asked)
            self.external_commits.import_from_shared_logs(asked, self.policies())
            found, _ = self._pinned(names, table_ids)
        return found

    def _pinned(self, names: Sequence[TableName], table_ids: Sequence[TableId]) -> tuple[PinnedTables, bool]:
        """What the database says, and whether that is all there is to say."""
        with self.directory.database.reading() as db:
            named = self.directory.find_openings(db, names)
            for table_id in table_ids:
                grant_store.require_visible(db, self.directory.principal, table_id)
            others = opening.find_openings_by_id(db, table_ids)
            openings = (*named, *others)
            tails = opening.load_tails(db, openings)
        if len(others) < len(table_ids):
            raise table_not_found.no_table(next(each for each in table_ids if each not in tails))
        is_final = all(found.head.is_ours_alone for found in openings)
        return PinnedTables(self._entries(named), tails), is_final

    def _entries(self, found: Iterable[TableOpening]) -> tuple[TableEntry, ...]:
        return tuple(self.directory.located(each.entry) for each in found)

    def _opened(self, name: TableName) -> tuple[TableOpening, Tail]:
        with self.directory.database.reading() as db:
            return (found := self.directory.find_opening(db, name)), opening.load_tail(db, found)

    def _after_adoptions(self, names: Sequence[TableName], ask: Callable[[], Answer]) -> Answer:
        """What is answered, once more if a table is missing: it may be on its way into the catalog."""
        with suppress(TableNotFound):
            return ask()
        for name in names:
            self.adoptions.settle_name(name)
        return ask()
