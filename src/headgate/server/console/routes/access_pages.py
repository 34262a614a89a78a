"""The page of who may do what: grants with their reasons, groups; granting and revoking."""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect

from headgate.catalog.ports.access import Privilege, parse_privilege
from headgate.catalog.ports.directory import parse_name
from headgate.errors import InvalidRequest
from headgate.server.console.address_numbers import PageNumber
from headgate.server.console.completed_actions import CompletedAction
from headgate.server.console.rendering import page
from headgate.server.console.routes.confirmation import (
    QUESTION,
    ConfirmableAction,
    ask_or_do,
    confirmation_page,
)
from headgate.server.console.views import grants_view
from headgate.server.console.views.paging import list_page
from headgate.server.console.visit import AskedForm, Form, Visit, VisitedLake

_GRANTS_ON_A_PAGE = 100
_GROUPS_ON_A_PAGE = 50
GRANTS = "/console/lakes/{lake:str}/grants"


@get(GRANTS, sync_to_thread=True)
def show_grants(
    visit: NamedDependency[Visit],
    lake: FromPath[str],
    q: FromQuery[str] = "",
    number: PageNumber = 1,
    who: FromQuery[str] = "",
    table: FromQuery[str] = "",
) -> Response[str]:
    """Every grant that the caller may see, and why somebody may do what."""
    found = visit.lake(lake)
    granting = found.catalog.granting
    grants, groups = granting.grants(), granting.groups()
    person = who or str(found.principal)
    entry = found.catalog.resolve(parse_name(table)) if table else None
    on = None if entry is None else str(entry.name)
    manages = grants_view.managed_places(grants, found.may(Privilege.MANAGE_GRANTS))
    may_grant_here = entry is not None and found.may(Privilege.MANAGE_GRANTS, entry.table_id)
    values: dict[str, Any] = {
        "grants": list_page(grants_view.grant_lines(grants, q, manages), number, _GRANTS_ON_A_PAGE),
        "may_grant": bool(manages) or may_grant_here,
        "groups": list_page(grants_view.members_lines(groups, q), 1, _GROUPS_ON_A_PAGE),
        "reasons": grants_view.explain_privileges(person, on, grants, groups),
        "privileges": tuple(each.value for each in Privilege),
        "q": q,
        "who": person,
        "on": on or "",
    }
    return page(visit, "grants.html", found, **values)


@post(GRANTS, status_code=303, sync_to_thread=True)
def change_grants(
    visit: NamedDependency[Visit], lake: FromPath[str], form: NamedDependency[Form]
) -> Redirect:
    """Grant or revoke a privilege, once that is confirmed."""
    return ask_or_do(visit, form, _grant_action(visit.lake(lake), form))


@get(f"{GRANTS}{QUESTION}", sync_to_thread=True)
def confirm_grants(
    visit: NamedDependency[Visit], lake: FromPath[str], asked: NamedDependency[AskedForm]
) -> Response[str]:
    """The question whether a privilege is to be granted or revoked."""
    found = visit.lake(lake)
    return confirmation_page(visit, found, _grant_action(found, asked), asked)


def _grant_action(lake: VisitedLake, form: Form) -> ConfirmableAction:
    privilege, whom = parse_privilege(form.get("privilege", "")), form.get("principal", "").strip()
    on = form.get("on", "").strip() or None
    shown, granting = on or "the lake", lake.catalog.granting
    back = f"{lake.address}/grants"
    if form.get("operation") not in ("grant", "revoke"):
        raise InvalidRequest("a form of grants says grant or revoke: send it from its page")
    if not whom:
        raise InvalidRequest("a privilege is granted to somebody: name a principal, or a group as group:name")
    if form.get("operation") == "revoke":
        sentence = f"{whom} may then no longer {privilege.value} on {shown}, unless another grant says so."
        return ConfirmableAction(
            "Take a grant back",
            sentence,
            "Take it back",
            back,
            lambda: (
                CompletedAction.REVOKED
                if granting.revoke(privilege, on, whom)
                else CompletedAction.NOT_GRANTED
            ),
        )
    sentence = f"{whom} may then {privilege.value} on {shown}, and whatever comes with that."

    def grant() -> CompletedAction:
        granting.grant(privilege, on, whom)
        return CompletedAction.GRANTED

    return ConfirmableAction("Grant a privilege", sentence, "Grant it", back, grant)
