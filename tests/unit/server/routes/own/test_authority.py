"""What a stranger asks for that is not his to have: refused, or answered as if it were not there."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
import urllib3

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports import directory_copy
from headgate.catalog.ports.access import Principal, ScopedPrincipal, TokenScope
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.handover import AdoptionStatus, ReleaseStatus, TransferPhase
from headgate.catalog.ports.maintenance import Maintenance
from headgate.catalog.targets import CatalogTarget
from headgate.catalog.wire.lake_description import ACTING_AS, BASE_PATH
from headgate.catalog.wire.operations import OPERATIONS, Access
from headgate.errors import (
    CommitRefused,
    HeadgateError,
    InvalidRequest,
    NotAllowed,
    NotAuthenticated,
    TableNotFound,
)
from headgate.plugins import catalogs
from headgate.protocol.actions import Version
from headgate.server.caller import Authenticator, Caller
from headgate.server.routes.own import authority
from headgate.storage import locations
from headgate.storage.locate import locate
from tests.support import adopted
from tests.support.catalogs import a_catalog
from tests.support.http_server import serving
from tests.support.proposals import inline
from tests.support.tables import create_managed

ORDERS, SECRET = TableName("sales", "orders"), TableName("secret", "plans")
LONG = 60_000


class ByName(Authenticator):
    """Everybody is who the token says; ``read-only`` tokens are ada's, for reading."""

    def authenticate(self, authorization: str | None) -> Caller:
        name = (authorization or "").removeprefix("Bearer ")
        if not name:
            raise NotAuthenticated("nobody knows who is asking: send a token")
        if name == "read-only":
            return Caller(Principal(ScopedPrincipal("ada", TokenScope(read_only=True))))
        return Caller(Principal(name))


@dataclass(frozen=True)
class Case:
    """A lake behind a server: ada may do anything with ``sales.orders``, and mallory sees it, no more."""

    url: str
    behind: Catalog
    owner: LakeCatalog
    ada: LakeCatalog
    mallory: LakeCatalog
    orders: TableId
    plans: TableId


def connected(url: str, token: str) -> LakeCatalog:
    return catalogs.open_catalog(CatalogTarget(f"{url}/main", token=token))


@pytest.fixture
def case(tmp_path: Path) -> Iterator[Case]:
    with a_catalog("sqlite", tmp_path / "lake") as behind, serving(behind, authenticator=ByName()) as url:
        orders, plans = (create_managed(behind, name).table_id for name in (ORDERS, SECRET))
        for privilege in ("CHANGE DATA", "MAINTAIN", "DROP"):
            behind.granting.grant(privilege, on=str(ORDERS), to="ada")
        behind.granting.grant("CREATE", on="sales", to="ada")
        behind.granting.grant("READ", on=str(ORDERS), to="mallory")
        owner, ada, mallory = (connected(url, name) for name in ("owner", "ada", "mallory"))
        with closing(owner), closing(ada), closing(mallory):
            yield Case(url, behind, owner, ada, mallory, orders, plans)


def test_every_guard_is_of_an_operation() -> None:
    paths = {operation.path for operation in OPERATIONS}
    of_proposers = {operation.path for operation in OPERATIONS if operation.access is Access.PROPOSER}

    assert set(authority.GUARDS) <= paths
    assert of_proposers <= set(authority.GUARDS)


def test_who_presents_the_token_is_who_acts(case: Case) -> None:
    assert [each.principal for each in (case.owner, case.ada, case.mallory)] == ["owner", "ada", "mallory"]
    assert [str(entry.name) for entry in case.mallory.tables()] == ["sales.orders"]
    with pytest.raises(TableNotFound):
        case.mallory.tail(case.plans)
    with pytest.raises(CommitRefused):
        case.mallory.propose(inline(case.orders, 1, "a"))


def test_without_a_token_nobody_learns_anything(case: Case) -> None:
    with pytest.raises(NotAuthenticated):
        catalogs.open_catalog(CatalogTarget(f"{case.url}/main"))
    for path in ("/lakes", "/lakes/main", "/lakes/nowhere"):
        assert urllib3.request("GET", f"{case.url}{BASE_PATH}{path}").status == 401


def test_only_the_owner_acts_for_others(case: Case) -> None:
    as_mallory = case.owner.acting_as("mallory")
    assert as_mallory.principal == "mallory"
    with pytest.raises(CommitRefused):
        as_mallory.propose(inline(case.orders, 1, "a"))

    for principal in ("owner", "ada", "näme"):
        with pytest.raises(NotAllowed, match="only the owner of the lake acts for others"):
            case.mallory.acting_as(principal).tables()
    with pytest.raises(InvalidRequest):
        case.owner.acting_as("external")


def test_a_token_for_reading_is_not_widened_by_naming_oneself(case: Case) -> None:
    headers = {"Authorization": "Bearer read-only", ACTING_AS: "ada"}
    body = b'{"name": {"schema": "sales", "table": "orders"}}'

    answer = urllib3.request(
        "POST", f"{case.url}{BASE_PATH}/lakes/main/tables/drop", body=body, headers=headers
    )

    assert answer.status == 403
    assert case.owner.resolve(ORDERS).table_id == case.orders


def test_a_lease_is_ended_by_who_took_it(case: Case) -> None:
    """Mallory sees that ada holds one, and not by which id."""
    held = case.ada.leases.on_version(case.orders, Version(0), holder="ada's job", ttl_ms=LONG)

    seen = case.mallory.leases.live(case.orders)
    assert [(each.holder, each.lease_id) for each in seen] == [("ada's job", "")]
    case.mallory.leases.release(seen[0])
    with pytest.raises(NotAllowed):
        case.mallory.leases.renew(seen[0], ttl_ms=LONG)
    case.ada.leases.check(held)

    assert [each.lease_id for each in case.owner.leases.live()] == [held.lease_id]
    case.ada.leases.release(held)
    assert case.owner.leases.live() == ()


def test_what_is_the_owners_alone(case: Case) -> None:
    with pytest.raises(NotAllowed):
        case.mallory.copies._write_now(forgotten=(case.plans,))  # type: ignore[attr-defined]
    with pytest.raises(NotAllowed):
        case.mallory.copies.find_lost_tables()
    with pytest.raises(NotAllowed):
        _ = case.mallory.recoveries
    for operation in OPERATIONS:
        if operation.access is Access.OWNER or operation.path.startswith("recoveries/"):
            answer = urllib3.request(
                "POST",
                f"{case.url}{BASE_PATH}/lakes/main/{operation.path}",
                body=_SOME_ARGUMENTS.get(operation.path, b"{}"),
                headers={"Authorization": "Bearer mallory"},
            )
            assert answer.status == 403, operation.path


_SOME_ARGUMENTS = {
    "recoveries/make_schemas": b'{"names": ["mine"]}',
    "recoveries/latest": b'{"table_id": "x"}',
    "recoveries/enter": b'{"proven": {"table_id": "x", "name": {"schema": "s", "table": "t"},'
    b' "location": "x",'
    b' "summary": {"version": 0, "info": null, "protocol": null, "metadata": null, "adds": [], "removes": [],'
    b' "txns": [], "domains": []}, "timestamp": 0, "created_ms": 0, "records": []}}',
    "recoveries/rename": b'{"copied": {"tableId": "x", "schema": "s", "table": "t", "location": "x",'
    b' "latest": 0, "published": 0}}',
    "tokens/exchange": b'{"client_id": "x", "secret": "y", "ttl_ms": 1}',
    "tokens/authenticate": b'{"secret": "y"}',
}


def test_what_the_catalog_asks_for_privileges_it_asks_of_strangers_too(case: Case) -> None:
    mallory, orders = case.mallory, case.orders
    refused = {
        "drop": lambda: mallory.drop(ORDERS),
        "rename": lambda: mallory.rename(ORDERS, TableName("sales", "mine")),
        "stage": lambda: mallory.stage(TableName("sales", "mine")),
        "create_schema": lambda: mallory.create_schema("mine"),
        "grant": lambda: mallory.granting.grant("DROP", on=str(ORDERS), to="mallory"),
        "revoke": lambda: mallory.granting.revoke("DROP", on=str(ORDERS), from_="ada"),
        "limit": lambda: mallory.granting.limit_unpublished("ada", 1),
        "rule": lambda: mallory.granting.set_rule("freeze_metadata", "true", str(ORDERS)),
        "files": lambda: mallory.granting.allow_files(str(ORDERS), "/etc"),
        "permit": lambda: mallory.permissions.permit(orders, _vacuum()),
        "forbid": lambda: mallory.permissions.forbid(orders, _vacuum()),
        "give_up": lambda: mallory.leases.give_up(orders, before=Version(1)),
        "on_work": lambda: mallory.leases.on_work(f"worker/{orders}", holder="m", ttl_ms=LONG),
        "forget_events": lambda: mallory.events.forget(0),
        "condemn": lambda: mallory.disposal.condemn(orders),
        "forget_keeping_files": lambda: mallory.disposal.forget_keeping_files(orders),
        "forget_description": lambda: mallory.books(orders).forget_description(),
        "share_log": lambda: mallory.share_log(ORDERS),
        "accept": lambda: mallory.accept_version(ORDERS, Version(1)),
        "set_aside": lambda: mallory.set_aside_version(ORDERS, Version(1)),
        "tails": lambda: mallory.tails((orders, case.plans)),
        "pin": lambda: mallory.pin((ORDERS, SECRET)),
        "pin by id": lambda: mallory.pin((ORDERS,), (case.plans,)),
        "ratified_names": lambda: mallory.publications.ratified_names(case.plans, ("x",)),
        "books": lambda: mallory.books(case.plans).read(),
        "horizon": lambda: mallory.leases.horizon(case.plans),
        "commits": lambda: mallory.commits(case.plans),
        "outcome": lambda: mallory.outcome_of(case.plans, "x", Version(1)),  # type: ignore[arg-type]
        "mark": lambda: mallory.mark_published(case.plans, Version(0)),
        "purge": lambda: mallory.check_may_purge(orders),
        "others' token": lambda: mallory.tokens.create("ada", ttl_ms=LONG),
    }

    for what, ask in refused.items():
        with pytest.raises(HeadgateError) as error:
            ask()
        assert isinstance(error.value, NotAllowed | TableNotFound) or "never" in str(error.value), what
    assert mallory.ahead() == ()
    assert case.owner.resolve(ORDERS).table_id == orders


def _vacuum() -> Maintenance:
    return Maintenance.DATA_CLEANUP


def test_to_forget_what_is_not_ones_own_is_not_written_down(case: Case) -> None:
    """A recovery believes the copy: a table that it calls forgotten would not come back."""
    case.mallory.disposal.forget(case.plans)
    case.mallory.disposal.forget(TableId("lost-with-the-database"))
    case.owner.copies.write_now()

    copy = directory_copy.read_copy(locate(case.behind.warehouse))
    assert copy is not None
    assert copy.forgotten == ()


def test_what_is_purged_is_written_down_by_the_server(case: Case) -> None:
    case.ada.drop(ORDERS)
    case.ada.disposal.condemn(case.orders)
    case.ada.disposal.forget(case.orders)

    copy = directory_copy.read_copy(locate(case.behind.warehouse))
    assert copy is not None
    assert copy.forgotten == (case.orders,)


def test_a_proposer_is_who_asks(case: Case, tmp_path: Path) -> None:
    place = locations.canonical(str(tmp_path / "theirs"))
    adopted.ordinary(tmp_path / "theirs")
    name = TableName("sales", "theirs")

    for ask in (
        lambda: case.mallory.adoptions.claim(name, place, Version(2), "ada"),
        lambda: case.mallory.adoptions.claim(name, place, Version(2), "owner"),
        lambda: case.mallory.adoptions.claim(name, place, Version(2), "mallory"),
        lambda: case.mallory.adoptions.check(name, place, "ada"),
        lambda: case.mallory.adoptions.find(name, place, None, "ada"),
        lambda: case.mallory.releases.freeze(case.orders, "ada"),
        lambda: case.mallory.releases.freeze(case.orders, "mallory"),
    ):
        with pytest.raises(NotAllowed):
            ask()

    claim = case.ada.adoptions.claim(name, place, Version(2), "ada")
    assert case.ada.adoptions.under_way() == (claim,)
    assert case.mallory.adoptions.under_way() == ()
    assert case.mallory.adoptions.settle(claim.table_id) is AdoptionStatus.OPEN
    assert case.mallory.adoptions.find_adopted(claim) is None


def test_who_gives_a_table_back_goes_on_alone(case: Case) -> None:
    frozen = case.ada.releases.freeze(case.orders, "ada")
    assert frozen.phase is TransferPhase.FROZEN

    for ask in (case.mallory.releases.begin_release, case.mallory.releases.stay):
        with pytest.raises(NotAllowed, match="somebody else"):
            ask(frozen)
    assert case.mallory.releases.find_departure(case.orders) is None
    assert case.mallory.releases.settle(case.plans) is ReleaseStatus.OPEN

    assert case.ada.releases.stay(frozen) is ReleaseStatus.STAYED


def test_one_answer_holds_only_so_much(case: Case) -> None:
    for ask in (
        lambda: case.owner.commits(case.orders, limit=10**9),
        lambda: case.owner.events.after(0, limit=10**9),
    ):
        with pytest.raises(InvalidRequest, match="more than one answer holds"):
            ask()
