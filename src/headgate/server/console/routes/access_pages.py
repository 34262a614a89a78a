"""The page of who may do what: grants with their reasons, groups; granting and revoking."""

from functools import partial
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery

from headgate.catalog.ports.access import OWNER, Privilege, parse_privilege
from headgate.catalog.ports.directory import parse_name
from headgate.errors import InvalidRequest
from headgate.server.console.address_numbers import PageNumber
from headgate.server.console.rendering import page
from headgate.server.console.routes.confirmation import Deed, confirm_or_do
from headgate.server.console.views import grants_view
from headgate.server.console.views.paging import list_page
from headgate.server.console.visit import Form, Visit, VisitedLake

_GRANTS_ON_A_PAGE = 100
_GROUPS_ON_A_PAGE = 50


@get("/console/lakes/{lake:str}/grants", sync_to_thread=True)
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
    on = str(found.catalog.resolve(parse_name(table)).name) if table else None
    values: dict[str, Any] = {
        "grants": list_page(grants_view.grant_lines(grants, q), number, _GRANTS_ON_A_PAGE),
        "groups": list_page(grants_view.members_lines(groups, q), 1, _GROUPS_ON_A_PAGE),
        "reasons": grants_view.explain_privileges(person, on, grants, groups),
        "privileges": tuple(each.value for each in Privilege),
        "is_owner": found.principal == OWNER,
        "q": q,
        "who": person,
        "on": on or "",
    }
    return page(visit, "grants.html", found, **values)


@post("/console/lakes/{lake:str}/grants", status_code=200, sync_to_thread=True)
def change_grants(
    visit: NamedDependency[Visit], lake: FromPath[str], form: NamedDependency[Form]
) -> Response[Any]:
    """Grant or revoke a privilege, once that is confirmed."""
    found = visit.lake(lake)
    return confirm_or_do(visit, found, form, _grant_deed(found, form))


def _grant_deed(lake: VisitedLake, form: Form) -> Deed:
    privilege, whom = parse_privilege(form.get("privilege", "")), form.get("principal", "").strip()
    on = form.get("on", "").strip() or None
    shown, granting = on or "the lake", lake.catalog.granting
    back = f"/console/lakes/{lake.name}/grants"
    if form.get("deed") not in ("grant", "revoke"):
        raise InvalidRequest("a form of grants says grant or revoke: send it from its page")
    if not whom:
        raise InvalidRequest("a privilege is granted to somebody: name a principal, or a group as group:name")
    if form.get("deed") == "revoke":
        sentence = f"{whom} may then no longer {privilege.value} on {shown}, unless another grant says so."
        do = partial(granting.revoke, privilege, on, whom)
        return Deed("Take a grant back", sentence, "Take it back", back, do)
    sentence = f"{whom} may then {privilege.value} on {shown}, and whatever comes with that."
    return Deed("Grant a privilege", sentence, "Grant it", back, partial(granting.grant, privilege, on, whom))
