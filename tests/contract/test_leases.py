"""What who holds a lease is owed, and what others are who wait for its end; over each database."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import select

from headgate.catalog.activity.leases import CLOCK_MARGIN_MS, TOO_MANY_LEASES, Leases, fences
from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.ports.leases import LEASE_LOST, HeldLease, Horizon
from headgate.catalog.ports.maintenance import NEEDS_PERMISSION, RULES, Maintenance, Permission
from headgate.errors import InvalidRequest, NotAllowed, TableNotFound, VersionNotFound
from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.features.rearrangement import Thresholds
from headgate.table.maintenance.lease_handle import Lease
from tests.support.catalogs import DATABASE_KINDS, a_catalog
from tests.support.proposals import inline, stamp
from tests.support.shared_server import inside
from tests.support.tables import create_managed
from tests.support.waiting import until

LONG = 60_000
SHORT = 60


@dataclass(frozen=True)
class Case:
    """A catalog with one table at version 3."""

    catalog: Catalog
    staging: StagingTable

    @property
    def leases(self) -> Leases:
        return self.catalog.leases

    def take(self, version: int | None, *, holder: str = "ada", ttl_ms: int = LONG) -> HeldLease:
        wanted = None if version is None else Version(version)
        return self.leases.on_version(self.staging.table_id, wanted, holder=holder, ttl_ms=ttl_ms)

    def horizon(self) -> Horizon:
        return self.leases.horizon(self.staging.table_id)

    def give_up(self, before: int) -> int | None:
        return self.leases.give_up(self.staging.table_id, before=Version(before)).version


@pytest.fixture(params=DATABASE_KINDS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    with a_catalog(request.param, tmp_path) as catalog:
        staging = create_managed(catalog)
        for version in (1, 2, 3):
            catalog.propose(inline(staging.table_id, version, f"txn-{version}"))
        yield Case(catalog, staging)


def test_the_horizon_is_the_oldest_version_that_somebody_holds(case: Case) -> None:
    assert case.horizon() == Horizon(None, None)

    old, new = case.take(1), case.take(3, holder="grace")

    assert case.horizon() == Horizon(Version(1), EpochMillis(stamp(1) - CLOCK_MARGIN_MS))
    case.leases.release(old)
    assert case.horizon() == Horizon(Version(3), EpochMillis(stamp(3) - CLOCK_MARGIN_MS))
    case.leases.release(new)
    assert case.horizon() == Horizon(None, None)


def test_a_writer_needs_no_version_but_what_it_writes_from_now_on(case: Case) -> None:
    case.take(None)

    horizon = case.horizon()

    assert horizon.version is None
    assert horizon.timestamp is not None
    assert horizon.timestamp < stamp(0)  # the machine's time, and those of the versions are in the future


def test_a_lease_that_is_not_renewed_ends_by_itself_and_cannot_come_back(case: Case) -> None:
    held = case.take(1, ttl_ms=SHORT)

    until(lambda: case.horizon().version is None)

    for late in (lambda: case.leases.check(held), lambda: case.leases.renew(held, ttl_ms=LONG)):
        with pytest.raises(NotAllowed, match="has ended") as ended:
            late()
        assert ended.value.code == LEASE_LOST
    assert case.leases.sweep() == 1
    assert case.leases.sweep() == 0


def test_a_renewed_lease_goes_on(case: Case) -> None:
    held = case.take(1, ttl_ms=2_000)

    renewed = case.leases.renew(held, ttl_ms=LONG)

    assert renewed.expires_ms > held.expires_ms + 50_000
    assert replace(renewed, expires_ms=held.expires_ms) == held
    case.leases.check(renewed)


def test_a_renewal_that_comes_too_late_behind_a_cleanup_is_refused(tmp_path: Path) -> None:
    """On PostgreSQL, where the two may wait for each other: the time is looked at after the waiting."""
    with a_catalog("postgresql", tmp_path) as catalog, ThreadPoolExecutor(1) as pool:
        staging = create_managed(catalog)
        leases = catalog.leases
        held = leases.on_version(staging.table_id, Version(0), holder="ada", ttl_ms=1_000)
        with catalog._database.writing() as cleaning:
            cleaning.execute(select(fences).with_for_update())
            renewal = pool.submit(leases.renew, held, ttl_ms=LONG)
            until(lambda: leases.horizon(staging.table_id).version is None)

        with pytest.raises(NotAllowed, match="has ended"):
            renewal.result()


def test_tokens_grow_with_each_lease_on_the_same_thing(case: Case) -> None:
    with ThreadPoolExecutor(4) as pool:
        tokens = [held.token for held in pool.map(lambda _: case.take(1), range(12))]

    assert sorted(tokens) == sorted(set(tokens))
    assert case.take(1).token > max(tokens)


def test_work_is_done_by_one_at_a_time(case: Case) -> None:
    def ask(number: int) -> HeldLease | None:
        return case.leases.on_work("worker/t", holder=f"w{number}", ttl_ms=LONG)

    with ThreadPoolExecutor(6) as pool:
        given = [held for held in pool.map(ask, range(12)) if held is not None]

    (winner,) = given
    assert case.leases.on_work("worker/u", holder="w", ttl_ms=LONG) is not None
    case.leases.release(winner)
    successor = ask(99)
    assert successor is not None
    assert successor.token > winner.token
    assert case.horizon() == Horizon(None, None)  # work on a table keeps none of its versions


def test_who_stopped_working_without_a_word_is_succeeded(case: Case) -> None:
    dead = case.leases.on_work("worker/t", holder="dead", ttl_ms=SHORT)
    assert dead is not None

    until(lambda: case.leases.on_work("worker/t", holder="heir", ttl_ms=LONG) is not None)

    with pytest.raises(NotAllowed):
        case.leases.renew(dead, ttl_ms=LONG)


def test_nobody_holds_more_leases_than_the_quota(case: Case) -> None:
    """T10"""
    leases = replace(inside(case.catalog).leases, most_of_one_holder=3)
    table = case.staging.table_id
    hoarded = [leases.on_version(table, Version(1), holder="hoarder", ttl_ms=LONG) for _ in range(3)]

    for ask in (
        lambda: leases.on_version(table, Version(1), holder="hoarder", ttl_ms=LONG),
        lambda: leases.on_work("worker/t", holder="hoarder", ttl_ms=LONG),
    ):
        with pytest.raises(NotAllowed, match="'hoarder' holds 3 leases") as refused:
            ask()
        assert refused.value.code == TOO_MANY_LEASES
    leases.on_version(table, Version(1), holder="other", ttl_ms=LONG)
    leases.release(hoarded[0])
    brief = leases.on_version(table, Version(2), holder="hoarder", ttl_ms=SHORT)
    until(lambda: brief.lease_id not in {held.lease_id for held in leases.live()})
    leases.on_version(table, Version(1), holder="hoarder", ttl_ms=LONG)  # what has ended does not count


@pytest.mark.parametrize("ttl_ms", [0, -1, 24 * 60 * 60 * 1000 + 1])
def test_a_lease_is_for_a_bounded_time(case: Case, ttl_ms: int) -> None:
    """T10"""
    with pytest.raises(InvalidRequest, match="at most a day"):
        case.take(1, ttl_ms=ttl_ms)


def test_there_is_no_lease_on_what_does_not_exist(case: Case) -> None:
    for version in (4, -1):
        with pytest.raises(VersionNotFound):
            case.take(version)
    with pytest.raises(TableNotFound):
        case.leases.on_version(create_dropped(case), Version(0), holder="ada", ttl_ms=LONG)
    assert case.leases.live() == ()


def create_dropped(case: Case) -> str:
    name = TableName("test", "gone")
    table_id = create_managed(case.catalog, name).table_id
    case.catalog.drop(name)
    return table_id


def test_what_is_given_up_cannot_be_leased_any_more(case: Case) -> None:
    assert case.give_up(2) == 2

    with pytest.raises(VersionNotFound, match="cleaned up"):
        case.take(1)
    case.take(2)


def test_what_is_leased_is_not_given_up(case: Case) -> None:
    case.take(1)

    assert case.give_up(3) == 1
    case.take(1)
    case.take(2)
    with pytest.raises(VersionNotFound):
        case.take(0)


def test_what_was_given_up_stays_so(case: Case) -> None:
    assert case.give_up(3) == 3
    assert case.give_up(1) == 1

    with pytest.raises(VersionNotFound):
        case.take(2)


def test_versions_that_vacuum_may_have_broken_cannot_be_leased(case: Case) -> None:
    """A version needs the files that the next one removed, and these may be gone if that is long ago."""
    moment = EpochMillis(stamp(2) - CLOCK_MARGIN_MS + 1)

    given = case.leases.give_up(case.staging.table_id, moment=moment)

    assert given.timestamp == moment == case.leases.vacuumed(case.staging.table_id)
    for version in (0, 1):
        with pytest.raises(VersionNotFound):
            case.take(version)
    case.take(2)
    case.take(3)


def test_vacuum_keeps_what_a_leased_version_needs(case: Case) -> None:
    case.take(1)

    given = case.leases.give_up(case.staging.table_id, moment=EpochMillis(stamp(3)))

    assert given.timestamp == stamp(1) - CLOCK_MARGIN_MS


def test_of_a_reader_and_a_cleanup_at_the_same_moment_one_is_refused(case: Case) -> None:
    """Whoever is first: never both, a lease on version 1 and leave to delete it."""
    for number in range(15):
        table_id = create_managed(case.catalog, TableName("test", f"t{number}")).table_id
        for version in (1, 2):
            case.catalog.propose(inline(table_id, version, f"txn-{number}-{version}"))
        barrier = threading.Barrier(2)

        def read(table_id: str = table_id, barrier: threading.Barrier = barrier) -> bool:
            barrier.wait()
            try:
                case.leases.on_version(table_id, Version(1), holder="ada", ttl_ms=LONG)
            except VersionNotFound:
                return False
            return True

        def clean(table_id: str = table_id, barrier: threading.Barrier = barrier) -> bool:
            barrier.wait()
            return case.leases.give_up(table_id, before=Version(2)).version == 2

        with ThreadPoolExecutor(2) as pool:
            reading, cleaning = pool.submit(read), pool.submit(clean)
            assert reading.result() is not cleaning.result()


def test_a_lease_renews_itself_until_it_is_closed(case: Case) -> None:
    held = case.take(1, ttl_ms=3_000)
    with Lease(case.leases, held, ttl_ms=3_000) as lease:
        until(lambda: case.leases.live()[0].expires_ms > held.expires_ms + 400)
        lease.check()
        assert (lease.version, lease.token) == (1, held.token)

    assert case.leases.live() == ()
    with pytest.raises(NotAllowed):
        lease.check()
    lease.close()


def test_a_lease_that_was_lost_says_so(case: Case) -> None:
    held = case.take(1, ttl_ms=3_000)
    with Lease(case.leases, held, ttl_ms=3_000) as lease:
        case.leases.release(held)

        with pytest.raises(NotAllowed, match="has ended"):
            lease.check()


def test_nothing_is_permitted_unless_it_is_said_so(case: Case) -> None:
    """U8"""
    permissions, table = case.catalog.permissions.for_background_work(), case.staging.table_id
    always = {row.kind for row in RULES if row.always}
    assert permissions.permitted_kinds(table) == always

    assert permissions.permit(table, Maintenance.METADATA_CLEANUP)
    assert not permissions.permit(table, Maintenance.METADATA_CLEANUP)

    assert permissions.permitted_kinds(table) == always | {Maintenance.METADATA_CLEANUP}
    with pytest.raises(NotAllowed, match="VACUUM is data cleanup"):
        permissions.check(table, Maintenance.DATA_CLEANUP, "VACUUM")
    permissions.check(table, Maintenance.METADATA_CLEANUP, "log cleanup")
    permissions.check(table, Maintenance.CHECKPOINT, "checkpoint")
    assert permissions.forbid(table, Maintenance.METADATA_CLEANUP)
    assert not permissions.forbid(table, Maintenance.METADATA_CLEANUP)
    assert permissions.permitted_kinds(table) == always
    with pytest.raises(InvalidRequest, match="cannot be forbidden"):
        permissions.forbid(table, Maintenance.CHECKPOINT)
    told = [event.details for event in case.catalog.events.after(0) if event.kind.value == "permission"]
    assert [details["permitted"] for details in told] == [True, False]


@pytest.mark.parametrize("kind", NEEDS_PERMISSION, ids=lambda kind: kind.value)
def test_an_owners_call_is_permission_and_nobody_elses_is(case: Case, kind: Maintenance) -> None:
    catalog, table = case.catalog, case.staging.table_id
    catalog.granting.grant("CREATE", on="test", to="ada")
    adas = create_managed(catalog.acting_as("ada"), TableName("test", "adas")).table_id
    for on in ("test.t", "test.adas"):
        catalog.granting.grant("MAINTAIN", on=on, to="bob")
    catalog.granting.grant("MAINTAIN", on="test.t", to="ada")

    for principal, owned in (("owner", table), ("owner", adas), ("ada", adas)):
        asking = catalog.acting_as(principal).permissions
        assert asking.check(owned, kind, "IT") is Permission.OWNER
        with pytest.raises(NotAllowed, match="its owner, who needs no permission"):
            asking.for_background_work().check(owned, kind, "IT")
    for principal, foreign in (("ada", table), ("bob", table), ("bob", adas)):
        with pytest.raises(NotAllowed, match="its owner, who needs no permission"):
            catalog.acting_as(principal).permissions.check(foreign, kind, "IT")

    catalog.permissions.permit(adas, kind)
    assert catalog.acting_as("bob").permissions.check(adas, kind, "IT") is Permission.CATALOG
    assert catalog.acting_as("ada").permissions.check(adas, kind, "IT") is Permission.CATALOG


def test_a_permission_has_the_thresholds_it_was_given_with(case: Case) -> None:
    permissions, table, kind = (
        case.catalog.permissions,
        case.staging.table_id,
        Maintenance.DATA_REORGANISATION,
    )
    wanted = Thresholds(small_files=7, unclustered_share=None, deleted_share=0.25)

    assert permissions.thresholds(table) is None
    assert permissions.permit(table, kind, wanted)
    assert not permissions.permit(table, kind, wanted)

    assert permissions.thresholds(table) == wanted
    assert permissions.permit(table, kind)
    assert permissions.thresholds(table) is None
    assert kind in permissions.permitted_kinds(table)
    permissions.permit(table, kind, wanted)
    assert permissions.forbid(table, kind)
    assert permissions.thresholds(table) is None


def test_a_permission_is_for_one_table(case: Case) -> None:
    other = create_managed(case.catalog, TableName("test", "other")).table_id
    case.catalog.permissions.permit(other, Maintenance.DATA_CLEANUP)

    assert Maintenance.DATA_CLEANUP not in case.catalog.permissions.permitted_kinds(case.staging.table_id)
    with pytest.raises(TableNotFound):
        case.catalog.permissions.permit(create_dropped(case), Maintenance.DATA_CLEANUP)


def test_a_principal_maintains_what_it_may_and_permits_nothing_itself(case: Case) -> None:
    table, ada = case.staging.table_id, case.catalog.acting_as("ada").permissions
    case.catalog.permissions.permit(table, Maintenance.DATA_CLEANUP)
    wanted = (
        lambda: ada.check(table, Maintenance.DATA_CLEANUP, "VACUUM"),
        lambda: ada.permit(table, Maintenance.DATA_REORGANISATION),
        lambda: ada.forbid(table, Maintenance.DATA_CLEANUP),
    )
    for hidden in wanted:
        with pytest.raises(TableNotFound):
            hidden()
    case.catalog.granting.grant("READ", on="test.t", to="ada")
    for refused in wanted:
        with pytest.raises(NotAllowed, match="ada may not"):
            refused()

    case.catalog.granting.grant("MAINTAIN", on="test.t", to="ada")

    ada.check(table, Maintenance.DATA_CLEANUP, "VACUUM")
    with pytest.raises(NotAllowed, match="OPTIMIZE is data reorganisation"):
        ada.check(table, Maintenance.DATA_REORGANISATION, "OPTIMIZE")
    with pytest.raises(NotAllowed, match="ada may not"):
        ada.permit(table, Maintenance.DATA_REORGANISATION)


def test_a_dropped_table_is_not_purged_while_somebody_has_a_lease_on_it(case: Case) -> None:
    held = case.take(1)
    case.catalog.drop(TableName("test", "t"))

    with pytest.raises(NotAllowed, match="'ada' has a lease on it"):
        case.catalog.disposal.condemn(case.staging.table_id)

    case.leases.release(held)
    case.catalog.disposal.condemn(case.staging.table_id)
