"""A lake in which five callers are as different as they can be, and what each of them may know the ids of."""

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.access import OWNER, CredentialKind
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.ports.groups import GroupId, GroupProposal
from headgate.catalog.ports.handover import Transfer
from headgate.catalog.ports.leases import HeldLease
from headgate.clock import SystemWorld
from headgate.protocol.actions import TxnId, Version
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from tests.support.catalogs import a_catalog
from tests.support.proposals import fresh, inline
from tests.support.tables import SCHEMA, create_managed

STRANGER, READER, APPENDER, MAKER = "stranger", "reader", "appender", "maker"
CALLERS = (STRANGER, READER, APPENDER, MAKER, str(OWNER))
HOUR = 3_600_000
HIDDEN = "hidden"
"""The schema of everything here."""


@dataclass(frozen=True)
class Known:
    """What somebody may have heard of: ids and names of what there is, or of what there is not."""

    table_id: TableId
    name: TableName
    dropped_id: TableId
    dropped: TableName
    condemned_id: TableId
    staging: StagingTable
    new: TableName
    lease: HeldLease
    claim: Transfer
    frozen: Transfer
    group: GroupProposal
    token_id: str
    secret: str

    def words(self) -> tuple[str, ...]:
        """Every word that tells one from another, the longest first."""
        lease, claim, frozen = self.lease, self.claim, self.frozen
        found = {
            self.table_id, str(self.name), self.name.schema, self.dropped_id, str(self.dropped),
            self.condemned_id, self.staging.table_id, str(self.new), lease.lease_id, claim.table_id,
            claim.location, str(claim.name), frozen.table_id, str(frozen.name), self.group.group_id,
            self.token_id,
        }  # fmt: skip
        return tuple(sorted(map(str, found), key=len, reverse=True))


@dataclass(frozen=True)
class Walled:
    """The lake, and what is known of it."""

    owner: Catalog
    real: Known
    folder: Path

    def view(self, caller: str) -> Catalog:
        return self.owner.acting_as(caller)

    def missing(self) -> Known:
        """The same of things that do not exist."""
        schema, real = "nosuch", self.real

        def gone(what: str) -> TableId:
            return TableId(f"00000000-0000-4000-8000-{what:0>12}")

        group = GroupProposal(GroupId("no group"), (inline(gone("1"), 1, "no txn"),))
        return Known(
            gone("1"), TableName(schema, "t"), gone("2"), TableName(schema, "gone"), gone("3"),
            StagingTable(gone("4"), real.staging.location), TableName(schema, "new"),
            replace(real.lease, lease_id=gone("5"), subject=gone("1")),
            replace(real.claim, table_id=gone("6"), name=TableName(schema, "c"), location="/no/such/place"),
            replace(real.frozen, table_id=gone("7"), name=TableName(schema, "f")),
            group, gone("8"), "hgt_" + "x" * 43,
        )  # fmt: skip


def build(folder: Path) -> Known:
    """Make the lake in a folder; what there is in it."""
    with closing(open_catalog(folder)) as owner:
        return _build(owner, folder)


@contextmanager
def on_postgresql(folder: Path) -> Iterator[Walled]:
    """The lake over PostgreSQL, for calls that change nothing in it."""
    with a_catalog("postgresql", folder) as owner:
        yield Walled(owner, _build(owner, folder), folder)


@contextmanager
def a_copy(template: Path, folder: Path, real: Known) -> Iterator[Walled]:
    """The same lake, for somebody to change."""
    shutil.copytree(template, folder)
    with closing(open_catalog(folder)) as owner:
        yield Walled(owner, real, folder)


def _build(owner: Catalog, folder: Path) -> Known:
    owner.create_schema(HIDDEN)
    owner.granting.grant("create", HIDDEN, MAKER)
    maker = owner.acting_as(MAKER)
    names = [TableName(HIDDEN, each) for each in ("t", "gone", "bad", "f")]
    table, dropped, bad, leaving = (create_managed(maker, name) for name in names)
    for name in names:
        owner.granting.grant("read", str(name), READER)
        owner.granting.grant("append", str(name), APPENDER)
    maker.propose(fresh(table.table_id, 1, "first"))
    group = GroupProposal(GroupId("their group"), (fresh(table.table_id, 2, "second"),))
    maker.propose_group(group)
    for name in names[1:3]:
        maker.drop(name)
    owner.disposal.condemn(bad.table_id)
    new = TableName(HIDDEN, "new")
    staging = maker.stage(new)
    create.write_version_0(
        locate(staging.location), TableDefinition(SCHEMA), managed=True, world=SystemWorld()
    )
    lease = maker.leases.on_version(table.table_id, Version(1), holder="their reader", ttl_ms=HOUR)
    claimed = TableName(HIDDEN, "c")
    claim = maker.adoptions.claim(claimed, str(folder.parent / "ordinary"), Version(0), MAKER)
    frozen = maker.releases.freeze(leaving.table_id, MAKER)
    client = owner.tokens.create("holder", ttl_ms=HOUR, label="theirs", kind=CredentialKind.CLIENT)
    return Known(
        table.table_id, names[0], dropped.table_id, names[1], bad.table_id, staging, new, lease, claim,
        frozen, group, client.token.token_id, client.secret,
    )  # fmt: skip


def txn_of_known(known: Known) -> TxnId:
    return known.group.proposals[0].txn_id
