"""Rebuilding a catalog whose database is lost, or older than its tables, from what their files prove.

Each table is a step of its own, which is done or not, and what is done is known to whoever comes next: so it
may be interrupted anywhere, be run again, and be run by two at once. Nothing that a database has is changed
but by versions, and names, that are later than what it has. No file of a table is lost: what a log has of
versions that cannot be reached is moved aside.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

import msgspec
from typing_extensions import override

from headgate.calls import summary
from headgate.calls.summary import Grid, Summary
from headgate.catalog.ports import directory_copy
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableName, normalize_name
from headgate.catalog.ports.directory_copy import (
    CONDEMNED,
    DROPPED,
    LIVE,
    STAGING,
    CopiedTable,
    DirectoryCopy,
    DirectoryCopying,
)
from headgate.catalog.ports.recovery import CatalogRecovery, ProvenTable, RebuildResult, RegisteredTable
from headgate.clock import SystemWorld, World
from headgate.errors import HeadgateError, InvalidRequest, TableNotFound
from headgate.progress import reporting
from headgate.protocol.actions import EpochMillis, Version
from headgate.storage import locations, make_folder
from headgate.storage.locate import Locate
from headgate.table.maintenance import log_survey
from headgate.table.maintenance.log_survey import LogSurvey

RECOVERED_SCHEMA = "recovered"
"""The schema of tables of which nobody knows what they were called."""


class RecoveryOutcome(Enum):
    """What became of a table."""

    REBUILT = "rebuilt"
    CAUGHT_UP = "caught up"
    """The database had it, and not all of its versions, or not its name."""
    UNCHANGED = "unchanged"
    LEFT = "left alone"


@dataclass(frozen=True, slots=True)
class RecoveredTable:
    """One table: what was done, how far it comes, and what may be lost."""

    name: str
    table_id: str
    location: str
    outcome: RecoveryOutcome
    version: int | None = None
    """The last version it has from now on."""
    staged: tuple[str, ...] = ()
    """Staged files of later versions, which are kept: nobody can say whether they were ratified."""
    lost: tuple[int, int] | None = None
    """The first and the last version that were ratified, and are neither published nor in the database."""
    notes: tuple[str, ...] = ()

    @property
    def may_lack(self) -> bool:
        """Whether there may have been more than there is."""
        return bool(self.staged) or self.lost is not None or self.outcome is RecoveryOutcome.LEFT


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What a recovery did, or with ``dry_run`` would do."""

    tables: tuple[RecoveredTable, ...]
    schemas: tuple[str, ...] = ()
    """Those that were made."""
    dry_run: bool = False

    @property
    def changed(self) -> bool:
        """Whether there was anything to do."""
        done = {RecoveryOutcome.REBUILT, RecoveryOutcome.CAUGHT_UP}
        return bool(self.schemas) or any(table.outcome in done for table in self.tables)

    @override
    def __repr__(self) -> str:
        outcomes = Counter(table.outcome.value for table in self.tables)
        return summary.one_line("RecoveryReport", dict(outcomes), dry_run=self.dry_run or None)

    def _repr_html_(self) -> str:
        rows = tuple(
            (
                table.name,
                table.outcome.value,
                "" if table.version is None else str(table.version),
                "; ".join(table.notes),
            )
            for table in self.tables
        )
        facts = (("schemas", ", ".join(self.schemas)), ("dry run", "yes" if self.dry_run else ""))
        grid = Grid("tables", ("name", "outcome", "version", "notes"), rows)
        return summary.to_html(Summary("RecoveryReport", facts, (grid,)))


@dataclass(frozen=True, slots=True)
class RecoverySources:
    """What is left: a warehouse, and a database that may be empty."""

    warehouse: str
    locate: Locate
    recoveries: CatalogRecovery | None = None
    """None if there is no database, and none is to be made."""
    copies: DirectoryCopying | None = None
    accept: Callable[[TableName, Version], Version] | None = None
    """Takes in what was published up to a version, on behalf of the caller."""
    world: World = field(default_factory=SystemWorld)
    schemas: frozenset[str] = frozenset()
    """Those that the catalog has."""


def rebuild_catalog(
    ground: RecoverySources, places: Iterable[str] = (), *, dry_run: bool = False
) -> RecoveryReport:
    """Rebuild what can be proven: of all tables in the warehouse, those that are known, and ``places``."""
    files = ground.locate(ground.warehouse)
    copy = directory_copy.read_copy(files) or DirectoryCopy()
    known = ground.recoveries.known_tables() if ground.recoveries is not None else {}
    work = _RecoveryRun(ground, copy, known, dry_run=dry_run or ground.recoveries is None)
    found = [*work.surveys(places)]
    named = {name.schema for each in found if (name := work.name_of(each)) is not None}
    if not work.dry_run:  # before the first change, so that what a crash leaves is not taken for a whole lake
        directory_copy.write_copy(files, msgspec.structs.replace(copy, recovering=True))
    schemas = work.make_schemas({*copy.schemas, *named})
    with reporting.tracked("recover tables", found) as tables:
        done = [each if isinstance(each, RecoveredTable) else work.recover(each) for each in tables]
    if ground.copies is not None and not work.dry_run:
        ground.copies.write_now(recovered=True)
    order = sorted((each for each in done if each is not None), key=lambda each: (each.name, each.table_id))
    return RecoveryReport(tuple(order), schemas, work.dry_run)


@dataclass(frozen=True, slots=True)
class _SurveyedTable:
    """A table of this catalog, by its files."""

    table_id: TableId
    location: str
    """As it is written down."""
    survey: LogSurvey
    copied: CopiedTable | None


class _RecoveryRun:
    """One recovery."""

    def __init__(
        self,
        ground: RecoverySources,
        copy: DirectoryCopy,
        known: Mapping[TableId, RegisteredTable],
        *,
        dry_run: bool,
    ) -> None:
        self._ground = ground
        self._copy = copy
        self._known = known
        self._taken = {table.name for table in known.values() if table.state == LIVE}
        self.dry_run = dry_run

    def surveys(self, places: Iterable[str]) -> Iterator["_SurveyedTable | RecoveredTable"]:
        """Every table of the catalog by its files, those that have the best claim to their name first."""
        found: list[_SurveyedTable] = []
        with reporting.tracked("read logs", list(self._places(places))) as named:
            surveys = [(place, self._survey(place)) for place in named]
        for place, survey in surveys:
            if isinstance(survey, RecoveredTable):
                yield survey
            elif survey is not None and survey.state.protocol.is_catalog_managed:
                location = locations.stored_location(place, self._ground.warehouse)
                table_id = TableId(survey.table_id or location)
                found.append(_SurveyedTable(table_id, location, survey, self._copy.by_id.get(table_id)))
        yield from sorted(found, key=_name_precedence, reverse=True)

    def name_of(self, found: "_SurveyedTable | RecoveredTable") -> TableName | None:
        """What a table that is to be written down is called."""
        if isinstance(found, RecoveredTable):
            return None
        if found.copied is not None:
            return TableName(found.copied.schema, found.copied.table)
        schema, dot, table = (found.survey.name or "").partition(".")
        try:
            return normalize_name(TableName(schema, table if dot else ""))
        except InvalidRequest:
            return TableName(RECOVERED_SCHEMA, "t_" + re.sub(r"[^A-Za-z0-9_]", "_", found.table_id).lower())

    def make_schemas(self, names: set[str]) -> tuple[str, ...]:
        if self._ground.recoveries is None or self.dry_run:
            return tuple(sorted(names - self._ground.schemas))
        return self._ground.recoveries.make_schemas(names)

    def recover(self, found: _SurveyedTable) -> RecoveredTable:
        """Bring the catalog as far as the table's files prove."""
        known = self._known.get(found.table_id)
        if known is not None and known.state == STAGING and not _is_registered(found):
            return self._left(found, "it is being made, or was and never got its name", known.name)
        if known is None or known.state == STAGING:
            return self._rebuild(found)
        if self._place(known.location) != self._place(found.location):
            return self._left(
                found, f"it is a copy of {known.name}, which is at {self._place(known.location)!r}"
            )
        return self._catch_up(found, known)

    def _rebuild(self, found: _SurveyedTable) -> RecoveredTable:
        name = self.name_of(found) or TableName(RECOVERED_SCHEMA, "t")
        copied, survey = found.copied, found.survey
        if found.table_id in self._copy.forgotten or (copied and copied.state == CONDEMNED):
            return self._left(found, "it was purged, so its files are nobody's: delete them, or keep them")
        entry = self._enter(found, name)
        if entry is RebuildResult.OVERLAPS:
            return self._left(found, "another table of the lake has its files there")
        notes = []
        if entry is RebuildResult.DROPPED and not _was_dropped(copied):
            notes.append(
                f"another table is called {name}, so this one is among the dropped: "
                f"lake.undrop({str(name)!r}, table_id={found.table_id!r}, to=…) brings it back"
            )
        elif entry is RebuildResult.DROPPED:
            notes.append("it was dropped before, and can be had back with lake.undrop")
        if name.schema == RECOVERED_SCHEMA and copied is None:
            notes.append("it does not say what it was called: lake.rename gives it a name")
        if not _is_registered(found):
            notes.append("it may never have got its name: it has version 0 and nothing else")
        notes.extend(self._clear(found))
        return self._told(found, str(name), RecoveryOutcome.REBUILT, survey.version, tuple(notes))

    def _enter(self, found: _SurveyedTable, name: TableName) -> RebuildResult:
        is_live = not _was_dropped(found.copied)
        if self._ground.recoveries is None or self.dry_run:
            if not is_live or name in self._taken:
                return RebuildResult.DROPPED
            self._taken.add(name)
            return RebuildResult.LIVE
        survey = found.survey
        files = self._ground.locate(survey.place)
        copied = found.copied
        proven = ProvenTable(
            found.table_id,
            name,
            found.location,
            survey.summary,
            survey.timestamp,
            EpochMillis(survey.state.metadata.created_time or survey.timestamp),
            log_survey.stored_commits(files, survey.version),
            survey.sources,
            is_live=is_live,
            details={"message": f"rebuilt from its log, up to version {survey.version}"},
        )
        if copied is not None:
            proven = replace(
                proven,
                dropped_ms=copied.dropped_ms,
                revision=copied.revision,
                shares_log=copied.shares_log,
            )
        return self._ground.recoveries.enter(proven)

    def _catch_up(self, found: _SurveyedTable, known: RegisteredTable) -> RecoveredTable:
        name, latest, notes = known.name, known.latest, list[str]()
        copied, recoveries = found.copied, self._ground.recoveries
        outcome = RecoveryOutcome.UNCHANGED
        if copied is not None and copied.revision > known.revision and copied.state != CONDEMNED:
            renamed = self.dry_run or (recoveries is not None and recoveries.rename(copied))
            name = TableName(copied.schema, copied.table) if renamed else name
            known = replace(known, state=copied.state) if renamed else known
            outcome = RecoveryOutcome.CAUGHT_UP if renamed else outcome
            if not renamed:
                notes.append(f"it was called {copied.name} later, which is the name of another table")
        if found.survey.version > latest and known.state == LIVE:
            try:
                accept = self._ground.accept
                published = found.survey.version
                latest = published if self.dry_run or accept is None else accept(name, published)
                outcome = RecoveryOutcome.CAUGHT_UP
            except HeadgateError as exc:
                notes.append(f"version {latest + 1} is published, and refused: {exc.message}")
        elif found.survey.version > latest:
            notes.append(f"it is {known.state}: undrop it, and recover it then")
        notes.extend(self._clear(found))
        return self._told(found, str(name), outcome, latest, tuple(notes))

    def _clear(self, found: _SurveyedTable) -> Iterator[str]:
        """Move out of the way of versions to come what is left of versions that are lost."""
        survey, recoveries = found.survey, self._ground.recoveries
        if survey.beyond is not None:
            yield f"a version before {survey.beyond} is missing, so that one cannot be reached"
        if recoveries is None or self.dry_run:
            return
        files = self._ground.locate(survey.place)
        left = log_survey.unreachable_files(files, survey.version)
        # Asked after the files were listed: what they are of was ratified before they were written.
        latest = recoveries.latest(found.table_id)
        if latest is None:
            return
        gone = (file for file in left if file.version > latest)
        for place in log_survey.set_aside_files(files, gone, self._ground.world.uuid):
            yield f"kept as {place}, out of the way of the version that is to come"

    def _told(
        self, found: _SurveyedTable, name: str, outcome: RecoveryOutcome, version: int, notes: tuple[str, ...]
    ) -> RecoveredTable:
        staged = tuple(path for path in found.survey.staged if outcome is not RecoveryOutcome.UNCHANGED)
        before = found.copied.latest if found.copied is not None else version
        lost = (version + 1, before) if before > version else None
        place = self._place(found.location)
        return RecoveredTable(name, found.table_id, place, outcome, version, staged, lost, notes)

    def _left(self, found: _SurveyedTable, why: str, name: TableName | None = None) -> RecoveredTable:
        called = str(name or self.name_of(found))
        place = self._place(found.location)
        return RecoveredTable(called, found.table_id, place, RecoveryOutcome.LEFT, notes=(why,))

    def _places(self, given: Iterable[str]) -> Iterator[str]:
        """Where tables may be, each once, in one spelling."""
        warehouse = self._ground.warehouse
        here = [
            name
            for name in make_folder.folder_names(self._ground.locate(warehouse))
            if not name.startswith("_")
        ]
        kept = [*here, *(table.location for table in self._copy.tables)]
        kept += (table.location for table in self._known.values() if table.state in (LIVE, DROPPED))
        places = [*(locations.absolute_location(location, warehouse) for location in kept), *given]
        yield from dict.fromkeys(map(locations.canonical, places))

    def _survey(self, place: str) -> LogSurvey | RecoveredTable | None:
        location = locations.stored_location(place, self._ground.warehouse)
        expected = next((table for table in self._copy.tables if table.location == location), None)
        called = location if expected is None else expected.name
        table_id = location if expected is None else expected.table_id
        try:
            return log_survey.survey_log(self._ground.locate(place), place)
        except TableNotFound as exc:
            if expected is None or expected.state == CONDEMNED:
                return None  # a folder of something else
            lost = (0, expected.latest)
            why = f"its log is gone: {exc.message}"
            return RecoveredTable(called, table_id, place, RecoveryOutcome.LEFT, lost=lost, notes=(why,))
        except HeadgateError as exc:
            why = f"it cannot be read: {exc.message}"
            return RecoveredTable(called, table_id, place, RecoveryOutcome.LEFT, notes=(why,))

    def _place(self, location: str) -> str:
        return locations.canonical(locations.absolute_location(location, self._ground.warehouse))


def _name_precedence(found: _SurveyedTable) -> tuple[bool, bool, int, int, str]:
    """Which of two tables that say the same name has it: who was last known to, then the later one."""
    copied = found.copied
    is_named = copied is not None and copied.state == LIVE
    survey = found.survey
    return is_named, survey.version > 0, survey.timestamp, survey.version, found.table_id


def _is_registered(found: _SurveyedTable) -> bool:
    """Whether it is proven that the table got its name: a version was ratified, or the directory had it."""
    return found.copied is not None or found.survey.version > 0


def _was_dropped(copied: CopiedTable | None) -> bool:
    return copied is not None and copied.state == DROPPED
