"""The page of one lost race: who wanted what, whom it met, which rule objects, and what came of it."""

from itertools import takewhile
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from headgate.catalog.ports.commits import InlineCommit, Ratified, StagedCommit
from headgate.errors import ObjectNotFound, StorageError, UserError
from headgate.plugins import domain_handlers
from headgate.protocol.actions import Action, Commit, Version, commit_from_actions
from headgate.protocol.log import codec, file_names
from headgate.server.console import commit_reader
from headgate.server.console.open_tables import VisitedTable
from headgate.server.console.rendering import page
from headgate.server.console.views import races_view, versions_view
from headgate.server.console.visit import Visit, VisitedLake
from headgate.server.operations.lost_races import LostRace


@get("/console/lakes/{lake:str}/conflicts/{race:str}", sync_to_thread=True)
def show_race(visit: NamedDependency[Visit], lake: FromPath[str], race: FromPath[str]) -> Response[str]:
    """One race that was lost, explained."""
    found = visit.lake(lake)
    lost = visit.operations.metrics.lost_races.find(found.name, race)
    name = None if lost is None else found.visible_names([lost.table_id]).get(lost.table_id)
    if lost is None or name is None:
        raise NotFoundException(
            "There is no such race, or it is not shown to you: it may be forgotten, or another process of "
            "the server remembers it."
        )
    opened = found.table(name)
    who = {version: _who(found, lost, version) for version in lost.winners}
    line = races_view.race_lines([lost], {lost.table_id: name}, lambda _, version: who[version])[0]
    actions = _actions(opened, lost)
    values: dict[str, Any] = {
        "race": line,
        "who": who,
        "wanted": None
        if actions is None
        else races_view.wanted_commit(actions, commit_from_actions(lost.target, list(actions))),
        "verdicts": () if actions is None else _verdicts(opened, lost, actions),
        "became": _became(found, lost),
    }
    return page(visit, "race.html", found, **values)


def _who(lake: VisitedLake, lost: LostRace, version: Version) -> str:
    records = lake.catalog.commits(lost.table_id, before=Version(version + 1), limit=1)
    return versions_view.who_committed(records[0]) if records else ""


def _actions(table: VisitedTable, lost: LostRace) -> tuple[Action, ...] | None:
    """What was proposed; None if it is not to be had any more."""
    match None if lost.proposal is None else lost.proposal.content:
        case InlineCommit(content):
            found = content
        case StagedCommit(file_name):
            try:
                found = table.opened.store.read(file_names.STAGED_FOLDER + file_name)
            except (ObjectNotFound, StorageError):  # swept away, or a store that does not answer
                return None
        case _:
            return None
    return tuple(codec.decode_actions(lost.target, found))


def _verdicts(
    table: VisitedTable, lost: LostRace, actions: tuple[Action, ...]
) -> tuple[races_view.Verdict, ...]:
    try:
        before = table.opened.snapshot(version=Version(lost.target - 1)).state
    except UserError:  # no longer readable
        return ()
    read = (commit_reader.read_commit(table, version) for version in lost.winners)
    winners: list[Commit] = [each for each in takewhile(lambda each: each is not None, read) if each]
    return tuple(races_view.verdicts(actions, before, winners, domain_handlers.registered()))


def _became(lake: VisitedLake, lost: LostRace) -> int | None:
    """The version that the same transaction is since."""
    if lost.proposal is None:
        return None
    outcome = lake.catalog.outcome_of(lost.table_id, lost.proposal.txn_id, lost.target)
    return outcome.version if isinstance(outcome, Ratified) else None
