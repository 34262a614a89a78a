"""The client of Unity Catalog servers, against a strict server, by the Delta API and by the older one."""

from collections.abc import Iterator

import pytest

from headgate.catalog.ports.access import OWNER
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import InlineCommit, Lost, Open, Ratified, StagedCommit, TableId, Unknown
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.groups import GroupId, GroupProposal, GroupRatified
from headgate.catalog.ports.maintenance import Maintenance
from headgate.catalog.targets import CatalogTarget
from headgate.errors import (
    CatalogUnavailable,
    CorruptLog,
    InvalidRequest,
    LakeNotFound,
    NotAllowed,
    SchemaNotFound,
    TableExists,
    TableNotFound,
    TooManyUnpublished,
    UnsupportedFeature,
)
from headgate.plugins import catalogs
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import file_names
from headgate.storage.locate import locate
from headgate.table.alter import create, set_properties
from headgate.table.alter.create import TableDefinition
from tests.support import proposals, tables
from tests.support.http_faults import Fault
from tests.support.unity_servers import APIS, DELTA, LIMIT, OLDER, UnitySite, unity_site

NAME = TableName("sales", "orders")
COMMIT_PATHS = {DELTA: "add-commit", OLDER: "commit_info"}
"""By what a commit is known on the wire."""


@pytest.fixture(params=APIS, scope="module")
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory, api: str) -> Iterator[UnitySite]:
    with unity_site(tmp_path_factory.mktemp("lake"), api) as site:
        yield site


@pytest.fixture
def site(started: UnitySite) -> Iterator[UnitySite]:
    """The server, without the tables of the test before."""
    yield started
    started.proxy.rules.clear()
    started.proxy.seen.clear()
    for entry in started.served.tables():
        started.served.drop(entry.name)


@pytest.fixture
def client(site: UnitySite) -> Iterator[LakeCatalog]:
    with site.client() as client:
        yield client


def made(catalog: LakeCatalog, name: TableName = NAME) -> TableId:
    """A new table of that name."""
    catalog.create_schema(name.schema)
    staging = catalog.stage(name)
    required = {
        "io.unitycatalog.tableId": staging.table_id,
        **{key: value for key, value in staging.properties.items() if not key.startswith("delta.feature.")},
    }
    features = {key: value for key, value in staging.properties.items() if key.startswith("delta.feature.")}
    definition = TableDefinition(tables.SCHEMA, properties=features, required=required)
    create.write_version_0(locate(staging.location), definition, managed=True, world=tables.SystemWorld())
    return catalog.register(staging, name).table_id


def tx(table_id: TableId, name: str) -> str:
    """The id of a transaction, which no other table of the lake has had."""
    return f"{name}-{table_id}"


def published(catalog: LakeCatalog, table_id: TableId, location: str) -> Version:
    return tables.open_managed(catalog, table_id, location).publish()


def test_a_table_is_made_found_committed_to_and_dropped(site: UnitySite, client: LakeCatalog) -> None:
    table_id = made(client)
    entry = client.resolve(TableName("Sales", "ORDERS"))

    assert (entry.table_id, entry.name) == (table_id, NAME)
    assert entry.location == site.served.resolve(NAME).location
    assert [each.name for each in client.tables()] == [NAME]
    assert "sales" in client.schemas()
    assert client.propose(proposals.inline(table_id, 1, tx(table_id, "t1"))) == Ratified(Version(1))
    tail = client.tail(table_id)
    assert (tail.latest, tail.published, [each.version for each in tail.commits]) == (1, 0, [1])
    (commit,) = tail.commits
    assert isinstance(commit.where, StagedCommit)
    assert locate(entry.location).read(commit.where.path) == proposals.content(1, tx(table_id, "t1"))

    client.drop(NAME)
    with pytest.raises(TableNotFound):
        client.resolve(NAME)
    assert site.served.tables() == ()
    assert client.drop_schema("nowhere") is False


def test_what_is_not_there_is_said_by_its_kind(site: UnitySite, client: LakeCatalog) -> None:
    client.create_schema("sales")
    assert client.create_schema("sales") is False
    with pytest.raises(TableNotFound):
        client.load(NAME)
    with pytest.raises(SchemaNotFound):
        client.stage(TableName("nowhere", "t"))
    with pytest.raises(TableNotFound):
        client.tail(TableId("6f1c9a0e-0000-4000-8000-000000000000"))


def test_a_taken_name_is_refused(client: LakeCatalog) -> None:
    made(client)
    staging = client.stage(TableName("sales", "other"))
    create.write_version_0(
        locate(staging.location),
        TableDefinition(tables.SCHEMA, required={"io.unitycatalog.tableId": staging.table_id}),
        managed=True, world=tables.SystemWorld(),
    )  # fmt: skip

    with pytest.raises(TableExists):
        client.register(staging, NAME)


def test_the_version_of_a_race_goes_to_one_and_the_other_gets_the_winner(client: LakeCatalog) -> None:
    table_id = made(client)
    client.propose(proposals.inline(table_id, 1, tx(table_id, "winner")))

    lost = client.propose(proposals.inline(table_id, 1, tx(table_id, "loser")))

    assert isinstance(lost, Lost)
    assert [(each.version, each.txn_id) for each in lost.winners] == [(1, tx(table_id, "winner"))]
    assert client.outcome_of(table_id, TxnId(tx(table_id, "loser")), Version(1)) == lost
    assert client.outcome_of(table_id, TxnId(tx(table_id, "winner")), Version(1)) == Ratified(Version(1))
    assert client.outcome_of(table_id, TxnId(tx(table_id, "later")), Version(2)) == Open()
    names = [item.path for item in locate(client.resolve(NAME).location).list_from(file_names.STAGED_FOLDER)]
    assert len(names) == 1  # what lost is not left behind


def test_a_gap_and_what_is_no_commit_are_refused_and_change_nothing(client: LakeCatalog) -> None:
    table_id = made(client)

    with pytest.raises(InvalidRequest):
        client.propose(proposals.inline(table_id, 3, tx(table_id, "t3")))
    with pytest.raises(InvalidRequest):
        client.propose(proposals.inline(table_id, 1, tx(table_id, "t1"), data=b'{"add":{}}\n'))
    with pytest.raises(InvalidRequest, match="txnId"):
        client.propose(
            proposals.inline(table_id, 1, tx(table_id, "t1"), data=proposals.content(1, "another"))
        )

    assert client.tail(table_id).latest == 0


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.FAILED, Fault.CUT])
def test_a_commit_whose_answer_is_lost_is_unknown_and_then_found(
    site: UnitySite, client: LakeCatalog, api: str, fault: Fault
) -> None:
    table_id = made(client)
    site.proxy.arm("POST", COMMIT_PATHS[api], fault)
    proposal = proposals.inline(table_id, 1, tx(table_id, "t1"))

    first = client.propose(proposal)

    # The older API answers a commit with nothing, so half of that is all of it.
    assert isinstance(first, Unknown) or (fault is Fault.CUT and api == OLDER)
    assert client.outcome_of(table_id, TxnId(tx(table_id, "t1")), Version(1)) == Ratified(Version(1))
    assert client.propose(proposal) == Ratified(Version(1))  # with another staged file, and still the same
    assert client.tail(table_id).latest == 1


def test_a_commit_that_did_not_arrive_is_open(site: UnitySite, client: LakeCatalog, api: str) -> None:
    table_id = made(client)
    site.proxy.arm("POST", COMMIT_PATHS[api], Fault.UNHEARD)
    proposal = proposals.inline(table_id, 1, tx(table_id, "t1"))

    assert isinstance(client.propose(proposal), Unknown)
    assert client.outcome_of(table_id, TxnId(tx(table_id, "t1")), Version(1)) == Open()
    assert client.propose(proposal) == Ratified(Version(1))


def test_a_commit_that_is_found_after_it_was_published_is_known_by_its_content(
    site: UnitySite, client: LakeCatalog, api: str
) -> None:
    table_id = made(client)
    site.proxy.arm("POST", COMMIT_PATHS[api], Fault.LOST)
    proposal = proposals.inline(table_id, 1, tx(table_id, "t1"))
    assert isinstance(client.propose(proposal), Unknown)
    published(client, table_id, client.resolve(NAME).location)
    client.propose(proposals.inline(table_id, 2, tx(table_id, "t2")))

    assert client.outcome_of(table_id, TxnId(tx(table_id, "t1")), Version(1)) == Ratified(Version(1))
    assert client.propose(proposal) == Ratified(Version(1))


def test_a_request_that_arrives_twice_makes_one_version(
    site: UnitySite, client: LakeCatalog, api: str
) -> None:
    table_id = made(client)
    site.proxy.arm("POST", COMMIT_PATHS[api], Fault.DOUBLED)

    assert client.propose(proposals.inline(table_id, 1, tx(table_id, "t1"))) == Ratified(Version(1))
    assert client.tail(table_id).latest == 1


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.FAILED, Fault.DOUBLED, Fault.CUT, Fault.UNHEARD])
def test_a_table_is_made_once_whatever_becomes_of_the_answer(
    site: UnitySite, client: LakeCatalog, api: str, fault: Fault
) -> None:
    client.create_schema("sales")
    site.proxy.arm("POST", "last-commit-timestamp-ms" if api == DELTA else "storage_location", fault)

    table_id = made(client)

    assert site.proxy.rules == []
    assert client.resolve(NAME).table_id == table_id
    assert [each.table_id for each in site.served.tables()] == [table_id]


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.FAILED])
def test_a_drop_whose_answer_is_lost_is_seen_to_have_happened(
    site: UnitySite, client: LakeCatalog, fault: Fault
) -> None:
    made(client)
    site.proxy.arm("DELETE", "orders", fault)

    client.drop(NAME)

    assert site.served.tables() == ()


def test_a_drop_that_did_not_arrive_can_be_tried_again(site: UnitySite, client: LakeCatalog) -> None:
    made(client)
    site.proxy.arm("DELETE", "orders", Fault.UNHEARD)

    with pytest.raises(CatalogUnavailable):
        client.drop(NAME)
    client.drop(NAME)


def test_reads_are_repeated(site: UnitySite, client: LakeCatalog) -> None:
    table_id = made(client)
    for fault in (Fault.LOST, Fault.FAILED, Fault.UNHEARD):
        site.proxy.arm("GET", "", fault)
        assert client.tail(table_id).latest == 0
    site.proxy.arm("GET", "", Fault.LOST, times=3)
    with pytest.raises(CatalogUnavailable):
        client.tail(table_id)


def test_too_many_unpublished_commits_are_refused_published_reported_and_tried_again(
    site: UnitySite, client: LakeCatalog
) -> None:
    table_id = made(client)
    location = client.resolve(NAME).location
    table = tables.open_managed(client, table_id, location)
    for number in range(1, LIMIT + 1):
        client.propose(proposals.inline(table_id, number, tx(table_id, f"t{number}")))
    with pytest.raises(TooManyUnpublished):
        client.propose(proposals.inline(table_id, LIMIT + 1, tx(table_id, "refused")))

    done = table.commit(tables.append_change(tables.named_file("a")), base=table.snapshot())

    assert done == LIMIT + 1
    assert client.tail(table_id).published >= LIMIT
    assert locate(location).read(file_names.published_path(Version(LIMIT)))


def test_what_is_published_is_what_was_ratified_and_is_reported(site: UnitySite, client: LakeCatalog) -> None:
    table_id = made(client)
    location = client.resolve(NAME).location
    for number in (1, 2, 3):
        client.propose(proposals.inline(table_id, number, tx(table_id, f"t{number}")))

    assert published(client, table_id, location) == 3

    assert [locate(location).read(file_names.published_path(Version(v))) for v in (1, 2, 3)] == [
        proposals.content(v, tx(table_id, f"t{v}")) for v in (1, 2, 3)
    ]
    assert site.served.tail(table_id).published == 3
    published(client, table_id, location)  # again, which is harmless


def test_a_file_that_is_not_what_was_ratified_is_never_reported(site: UnitySite, client: LakeCatalog) -> None:
    """A server that believes its clients would forget the staged file, and with it the version."""
    table_id = made(client)
    location = client.resolve(NAME).location
    for number in (1, 2):
        client.propose(proposals.inline(table_id, number, tx(table_id, f"t{number}")))
    locate(location).put(file_names.published_path(Version(2)), b"another\n")
    before = len(site.proxy.seen)

    with pytest.raises(CorruptLog):
        published(client, table_id, location)
    with pytest.raises(CorruptLog):
        client.mark_published(table_id, Version(2))
    with pytest.raises(InvalidRequest):
        client.mark_published(table_id, Version(9))

    reports = [seen.body for seen in site.proxy.seen[before:] if b"backfilled" in seen.body]
    assert not any(b":2" in body.replace(b" ", b"") for body in reports if b"latest" in body)
    assert client.tail(table_id).latest == 2


def test_a_table_that_others_renamed_is_found_by_its_id(site: UnitySite, client: LakeCatalog) -> None:
    table_id = made(client)
    site.served.rename(NAME, TableName("sales", "renamed"))

    assert client.propose(proposals.inline(table_id, 1, tx(table_id, "t1"))) == Ratified(Version(1))
    assert client.resolve_id(table_id).name == TableName("sales", "renamed")
    assert client.tail(table_id).latest == 1


def test_another_table_of_the_same_name_does_not_get_the_commits_of_the_first(
    site: UnitySite, client: LakeCatalog
) -> None:
    table_id = made(client)
    site.served.drop(NAME)
    with site.client() as somebody_else:
        other = made(somebody_else)

    with pytest.raises((TableNotFound, InvalidRequest)):
        client.propose(proposals.inline(table_id, 1, tx(table_id, "t1")))
    with pytest.raises(TableNotFound):
        client.tail(table_id)

    assert site.served.tail(other).latest == 0


def test_metadata_changes_are_told_to_the_server(site: UnitySite, client: LakeCatalog) -> None:
    table_id = made(client)
    location = client.resolve(NAME).location
    table = tables.open_managed(client, table_id, location)

    set_properties.set_properties(table, {"owner.team": "blue", "delta.appendOnly": "true"})
    set_properties.unset_properties(table, ["owner.team"])

    state = site.served.tail(table_id).description
    assert state is not None
    assert state.metadata.configuration.get("delta.appendOnly") == "true"
    assert "owner.team" not in state.metadata.configuration
    assert table.snapshot().version == 2


def test_a_rename_stays_in_its_schema(site: UnitySite, client: LakeCatalog, api: str) -> None:
    made(client)
    client.create_schema("other")
    with pytest.raises(UnsupportedFeature, match="another schema"):
        client.rename(NAME, TableName("other", "orders"))
    if api == OLDER:
        with pytest.raises(UnsupportedFeature, match="older one renames no tables"):
            client.rename(NAME, TableName("sales", "o2"))
        return
    site.proxy.arm("POST", "/rename", Fault.LOST)
    assert client.rename(NAME, TableName("sales", "o2")).name == TableName("sales", "o2")


def test_what_such_a_server_has_not_is_refused_by_name(client: LakeCatalog) -> None:
    table_id = made(client)
    one, two = (proposals.inline(table_id, 1, tx(table_id, name)) for name in ("a", "b"))
    refused = [
        lambda: client.propose_group(GroupProposal(GroupId("g"), (one, two))),
        lambda: client.tails([table_id, TableId("x")]),
        lambda: client.leases.on_version(table_id, Version(0), holder="me", ttl_ms=1000),
        lambda: client.leases.on_work("x", holder="me", ttl_ms=1000),
        lambda: client.undrop(NAME),
        lambda: client.commits(table_id),
        lambda: client.books(table_id),
        client.events.newest,
        client.granting.grants,
        client.adoptions.under_way,
        lambda: client.releases.find_departure(table_id),
        client.recoveries.known_tables,
        client.disposal.abandoned,
        lambda: client.share_log(NAME),
        lambda: client.permissions.permit(table_id, Maintenance.DATA_CLEANUP),
    ]
    for call in refused:
        with pytest.raises(UnsupportedFeature, match="a Unity Catalog server does not offer that"):
            call()
    assert client.dropped() == ()
    assert client.ahead() == ()
    assert client.leases.live() == ()
    with pytest.raises(InvalidRequest, match="token"):
        client.acting_as("ada")


def test_a_transaction_over_one_table_is_a_commit(client: LakeCatalog) -> None:
    table_id = made(client)
    group = GroupProposal(GroupId("g"), (proposals.inline(table_id, 1, tx(table_id, "t1")),))

    assert client.propose_group(group) == GroupRatified({table_id: Version(1)})
    assert client.propose_group(group) == GroupRatified({table_id: Version(1)})
    assert client.outcome_of_group(group) == GroupRatified({table_id: Version(1)})


def test_maintenance_takes_the_servers_word(client: LakeCatalog) -> None:
    table_id = made(client)

    with pytest.raises(NotAllowed, match="DATA_CLEANUP"):
        client.permissions.check(table_id, Maintenance.DATA_CLEANUP, "VACUUM")
    client.permissions.check(table_id, Maintenance.CHECKPOINT, "a checkpoint")


def test_policies_that_nobody_would_hold_to_are_not_ignored(client: LakeCatalog) -> None:
    table_id = made(client)
    governed = client.acting_as(OWNER, policies=lambda: {"no-deletes": object()})  # type: ignore[dict-item]

    with pytest.raises(UnsupportedFeature, match="no-deletes"):
        governed.propose(proposals.inline(table_id, 1, tx(table_id, "t1")))


def test_nothing_is_sent_that_only_our_own_servers_know(site: UnitySite, client: LakeCatalog) -> None:
    table_id = made(client)
    client.propose(proposals.open_version(table_id, 1, tx(table_id, "t1")))
    published(client, table_id, client.resolve(NAME).location)

    sent = b"".join(seen.body for seen in site.proxy.seen)
    for extension in (b"any-version", b'"content"', b"assert-latest-version", b"table-changes"):
        assert extension not in sent
    assert isinstance(proposals.inline(table_id, 1, tx(table_id, "t1")).content, InlineCommit)


def test_a_catalog_that_does_not_exist_is_said_to(site: UnitySite, api: str) -> None:
    if api == OLDER:
        pytest.skip("the older API is asked for nothing when a catalog is opened")
    with pytest.raises(LakeNotFound):
        catalogs.open_catalog(CatalogTarget(site.address.replace("/main", "/elsewhere")))
