"""Somebody without any grant calls all that a catalog offers: refused or told nothing; nothing changes."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from headgate.catalog.access.grant_service import GrantService
from headgate.catalog.activity.leases import Leases
from headgate.catalog.activity.maintenance_permissions import DatabaseMaintenancePermissions
from headgate.catalog.catalog import Catalog
from headgate.catalog.directory.purge import Disposal
from headgate.catalog.integrity import CatalogAuditor
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.ports.groups import GroupId, GroupProposal
from headgate.catalog.ports.maintenance import Maintenance
from headgate.catalog.ports.serving import LogHints
from headgate.catalog.ratification.publication import PublishedWatermarks
from headgate.errors import HeadgateError, NotAllowed
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.storage.locate import locate
from tests.support.catalogs import a_catalog
from tests.support.proposals import inline, publish
from tests.support.tables import create_managed

NAME, GONE = TableName("s", "t"), TableName("s", "dropped")
HOUR = 3_600_000


@dataclass(frozen=True)
class Scene:
    """A lake with a table and a dropped one, and the same lake for somebody without any grant."""

    owner: Catalog
    nobody: Catalog
    table: StagingTable
    dropped: StagingTable

    @property
    def id(self) -> TableId:
        return self.table.table_id

    def state(self) -> object:
        owner = self.owner
        leases = [held.lease_id for held in owner.leases.live()]
        rows = [event for event in owner.events.after(0) if event.kind.value != "refusal"]
        return owner.tail(self.id), owner.books(self.id).read(), owner.tables(), owner.dropped(), leases, rows


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with a_catalog("sqlite", tmp_path_factory.mktemp("lake")) as catalog:
        table, dropped = create_managed(catalog, NAME), create_managed(catalog, GONE)
        catalog.drop(GONE)
        catalog.propose(inline(table.table_id, 1, "first"))
        publish(locate(table.location), 1, "first")
        catalog.leases.on_version(table.table_id, Version(0), holder="reader", ttl_ms=HOUR)
        yield Scene(catalog, catalog.acting_as("nobody"), table, dropped)


def _group(scene: Scene) -> GroupProposal:
    return GroupProposal(GroupId("g"), (inline(scene.id, 2, "mine"),))


Call = Callable[[Scene], Any]
CATALOG: dict[str, Call] = {
    "accept_version": lambda s: s.nobody.accept_version(NAME, Version(2)),
    "ahead": lambda s: s.nobody.ahead(),
    "books": lambda s: s.nobody.books(s.id).read(),
    "check_may_purge": lambda s: s.nobody.check_may_purge(s.id),
    "commits": lambda s: s.nobody.commits(s.id),
    "create_schema": lambda s: s.nobody.create_schema("new"),
    "drop": lambda s: s.nobody.drop(NAME),
    "dropped": lambda s: s.nobody.dropped(),
    "load": lambda s: s.nobody.load(NAME),
    "mark_published": lambda s: s.nobody.mark_published(s.id, Version(1)),
    "note_log": lambda s: s.nobody.note_log(s.id, LogHints(checksum=Version(7))),
    "outcome_of": lambda s: s.nobody.outcome_of(s.id, TxnId("first"), Version(1)),
    "outcome_of_group": lambda s: s.nobody.outcome_of_group(_group(s)),
    "propose": lambda s: s.nobody.propose(inline(s.id, 2, "mine")),
    "propose_group": lambda s: s.nobody.propose_group(_group(s)),
    "rename": lambda s: s.nobody.rename(NAME, TableName("s", "mine")),
    "resolve": lambda s: s.nobody.resolve(NAME),
    "resolve_all": lambda s: s.nobody.resolve_all([NAME]),
    "set_aside_version": lambda s: s.nobody.set_aside_version(NAME, Version(1)),
    "share_log": lambda s: s.nobody.share_log(NAME),
    "stage": lambda s: s.nobody.stage(TableName("s", "mine")),
    "tables": lambda s: s.nobody.tables(),
    "tail": lambda s: s.nobody.tail(s.id),
    "tails": lambda s: s.nobody.tails([s.id]),
    "import_external_versions": lambda s: s.nobody.import_external_versions(s.id),
    "undrop": lambda s: s.nobody.undrop(GONE),
    "version_at": lambda s: s.nobody.version_at(s.id, EpochMillis(0)),
}
LEASES: dict[str, Call] = {
    "give_up": lambda s: s.nobody.leases.give_up(s.id, before=Version(1)),
    "horizon": lambda s: s.nobody.leases.horizon(s.id),
    "live": lambda s: s.nobody.leases.live(),
    "on_version": lambda s: s.nobody.leases.on_version(s.id, Version(1), holder="me", ttl_ms=HOUR),
    "on_work": lambda s: s.nobody.leases.on_work(f"worker/{s.id}", holder="me", ttl_ms=HOUR),
    "vacuumed": lambda s: s.nobody.leases.vacuumed(s.id),
}
PERMISSIONS: dict[str, Call] = {
    "check": lambda s: s.nobody.permissions.check(s.id, Maintenance.DATA_CLEANUP, "VACUUM"),
    "forbid": lambda s: s.nobody.permissions.forbid(s.id, Maintenance.DATA_CLEANUP),
    "of": lambda s: s.nobody.permissions.of(s.id),
    "permit": lambda s: s.nobody.permissions.permit(s.id, Maintenance.DATA_CLEANUP),
    "thresholds": lambda s: s.nobody.permissions.thresholds(s.id),
}
DISPOSAL: dict[str, Call] = {
    "abandoned": lambda s: s.nobody.disposal.abandoned(),
    "condemn": lambda s: s.nobody.disposal.condemn(s.dropped.table_id),
    "condemned": lambda s: s.nobody.disposal.condemned(GONE),
    "forget": lambda s: s.nobody.disposal.forget(s.dropped.table_id),
    "forget_keeping_files": lambda s: s.nobody.disposal.forget_keeping_files(s.dropped.table_id),
}
GRANTING: dict[str, Call] = {
    "add_foreign_key": lambda s: s.nobody.granting.add_foreign_key("s.t", ["id"], "s.t", ["id"]),
    "allow_files": lambda s: s.nobody.granting.allow_files("s.t", "/"),
    "drop_foreign_key": lambda s: s.nobody.granting.drop_foreign_key("s.t", ["id"], "s.t"),
    "foreign_keys": lambda s: s.nobody.granting.foreign_keys("s.t"),
    "grant": lambda s: s.nobody.granting.grant("append", "s.t", "nobody"),
    "grants": lambda s: s.nobody.granting.grants(),
    "allow_clone_of": lambda s: s.nobody.granting.allow_clone_of(s.id, NAME),
    "allow_clone_locations": lambda s: s.nobody.granting.allow_clone_locations(s.id, ["/"]),
    "limit_unpublished": lambda s: s.nobody.granting.limit_unpublished("nobody", 1),
    "revoke": lambda s: s.nobody.granting.revoke("append", "s.t", "nobody"),
    "set_rule": lambda s: s.nobody.granting.set_rule("max_commit_files", 1, "s.t"),
}
PUBLICATIONS: dict[str, Call] = {
    "mark": lambda s: s.nobody.publications.mark(s.id, Version(1)),
    "named": lambda s: s.nobody.publications.named(s.id, ["x"]),
}
BOOKS: dict[str, Call] = {
    "forget_description": lambda s: s.nobody.books(s.id).forget_description(),
    "mark_published": lambda s: s.nobody.books(s.id).mark_published(Version(1)),
    "read": lambda s: s.nobody.books(s.id).read(),
}
PARTS: dict[type, tuple[dict[str, Call], set[str]]] = {
    # What takes a connection, a lease that somebody holds, or the files of a place that only its maker knows.
    Catalog: (CATALOG, {"acting_as", "close", "register"}),
    Leases: (LEASES, {"check", "now_ms", "objection", "release", "renew", "sweep"}),
    DatabaseMaintenancePermissions: (PERMISSIONS, {"unasked"}),
    Disposal: (DISPOSAL, {"acting_as", "add_objection"}),
    GrantService: (GRANTING, set()),
    PublishedWatermarks: (PUBLICATIONS, set()),
    CatalogAuditor: (BOOKS, set()),
}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_every_method_is_called_here(part: type) -> None:
    calls, others = PARTS[part]

    found = {name for name, _ in inspect.getmembers(part, inspect.isfunction) if not name.startswith("_")}

    assert found == {*calls, *others}


@pytest.mark.parametrize(
    ("part", "name"), [(part, name) for part, (calls, _) in PARTS.items() for name in calls],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)  # fmt: skip
def test_nobody_is_refused_or_told_nothing_and_changes_nothing(scene: Scene, part: type, name: str) -> None:
    before = scene.state()

    try:
        told = PARTS[part][0][name](scene)
    except HeadgateError:
        told = None

    assert told in (None, ())
    assert scene.state() == before


def test_nobody_recovers_the_lake(scene: Scene) -> None:
    with pytest.raises(NotAllowed, match="only its owner"):
        scene.nobody.recoveries.known()


def test_cursors_of_others_are_not_moved(scene: Scene) -> None:
    scene.owner.events.keep("audit", 5)

    scene.nobody.events.keep("audit", 0)

    assert scene.owner.events.stored("audit") == 5
    with pytest.raises(HeadgateError):
        scene.nobody.events.forget(0)
