"""The page of what commits and maintenance are held to: policies, rules, and a commit tried on them."""

from collections.abc import Mapping
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery

from headgate.catalog.ports.access import OWNER
from headgate.catalog.ports.maintenance import RULES
from headgate.errors import InvalidRequest, NotAllowed, TableNotFound
from headgate.plugins import policies
from headgate.protocol.actions import Version
from headgate.server.console import commit_reader, commit_text
from headgate.server.console.address_numbers import AskedVersion
from headgate.server.console.open_tables import VisitedTable
from headgate.server.console.rendering import page
from headgate.server.console.views import events_view
from headgate.server.console.views.events_view import Rehearsal
from headgate.server.console.visit import Form, Visit, VisitedLake
from headgate.storage.credentials import StorageOperation

_WINDOW = 1_000
RULES_PAGE = "/console/lakes/{lake:str}/rules"


@get(RULES_PAGE, sync_to_thread=True)
def show_rules(
    visit: NamedDependency[Visit],
    lake: FromPath[str],
    table: FromQuery[str] = "",
    version: AskedVersion = None,
) -> Response[str]:
    """Policies, the rules of a table, and what they refused lately; a version of it to be tried again."""
    found = visit.lake(lake)
    opened = found.table(table) if table else None
    text = "" if opened is None or version is None else _text_of(found, opened, version)
    return _rules_page(visit, found, opened, who=str(found.principal), text=text)


@post(RULES_PAGE, status_code=200, sync_to_thread=True)
def rehearse_commit(
    visit: NamedDependency[Visit], lake: FromPath[str], form: NamedDependency[Form]
) -> Response[str]:
    """What would become of a commit; nothing is changed."""
    found = visit.lake(lake)
    opened = found.table(form.get("table", "").strip())
    who, text = form.get("who", "").strip() or str(found.principal), form.get("actions", "")
    if found.principal not in (who, OWNER):
        raise NotAllowed(
            "what becomes of the commits of somebody else only the lake's owner may ask: leave the principal "
            "as it is, to ask for yourself",
            operation="rehearse",
        )
    rehearsals = found.rehearsals(who)
    if rehearsals is None:
        raise InvalidRequest("the catalog of this lake rehearses no commits")
    world = found.served.world
    tried = commit_text.rehearsed_commit(text, opened.entry.table_id, opened.loaded.tail, world)
    try:
        refusal = rehearsals.rehearse(tried.proposal)
    except TableNotFound as exc:  # there for whoever asks, and not for whom it is asked
        refusal = exc
    answer = events_view.rehearsal(refusal, who, tried.proposal.target, tried.lines)
    return _rules_page(visit, found, opened, who=who, text=text, answer=answer)


def _rules_page(
    visit: Visit,
    lake: VisitedLake,
    table: VisitedTable | None,
    *,
    who: str,
    text: str,
    answer: Rehearsal | None = None,
) -> Response[str]:
    events = lake.catalog.events.window(limit=_WINDOW).events
    refused: dict[str, int] = {}
    for line in events_view.refusal_lines(events):
        refused[line.rule] = refused.get(line.rule, 0) + 1
    values: dict[str, Any] = {
        "policies": tuple((name, type(policy).__name__) for name, policy in policies.registered().items()),
        "refused": refused,
        "maintenance": RULES,
        "on": "" if table is None else table.name,
        "rules": _rules_of(lake, table),
        "who": who,
        "may_ask_for_others": lake.principal == OWNER,
        "text": text,
        "longest": commit_text.LONGEST_TEXT,
        "answer": answer,
    }
    return page(visit, "rules.html", lake, **values)


def _rules_of(lake: VisitedLake, table: VisitedTable | None) -> Mapping[str, str] | None:
    """The rules that were set for a table; None if there is none, or nobody can tell."""
    rehearsals = lake.rehearsals(str(lake.principal))
    return None if table is None or rehearsals is None else rehearsals.rules(table.entry.table_id)


def _text_of(lake: VisitedLake, table: VisitedTable, version: int) -> str:
    """The commit of a version as text, if it is short enough to be sent back."""
    lake.catalog.credentials(table.entry.table_id, StorageOperation.READ)
    content = commit_reader.read_content(table, Version(version))
    is_short = content is not None and len(content) <= commit_text.LONGEST_TEXT
    return content.decode("utf-8", "replace") if content is not None and is_short else ""
