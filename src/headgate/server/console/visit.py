"""Who looks at a page, and on whose behalf is the catalog asked for it? Decided once a request, as ``visit``.

A visit acts as the caller, never as the owner of the lake: whatever the API hides from somebody, the
console hides too, because both ask the same catalog in the same name (T14).
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit

from litestar import Request
from litestar.datastructures import State
from litestar.di import NamedDependency

from headgate.catalog.ports.access import Privilege, PrivilegeLookup
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, TableSearch, parse_name
from headgate.catalog.ports.groups import GroupRecords, RatifiedGroup
from headgate.catalog.ports.policies import CommitRehearsals, RehearsesCommits
from headgate.errors import InvalidRequest, NotAuthenticated, RequestRefused, TableNotFound
from headgate.protocol.actions import Version
from headgate.server.auth.code_flow import IssuerSignIn
from headgate.server.caller import Authenticator, Caller, NoAuthentication
from headgate.server.console.commit_text import LONGEST_TEXT
from headgate.server.console.file_figures import FileFiguresCache
from headgate.server.console.open_tables import OpenTables, VisitedTable
from headgate.server.console.session import ConsoleSession, SessionSeal, new_session
from headgate.server.console.views import lake_view
from headgate.server.exposure import is_loopback
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.server.operations.parts import Operations
from headgate.server.request_record import current_request

CSRF_FIELD = "csrf"
PROOF = "proof"
"""What proves in an address that a form of the same session asked for what is in it."""
_LONGEST_FIELD = 4_096
_LONGEST_FIELDS = {"actions": LONGEST_TEXT}
ConsoleRequest = Request[object, object, State]
Form = Mapping[str, str]
AskedForm = Mapping[str, str]
"""The fields of a form as they are in the address of the question whether it is to be done."""


@dataclass(frozen=True, slots=True)
class ConsoleParts:
    """What the console keeps for all of its requests."""

    seal: SessionSeal
    issuers: tuple[IssuerSignIn, ...] = ()
    """At whose pages one can sign in."""
    tables: OpenTables = field(default_factory=OpenTables)
    file_figures: FileFiguresCache = field(default_factory=FileFiguresCache)


@dataclass(frozen=True, slots=True)
class VisitedLake:
    """A lake on behalf of its visitor."""

    served: ServedLake
    catalog: LakeCatalog
    principal: str
    tables: OpenTables

    @property
    def name(self) -> str:
        return self.served.name

    @property
    def address(self) -> str:
        """The page of the lake."""
        return f"/console/lakes/{quote(self.name, safe='')}"

    def table_address(self, name: str) -> str:
        """The page of a table."""
        return f"{self.address}/tables/{quote(name, safe='')}"

    @property
    def now_ms(self) -> int:
        return self.served.world.now_ms()

    def search_tables(self, words: str, offset: int, limit: int) -> tuple[tuple[TableEntry, ...], int]:
        """Some of the tables that have these words in their names, and how many there are."""
        search: TableSearch | None = (
            cast("Any", self.catalog) if hasattr(self.catalog, "search_tables") else None
        )
        if search is not None:
            return search.search_tables(words, offset=offset, limit=limit)
        found = lake_view.matching_tables(self.catalog.tables(), words)
        return found[offset : offset + limit], len(found)

    def may(self, privilege: Privilege, table_id: TableId | None = None) -> bool:
        """Whether who visits has a privilege on a table, or on the lake; who cannot be told may try."""
        lookup: PrivilegeLookup | None = (
            cast("Any", self.catalog) if hasattr(self.catalog, "held_privileges") else None
        )
        return lookup is None or privilege in lookup.held_privileges(table_id)

    def groups_with(self, commits: Iterable[tuple[TableId, Version]]) -> tuple[RatifiedGroup, ...]:
        """What was ratified together with these commits, from a catalog that tells."""
        records: GroupRecords | None = (
            cast("Any", self.catalog) if hasattr(self.catalog, "groups_with") else None
        )
        return () if records is None else records.groups_with(commits)

    def rehearsals(self, principal: str) -> CommitRehearsals | None:
        """What tells what would become of a principal's commits, from a catalog that does."""
        asked = self.catalog if principal == self.principal else self.catalog.acting_as(principal)
        rehearsing: RehearsesCommits | None = cast("Any", asked) if hasattr(asked, "rehearsals") else None
        return None if rehearsing is None else rehearsing.rehearsals

    def visible_names(self, table_ids: Iterable[TableId]) -> dict[TableId, str]:
        """The names of those of these tables that the visitor may see."""
        names = {}
        for table_id in set(table_ids):
            try:
                names[table_id] = str(self.catalog.resolve_id(table_id).name)
            except TableNotFound:
                continue
        return names

    def table(self, name: str) -> VisitedTable:
        """The table of that name; ``TableNotFound`` if there is none for the visitor."""
        try:
            wanted = parse_name(name)
        except InvalidRequest as exc:
            raise TableNotFound(f"there is no table {name}", name=name) from exc
        return self.tables.visit(self.served, self.principal, self.catalog.load(wanted))


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of somebody who is known."""

    caller: Caller
    session: ConsoleSession
    is_new: bool
    lakes: ServedLakes
    parts: ConsoleParts
    operations: Operations
    path: str
    done: str
    """What the address says was done just now."""
    is_fragment: bool
    """Whether a part of a page is asked for, and not all of it."""
    has_accounts: bool
    """Whether one can sign out."""

    @property
    def address(self) -> str:
        """The address that is asked for, without its query."""
        return quote(self.path)

    def lake(self, name: str) -> VisitedLake:
        """The lake of that name on behalf of the caller; ``LakeNotFound`` if there is none for it."""
        found = self.lakes.find(name)
        principal = self.caller.principal
        return VisitedLake(found, found.catalog_for(principal), principal, self.parts.tables)


def provide_visit(request: ConsoleRequest, state: State) -> Visit:
    """The visitor; ``NotAuthenticated`` sends to the page where one signs in."""
    parts: ConsoleParts = state.console
    lakes: ServedLakes = state.lakes
    operations: Operations = state.operations
    authenticator: Authenticator = state.authenticator
    session = read_session(request, state)
    _require_own_name(request, authenticator)
    caller = authenticator.authenticate(_authorization(session))
    request.state.caller = caller
    _take_place(caller, operations)
    return Visit(
        caller=caller,
        session=session or new_session(now_ms(state)),
        is_new=session is None,
        lakes=lakes if caller.lake is None else lakes.only(caller.lake),
        parts=parts,
        operations=operations,
        path=request.scope["path"],
        done=request.query_params.get("done", ""),
        is_fragment=request.headers.get("hx-request-type") == "partial",
        has_accounts=not isinstance(authenticator, NoAuthentication),
    )


def read_session(request: ConsoleRequest, state: State) -> ConsoleSession | None:
    """The session of a request, if it has one."""
    parts: ConsoleParts = state.console
    return parts.seal.open(request.cookies, now_ms(state))


def now_ms(state: State) -> int:
    """The time by which sessions end."""
    lakes: ServedLakes = state.lakes
    return next(iter(lakes)).world.now_ms()


def authenticate_again(session: ConsoleSession, state: State) -> Caller:
    """Ask once more who is on the line."""
    authenticator: Authenticator = state.authenticator
    return authenticator.authenticate(_authorization(session))


def _authorization(session: ConsoleSession | None) -> str | None:
    return None if session is None or session.token is None else f"Bearer {session.token}"


def _require_own_name(request: ConsoleRequest, authenticator: Authenticator) -> None:
    """Without accounts whoever reaches the server owns it: a page of another name must not reach it here."""
    if not isinstance(authenticator, NoAuthentication):
        return
    named = urlsplit(f"//{request.headers.get('host', '')}").hostname
    if named is None or not is_loopback(named):
        raise NotAuthenticated("a server without accounts shows its console to this machine alone")


def _take_place(caller: Caller, operations: Operations) -> None:
    record = current_request()
    if record is not None:
        record.principal = caller.principal
        record.ending.append(operations.requests.take(caller.principal))


async def provide_form(request: ConsoleRequest, visit: NamedDependency[Visit]) -> Form:
    """The fields of a form of ours; refused before anything else is done with it if it is not (T18)."""
    fields = form_fields(await request.form())
    require_own_form(request.headers, fields, visit.session)
    return fields


def provide_asked(request: ConsoleRequest, visit: NamedDependency[Visit]) -> AskedForm:
    """What a form of this session asked for, out of the address of the question whether it is to be done."""
    fields = form_fields({name: value for name, value in request.query_params.items() if name != PROOF})
    proof = request.query_params.get(PROOF, "")
    if not hmac.compare_digest(proof.encode(), proof_of(fields, visit.session).encode()):
        raise _foreign_form()
    return fields


def proof_of(fields: Form, session: ConsoleSession) -> str:
    """What only this session says of these fields."""
    said = urlencode(sorted(fields.items())).encode()
    return hmac.new(session.csrf.encode(), said, hashlib.sha256).hexdigest()


def form_fields(sent: Mapping[str, Any]) -> Form:
    """The fields of a form that are text, and not too long."""
    fields = {name: value for name, value in sent.items() if isinstance(value, str)}
    for name, value in fields.items():
        longest = _LONGEST_FIELDS.get(name, _LONGEST_FIELD)
        if len(value) > longest:
            raise RequestRefused(f"a field has at most {longest} characters: shorten it", status=413)
    return fields


def require_own_form(headers: Mapping[str, str], fields: Form, session: ConsoleSession) -> None:
    """Refuse a form that no page of this session was the origin of."""
    same = hmac.compare_digest(fields.get(CSRF_FIELD, "").encode(), session.csrf.encode())
    if not same or headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise _foreign_form()


def _foreign_form() -> RequestRefused:
    return RequestRefused(
        "this form was not sent from a page of this session, so nothing was done: open the page again, "
        "and send it from there",
        code="HEADGATE_CSRF", status=403,
    )  # fmt: skip
